//! Lictor's internal faults, logged outside of the store: the store itself may have failed.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use lictor_agents::HookContext;
use lictor_core::{Digest, Timestamp, redact};
use serde::{Deserialize, Serialize};

use crate::dirs;
use crate::files;
use crate::options::Options;
use crate::policy_files::Snapshot;
use crate::project::Project;

/// The maximum size of the fault log.
const MOST_BYTES: u64 = 256 * 1024;

/// The prefix of fault ids: letters, so that it never equals a decision's id.
pub const PREFIX: &str = "fault-";

/// One fault.
#[derive(Debug, Serialize, Deserialize)]
pub struct Fault {
    /// The time.
    pub at: Timestamp,
    /// The agent.
    pub agent: String,
    /// Of which event.
    pub event: String,
    /// The reason.
    pub reason: String,
}

impl Fault {
    /// The id that the agent gets, for `lictor explain`.
    #[must_use]
    pub fn id(&self) -> String {
        let at = self.at.0.to_string();
        let parts = [&at, &self.agent, &self.event, &self.reason].map(|part| part.as_bytes());
        format!("{PREFIX}{}", Digest::of_parts(parts).short())
    }
}

/// The reason of a fault, by its origin.
pub enum Reason {
    /// Lictor's own text, without foreign data.
    Own(&'static str),
    /// Text that may come from an event, a file or a program.
    Told(String),
}

impl From<&'static str> for Reason {
    fn from(words: &'static str) -> Self {
        Self::Own(words)
    }
}

impl From<String> for Reason {
    fn from(words: String) -> Self {
        Self::Told(words)
    }
}

impl Reason {
    /// The redacted text. Lictor's own text needs no policy, which may be what hangs.
    fn redacted(self, project: &Project) -> String {
        match self {
            Self::Own(words) => words.to_owned(),
            Self::Told(mut words) => {
                let redactor = Snapshot::read(project).map(|current| current.redactor);
                // If the policy cannot be read, the built-in redaction still applies.
                redact::text(&mut words, &redactor.unwrap_or_default());
                words
            }
        }
    }
}

/// Where they are written down.
#[must_use]
pub fn file(project: &Project) -> PathBuf {
    project.state_dir().join("faults.jsonl")
}

/// Logs a fault, on a best-effort basis, and returns its id.
pub fn note(slot: &HookContext, reason: impl Into<Reason>, options: &Options) -> String {
    let fault = Pending::new(slot, reason, options);
    fault.keep();
    fault.id()
}

/// A fault that has not been logged yet: a caller that must answer at once answers first.
#[derive(Debug)]
pub struct Pending(Fault, Project);

impl Pending {
    /// The fault.
    pub fn new(slot: &HookContext, reason: impl Into<Reason>, options: &Options) -> Self {
        let project = Project::around(&options.cwd, options);
        Self(told(slot, reason, options, &project), project)
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> String {
        self.0.id()
    }

    /// Writes it down, as well as possible.
    pub fn keep(&self) {
        keep(&self.0, &self.1);
    }
}

fn told(slot: &HookContext, reason: impl Into<Reason>, options: &Options, project: &Project) -> Fault {
    Fault {
        at: options.now(),
        agent: slot.agent().to_string(),
        event: slot.event_name().to_owned(),
        reason: reason.into().redacted(project),
    }
}

fn keep(fault: &Fault, project: &Project) {
    let file = file(project);
    if fs::metadata(&file).is_ok_and(|found| found.len() > MOST_BYTES) {
        return;
    }
    let (Ok(line), Some(directory)) = (serde_json::to_string(&fault), file.parent()) else { return };
    let _ = dirs::create_private(directory);
    let _ = files::append(&file).and_then(|mut opened| opened.write_all(format!("{line}\n").as_bytes()));
}

/// The faults of a project, oldest first. Lines that are not faults are skipped.
#[must_use]
pub fn noted(project: &Project) -> Vec<Fault> {
    let bytes = files::read(&file(project), 2 * MOST_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
