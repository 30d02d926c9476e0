//! Faults of Lictor's own, written down beside the store: the store itself may be what failed.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use lictor_agents::Slot;
use lictor_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::place::{self, Project};
use crate::when;

/// Nobody needs more than this to see what is wrong.
const MOST_BYTES: u64 = 256 * 1024;

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

/// Where they are written down.
pub fn file(project: &Project) -> PathBuf {
    project.state_dir().join("faults.jsonl")
}

/// Writes a fault down as well as possible: nothing more can be done where that fails too.
pub fn note(slot: &Slot, reason: &str) {
    let Ok(cwd) = env::current_dir() else { return };
    let file = file(&Project::around(&cwd));
    if fs::metadata(&file).is_ok_and(|found| found.len() > MOST_BYTES) {
        return;
    }
    let fault = Fault {
        at: when::now(),
        agent: slot.agent().to_string(),
        event: slot.event_name().to_owned(),
        reason: reason.to_owned(),
    };
    let (Ok(line), Some(directory)) = (serde_json::to_string(&fault), file.parent()) else { return };
    let _ = place::create_private(directory);
    let opened = fs::OpenOptions::new().append(true).create(true).open(&file);
    let _ = opened.and_then(|mut opened| opened.write_all(format!("{line}\n").as_bytes()));
}

/// The faults of a project, oldest first. Lines that are not faults are passed over.
pub fn noted(project: &Project) -> Vec<Fault> {
    let text = fs::read_to_string(file(project)).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
