//! Faults of Lictor's own, written down beside the store: the store itself may be what failed.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use lictor_agents::Slot;
use lictor_core::{Digest, Timestamp, redact};
use serde::{Deserialize, Serialize};

use crate::dirs;
use crate::options::Options;
use crate::policy_files::Snapshot;
use crate::project::Project;

/// Nobody needs more than this to see what is wrong.
const MOST_BYTES: u64 = 256 * 1024;

/// What every id of a fault begins with: letters, so that no decision has it.
pub const PREFIX: &str = "fault-";

/// One fault.
#[derive(Debug, Serialize, Deserialize)]
pub struct Fault {
    /// When.
    pub at: Timestamp,
    /// Whose hook.
    pub agent: String,
    /// Of which event.
    pub event: String,
    /// What failed.
    pub reason: String,
}

impl Fault {
    /// What the agent is given for it, for `lictor explain`.
    #[must_use]
    pub fn id(&self) -> String {
        let at = self.at.0.to_string();
        let parts = [&at, &self.agent, &self.event, &self.reason].map(|part| part.as_bytes());
        format!("{PREFIX}{}", Digest::of_parts(parts).short())
    }
}

/// What failed, in whose words.
pub enum Reason {
    /// In Lictor's own, which hold nothing of anybody else's.
    Own(&'static str),
    /// In words that may come from an event, a file or a program.
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
    /// The words that may be written down. Lictor's own need no policy for that, which may be what hangs.
    fn redacted(self, project: &Project) -> String {
        match self {
            Self::Own(words) => words.to_owned(),
            Self::Told(mut words) => {
                let redactor = Snapshot::read(project).map(|current| current.redactor);
                // Where the policy cannot be read, what Lictor knows by itself goes all the same.
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

/// Writes a fault down as well as possible and gives its id: nothing more can be done where that fails too.
pub fn note(slot: &Slot, reason: impl Into<Reason>, options: &Options) -> String {
    let project = Project::around(&options.cwd, options);
    let fault = Fault {
        at: options.now(),
        agent: slot.agent().to_string(),
        event: slot.event_name().to_owned(),
        reason: reason.into().redacted(&project),
    };
    keep(&fault, &project);
    fault.id()
}

fn keep(fault: &Fault, project: &Project) {
    let file = file(project);
    if fs::metadata(&file).is_ok_and(|found| found.len() > MOST_BYTES) {
        return;
    }
    let (Ok(line), Some(directory)) = (serde_json::to_string(&fault), file.parent()) else { return };
    let _ = dirs::create_private(directory);
    let opened = fs::OpenOptions::new().append(true).create(true).open(&file);
    let _ = opened.and_then(|mut opened| opened.write_all(format!("{line}\n").as_bytes()));
}

/// The faults of a project, oldest first. Lines that are not faults are passed over.
#[must_use]
pub fn noted(project: &Project) -> Vec<Fault> {
    let text = fs::read_to_string(file(project)).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
