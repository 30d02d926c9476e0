//! The trust that an agent requires before it runs hooks: some only run those of trusted folders, some require
//! the hash of each hook.
//!
//! The records are the agents' own. Lictor reads them to determine whether hooks run, and adds only what a person
//! agreed to.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::agent::Agent;
use crate::files::At;
use crate::install::{Scope, Where};

/// How an agent records that hooks may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It asks a person before a session begins, or not at all.
    AtStart,
    /// This file lists the folders in which hooks run.
    Folders(At, &'static str),
    /// This file lists the hash of every hook that may run; the program with these arguments tells hooks and hashes.
    Hashes(At, &'static str, &'static [&'static str]),
}

/// A hook as an agent lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedHook {
    /// Its key in the agent's record.
    pub key: String,
    /// The command line.
    pub command: String,
    /// What it is now.
    pub hash: String,
    /// Whether the agent runs it.
    pub trusted: bool,
}

impl Agent {
    /// How it records that hooks may run.
    #[must_use]
    pub fn trust(self) -> Trust {
        self.spec().trust
    }
}

impl Trust {
    /// The record, if there is one. Hooks of the machine need no trust.
    #[must_use]
    pub fn record(self, scope: Scope, place: &Where) -> Option<PathBuf> {
        match self {
            Self::Folders(at, path) | Self::Hashes(at, path, _) if scope != Scope::Managed => {
                place.path(at, path)
            }
            _ => None,
        }
    }
}

/// Whether a record of folders trusts this one: it is listed, or is inside a listed one.
#[must_use]
pub fn is_trusted_folder(record: Option<&str>, folder: &Path) -> bool {
    let Some(Value::Object(folders)) = record.and_then(|text| serde_json::from_str(text).ok()) else {
        return false;
    };
    let said = folders.iter().filter_map(|(path, level)| {
        let path = match level.as_str()? {
            "TRUST_PARENT" => Path::new(path).parent()?,
            _ => Path::new(path),
        };
        folder.starts_with(path).then(|| (path.components().count(), level != "DO_NOT_TRUST"))
    });
    // The nearest listed folder counts.
    said.max().is_some_and(|(_, trusted)| trusted)
}

/// The record with that folder in it. `None` when it is no record that can be added to.
#[must_use]
pub fn with_folder(record: Option<&str>, folder: &Path) -> Option<String> {
    let mut folders: Map<String, Value> = match record.filter(|text| !text.trim().is_empty()) {
        Some(text) => serde_json::from_str(text).ok()?,
        None => Map::new(),
    };
    folders.insert(folder.to_string_lossy().into_owned(), "TRUST_FOLDER".into());
    Some(format!("{}\n", serde_json::to_string_pretty(&folders).ok()?))
}

/// The record without that folder; `None` when it becomes empty.
///
/// # Errors
/// When it is no record that can be changed.
pub fn without_folder(record: &str, folder: &Path) -> Result<Option<String>, serde_json::Error> {
    let mut folders: Map<String, Value> = serde_json::from_str(record)?;
    if folders.remove(&*folder.to_string_lossy()).is_none() {
        return Ok(Some(record.to_owned()));
    }
    if folders.is_empty() {
        return Ok(None);
    }
    Ok(Some(format!("{}\n", serde_json::to_string_pretty(&folders)?)))
}

/// The record with that project in it, so that its hooks are listed at all.
#[must_use]
pub fn with_project(record: &str, root: &Path) -> String {
    let header = format!("[projects.{}]", quoted(&root.to_string_lossy()));
    if record.lines().any(|line| line.trim() == header) {
        return record.to_owned();
    }
    appended(record, &format!("{header}\ntrust_level = \"trusted\"\n"))
}

/// The record with the hash of every one of these hooks, each once.
#[must_use]
pub fn with_hashes(record: &str, hooks: &[ListedHook]) -> String {
    hooks.iter().fold(record.to_owned(), |record, hook| {
        let header = header(&hook.key);
        let entry = format!("{header}\ntrusted_hash = {}\n", quoted(&hook.hash));
        appended(&without(&record, |line| line == header), &entry)
    })
}

/// The record without the hashes of hooks in this file.
#[must_use]
pub fn without_hooks_of(record: &str, file: &Path) -> String {
    let start = header(&format!("{}:", file.to_string_lossy()));
    let start = start.trim_end_matches("\"]").to_owned();
    without(record, |line| line.starts_with(&start))
}

fn header(key: &str) -> String {
    format!("[hooks.state.{}]", quoted(key))
}

/// JSON strings are TOML strings.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn appended(record: &str, entry: &str) -> String {
    let gap = if record.is_empty() || record.ends_with("\n\n") { "" } else { "\n" };
    let end = if record.is_empty() || record.ends_with('\n') { "" } else { "\n" };
    format!("{record}{end}{gap}{entry}")
}

/// The record without the tables whose header fits, and without the empty line before each.
fn without(record: &str, fits: impl Fn(&str) -> bool) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut inside = false;
    for line in record.split_inclusive('\n') {
        let text = line.trim();
        if text.starts_with('[') {
            inside = fits(text);
            if inside && kept.last().is_some_and(|line| line.trim().is_empty()) {
                kept.pop();
            }
        }
        if !inside {
            kept.push(line);
        }
    }
    kept.concat()
}

#[cfg(test)]
mod tests;
