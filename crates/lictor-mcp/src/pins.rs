//! Pins: the definitions of each server's tools and prompts at first use, or when a person last accepted them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use lictor_core::Digest;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::identity::Running;

/// The pins of one user, in a file of the state directory.
#[derive(Debug, Clone)]
pub struct Pins {
    file: PathBuf,
}

/// Everything in the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// By the server's identity.
    pub servers: BTreeMap<String, Server>,
}

/// One server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The name that rules use.
    pub name: String,
    /// By kind and name: `tool/read_file`, `prompt/review`.
    pub items: BTreeMap<String, Item>,
}

/// One definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// As it was first seen or last accepted.
    pub accepted: Value,
    /// Whether a person has reviewed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reviewed: bool,
    /// Whether it should be reviewed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspicious: bool,
    /// Why it should be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The definition that is gone and whose arguments this one has: it may be that one under a new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// As it is now, where that differs: hidden and refused until a person accepts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Value>,
}

/// Why the pins cannot be used. Nothing passes then.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// The file cannot be read or written.
    #[error("the pins in `{path}` cannot be used: {source}")]
    Io {
        /// The file.
        path: String,
        /// The system error.
        source: io::Error,
    },
    /// The file is damaged.
    #[error("the pins in `{path}` are damaged: {why}; `lictor mcp pins forget --all` begins anew")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong.
        why: String,
    },
}

/// How a definition relates to its pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Never seen before: it is pinned as it is.
    New,
    /// As it was accepted.
    Same,
    /// It has changed since.
    Changed,
}

impl Pins {
    /// The pins below that state directory.
    #[must_use]
    pub fn in_directory(state: &Path) -> Self {
        Self { file: state.join("mcp-pins.json") }
    }

    /// All of them.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged.
    pub fn read(&self) -> Result<Pinned, PinError> {
        match fs::read(&self.file) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| PinError::Damaged { path: self.shown(), why: error.to_string() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Pinned::default()),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Changes them, alone with the file.
    ///
    /// # Errors
    /// As [`read`](Self::read), and when the file cannot be written.
    pub fn change<T>(&self, change: impl FnOnce(&mut Pinned) -> T) -> Result<T, PinError> {
        let _lock = self.lock().map_err(|error| self.failed(error))?;
        let mut pinned = self.read()?;
        let before = pinned.clone();
        let result = change(&mut pinned);
        if pinned != before {
            self.write(&pinned).map_err(|error| self.failed(error))?;
        }
        Ok(result)
    }

    /// Forgets everything, also where the file is damaged.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn forget_all(&self) -> Result<(), PinError> {
        match fs::remove_file(&self.file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed(error)),
            _ => Ok(()),
        }
    }

    fn lock(&self) -> io::Result<File> {
        if let Some(directory) = self.file.parent() {
            fs::create_dir_all(directory)?;
        }
        let lock = File::options().create(true).append(true).open(self.file.with_extension("lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        Ok(lock)
    }

    fn write(&self, pinned: &Pinned) -> io::Result<()> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let half = self.file.with_extension(format!("new.{}", std::process::id()));
        let mut file = File::options().create(true).write(true).truncate(true).mode(0o600).open(&half)?;
        file.write_all(&serde_json::to_vec_pretty(pinned)?)?;
        file.sync_all()?;
        fs::rename(&half, &self.file)
    }

    fn shown(&self) -> String {
        self.file.display().to_string()
    }

    fn failed(&self, source: io::Error) -> PinError {
        PinError::Io { path: self.shown(), source }
    }
}

/// Reasons against a definition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Doubts {
    /// In words.
    pub(crate) reasons: Vec<String>,
    /// The definition that it may be under a new name.
    pub(crate) renamed_from: Option<String>,
}

/// The result of checking a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    /// How it relates to its pin.
    pub(crate) standing: Standing,
    /// Whether a person has accepted it as it is.
    pub(crate) reviewed: bool,
    /// Whether it is seen like this for the first time.
    pub(crate) is_news: bool,
    suspicious: bool,
}

impl Seen {
    /// Whether it has changed to an unseen definition.
    pub(crate) fn is_change(self) -> bool {
        self.is_news && self.standing == Standing::Changed
    }

    /// Whether it may go to a model that acts on it as it is.
    pub(crate) fn may_be_used(self) -> bool {
        self.standing != Standing::Changed && (self.reviewed || !self.suspicious)
    }
}

impl Item {
    /// Whether a person should review it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.changed.is_some() || self.suspicious && !self.reviewed
    }
}

impl Server {
    /// Compares a definition with its pin, and keeps what is new or changed.
    pub(crate) fn see(&mut self, key: &str, definition: &Value, doubts: &Doubts) -> Seen {
        let definition = without_volatile(definition);
        let suspicious = !doubts.reasons.is_empty();
        // Accepting a version includes its new definitions.
        let held = self.is_held();
        let Some(item) = self.items.get_mut(key) else {
            let (accepted, changed) = if held { (Value::Null, Some(definition)) } else { (definition, None) };
            let Doubts { reasons, renamed_from } = doubts.clone();
            let item = Item { accepted, reviewed: false, suspicious, reasons, renamed_from, changed };
            self.items.insert(key.to_owned(), item);
            return Seen { standing: Standing::New, reviewed: false, is_news: true, suspicious };
        };
        item.suspicious = suspicious;
        item.reasons.clone_from(&doubts.reasons);
        item.renamed_from.clone_from(&doubts.renamed_from);
        if digest(&item.accepted) == digest(&definition) {
            item.changed = None;
            return Seen { standing: Standing::Same, reviewed: item.reviewed, is_news: false, suspicious };
        }
        let is_news = item.changed.as_ref() != Some(&definition);
        item.changed = Some(definition);
        Seen { standing: Standing::Changed, reviewed: false, is_news, suspicious }
    }

    fn has_package(&self) -> bool {
        self.items.contains_key(PACKAGE)
    }

    /// The name of the package that it comes from.
    pub(crate) fn package_name(&self) -> Option<&str> {
        self.accepted(PACKAGE)?.get("package")?.as_str()
    }

    /// Whether a pinned definition needs no review.
    pub(crate) fn is_settled(&self, key: &str) -> bool {
        self.items.get(key).is_some_and(|item| !item.is_open())
    }

    /// Whether it runs in a version that was not accepted, while another one is known.
    pub(crate) fn is_held(&self) -> bool {
        self.items.get(PACKAGE).is_some_and(|package| package.changed.is_some())
    }

    /// The keys of changed and of suspicious definitions that need review.
    #[must_use]
    pub fn open(&self) -> (Vec<&str>, Vec<&str>) {
        let keys = |changed: bool| {
            let open = self
                .items
                .iter()
                .filter(move |(_, item)| item.is_open() && item.changed.is_some() == changed);
            open.map(|(key, _)| key.as_str()).collect()
        };
        (keys(true), keys(false))
    }

    /// What was accepted.
    pub(crate) fn accepted(&self, key: &str) -> Option<&Value> {
        self.items.get(key).map(|item| &item.accepted)
    }

    /// Accepts changed or suspicious definitions after a person's review. Returns how many there were.
    pub fn accept(&mut self, only: Option<&str>) -> usize {
        let chosen = self.items.iter_mut().filter(|(key, _)| only.is_none_or(|only| *key == only));
        let mut accepted = 0;
        for (_, item) in chosen.filter(|(_, item)| item.is_open()) {
            if let Some(changed) = item.changed.take() {
                item.accepted = changed;
            }
            item.reviewed = true;
            accepted += 1;
        }
        accepted
    }
}

/// What is pinned about the package that a server comes from.
pub(crate) const PACKAGE: &str = "server/package";

impl Pinned {
    /// The pins of the server that runs. Those of a version that is not known yet begin as those of a known one,
    /// so that differences are visible, and are held back as a whole until a person accepts the version.
    pub(crate) fn of(&mut self, running: &Running, name: &str) -> &mut Server {
        let key = running.key();
        if !self.servers.contains_key(&key) {
            let begun = self.begun_for(running);
            self.servers.insert(key.clone(), begun);
        }
        let server = self.servers.entry(key).or_default();
        name.clone_into(&mut server.name);
        if let Some(package) = running.package().filter(|_| running.has_version() || server.has_package()) {
            server.see(PACKAGE, &package, &Doubts::default());
        }
        server
    }

    fn begun_for(&mut self, running: &Running) -> Server {
        if running.has_version() {
            // Pins from before the version was known are assigned to this version.
            let unversioned = running
                .keys_without_version()
                .find(|key| self.servers.get(*key).is_some_and(|server| !server.has_package()));
            if let Some(server) = unversioned.and_then(|key| self.servers.remove(key)) {
                return server;
            }
        }
        let versions = self
            .servers
            .iter()
            .filter_map(|(key, server)| Some((!server.is_held(), numbers(running.version_in(key)?), server)));
        let nearest = versions.max_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        nearest.map(|(_, _, server)| server.clone()).unwrap_or_default()
    }
}

/// The numbers of a version, for ordering.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

/// The definition without what servers may vary from one listing to the next.
pub(crate) fn without_volatile(definition: &Value) -> Value {
    match definition {
        Value::Object(fields) => Value::Object(
            fields.iter().filter(|(key, _)| *key != "_meta").map(|(k, v)| (k.clone(), v.clone())).collect(),
        ),
        other => other.clone(),
    }
}

/// Keys are sorted, so that their order in a message does not count.
fn digest(definition: &Value) -> Digest {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let ordered: BTreeMap<&String, &Value> = fields.iter().collect();
                Value::Object(ordered.into_iter().map(|(k, v)| (k.clone(), sorted(v))).collect::<Map<_, _>>())
            }
            Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
            other => other.clone(),
        }
    }
    Digest::of(sorted(definition).to_string().as_bytes())
}

#[cfg(test)]
mod tests;
