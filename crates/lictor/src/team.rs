//! The team's policy: fetched from a server by another program, and applied here until it expires.
//!
//! A hook does not use the network. It reads the last fetched policy and, when that is old, starts `lictor-server
//! sync`, which fetches the policy and ships records after the hook has answered. Only if there is no valid
//! policy (none was fetched yet, or it has expired) the hook waits for it, briefly.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lictor_config::{Away, Origin, ServerConfig, Source};
use lictor_core::Timestamp;
use lictor_store::{Draft, Durability, Store, StoreExt as _};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error::Error;
use crate::files;
use crate::project::Project;
use crate::{companion, dirs, policy_files};

/// How long after a try the next one is made.
const EVERY: i64 = 30_000;
/// How recently the server must have answered, if everything is blocked without it.
const IN_TOUCH: i64 = 60_000;
/// How long a hook waits when it has to.
const PATIENCE: Duration = Duration::from_secs(3);
/// If the clock was set back further than this, a policy does not become valid again.
const SLACK: i64 = 60_000;
/// More than a policy has.
const MOST_BYTES: u64 = 4 * 1024 * 1024;
/// The kind of the record that the team's policy was not applied.
pub const ABSENT: &str = "governance.absent";

/// The last response of the server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Bundle {
    /// Its server: a response of another one does not count.
    pub url: String,
    /// The tenant.
    pub tenant: String,
    /// The version of the policy; 0 for none.
    pub version: u64,
    /// The policy.
    #[serde(default)]
    pub text: Option<String>,
    /// The tenant's setting for an unreachable server.
    #[serde(default)]
    pub away: Away,
    /// How long it counts, in seconds.
    pub max_age: u64,
    /// When it was fetched, by the clock of this machine.
    pub fetched: Timestamp,
}

impl Bundle {
    /// The directory of the cached server data.
    #[must_use]
    pub fn directory(project: &Project) -> PathBuf {
        project.dirs().state.join("server")
    }

    /// The last response of this server.
    #[must_use]
    pub fn read(project: &Project, url: &str) -> Option<Self> {
        let bytes = files::read(&Self::directory(project).join("bundle.json"), MOST_BYTES).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|bundle: &Self| bundle.url == url)
    }

    /// Stores it atomically.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, project: &Project) -> Result<(), Error> {
        let directory = Self::directory(project);
        dirs::create_private(&directory)?;
        let (file, draft) =
            (directory.join("bundle.json"), directory.join(format!(".bundle.{}", std::process::id())));
        let kept = fs::write(&draft, json!(self).to_string()).and_then(|()| fs::rename(&draft, &file));
        kept.map_err(Error::file("cannot write", &file))
    }

    fn source(self) -> Option<Source> {
        let path = format!("{} (policy {} of {})", self.url, self.version, self.tenant);
        Some(Source { origin: Origin::Team, path, bytes: self.text?.into_bytes() })
    }
}

/// The server that the files of this machine name.
///
/// # Errors
/// When the files cannot be read, or are refused.
pub fn server(project: &Project) -> Result<Option<ServerConfig>, Error> {
    policy_files::server(project)
}

/// The token of this machine for the server.
///
/// # Errors
/// When there is none that can be read.
pub fn token(project: &Project, server: &ServerConfig) -> Result<String, Error> {
    let beside = || project.dirs().user_policy.with_file_name("server.token");
    let file = server.token_file.as_ref().map_or_else(beside, PathBuf::from);
    let text =
        fs::read_to_string(&file).map_err(Error::file("cannot read the token for the server in", &file))?;
    Ok(text.trim().to_owned())
}

/// The last fetched policy of the team, if any.
pub(crate) fn fetched(project: &Project, server: &ServerConfig) -> Option<Source> {
    Bundle::read(project, &server.url)?.source()
}

/// The current state of the team's policy.
pub(crate) enum Standing {
    /// It does, or there is none.
    Counts(Option<Source>),
    /// It is not applied, and actions may pass without it. With the reason.
    Absent(String),
}

/// Refreshes the team's policy if necessary, and returns its state.
///
/// # Errors
/// [`Error::ServerAway`] when everything is blocked.
pub(crate) fn standing(project: &Project, server: &ServerConfig) -> Result<Standing, Error> {
    let now = || project.options().now();
    let mut bundle = Bundle::read(project, &server.url);
    let mut trouble = None;
    if !is_young(bundle.as_ref(), server, now()) {
        trouble = sync_and_wait(project).err();
        bundle = Bundle::read(project, &server.url);
    } else if is_due(project, now()) {
        let _ = start_sync(project);
    }
    if is_young(bundle.as_ref(), server, now()) {
        return Ok(Standing::Counts(bundle.and_then(Bundle::source)));
    }
    let why = match (&bundle, away(bundle.as_ref(), server)) {
        (None, _) => "its policy was never fetched".to_owned(),
        (Some(_), Away::Block) => "it has not answered in the last minute".to_owned(),
        (Some(bundle), _) => format!("its policy is older than {} s", max_age(bundle, server) / 1_000),
    };
    let why = trouble.map_or(why.clone(), |trouble| format!("{why}; {trouble}"));
    match away(bundle.as_ref(), server) {
        Away::Pass => Ok(Standing::Absent(why)),
        _ => Err(Error::ServerAway { url: server.url.clone(), why }),
    }
}

/// The stricter setting of the file and the server.
fn away(bundle: Option<&Bundle>, server: &ServerConfig) -> Away {
    let said = [server.away, bundle.map(|bundle| bundle.away)];
    said.into_iter().flatten().max().unwrap_or_default()
}

/// The shorter limit of the file and the server, in milliseconds.
fn max_age(bundle: &Bundle, server: &ServerConfig) -> i64 {
    let said = [server.max_age, Some(bundle.max_age.saturating_mul(1_000))];
    let shortest = said.into_iter().flatten().min().unwrap_or_default();
    i64::try_from(shortest).unwrap_or(i64::MAX)
}

fn is_young(bundle: Option<&Bundle>, server: &ServerConfig, now: Timestamp) -> bool {
    let Some(bundle) = bundle else { return false };
    let age = now.millis_since(bundle.fetched);
    let most = match away(Some(bundle), server) {
        Away::Block => IN_TOUCH.min(max_age(bundle, server)),
        Away::LastGood | Away::Pass => max_age(bundle, server),
    };
    age <= most && age >= -SLACK
}

/// Whether the last attempt was long enough ago. Records an attempt now.
fn is_due(project: &Project, now: Timestamp) -> bool {
    let file = Bundle::directory(project).join("tried");
    let tried = fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok()).map(Timestamp);
    let due = tried.is_none_or(|tried| !(0..EVERY).contains(&now.millis_since(tried)));
    if due {
        let _ = fs::write(&file, now.0.to_string());
    }
    due
}

fn sync(project: &Project) -> Result<Command, Error> {
    let mut command = Command::new(companion::find(project.options())?);
    command.args(["sync", "--cwd"]).arg(&project.root);
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

/// Starts fetching the policy and shipping records, without waiting.
///
/// # Errors
/// When the program cannot be started.
pub(crate) fn start_sync(project: &Project) -> Result<(), Error> {
    let program = Path::new(companion::PROGRAM);
    sync(project)?.spawn().map(drop).map_err(Error::file("cannot start", program))
}

/// The same, and waits for the policy. The process continues in the background if it takes too long.
fn sync_and_wait(project: &Project) -> Result<(), String> {
    let mut child = sync(project)
        .and_then(|mut command| {
            let program = Path::new(companion::PROGRAM);
            command.arg("--fetch-only").spawn().map_err(Error::file("cannot start", program))
        })
        .map_err(|error| error.chain())?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) => return Err("the server could not be reached".to_owned()),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
            Ok(None) => return Err("the server did not answer in time".to_owned()),
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Records that the team's policy was not applied.
///
/// # Errors
/// When that cannot be recorded: no action passes unrecorded.
pub(crate) fn note_absence(
    store: &dyn Store,
    at: Timestamp,
    server: &ServerConfig,
    why: &str,
) -> Result<(), Error> {
    let body = json!({"server": server.url, "reason": why, "ungoverned": true}).to_string();
    let draft = Draft { at, session: None, kind: ABSENT.to_owned(), body };
    Ok(store.update(Durability::Process, |tx| tx.append(draft).map(drop))?)
}

#[cfg(test)]
mod tests;
