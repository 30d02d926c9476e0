use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Completion, StopCheck};
use crate::digest::Digest;

/// How many commands a session remembers to have passed.
pub const PASSES_KEPT: usize = 32;

/// The completion state of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompletionState {
    /// How often the agent was sent back since the last prompt of a person.
    pub rounds: u32,
    /// How often in a row for the same shortfall.
    pub repeats: u32,
    /// Identifies that shortfall.
    pub evidence: Option<Digest>,
    /// The result of the latest request to stop.
    #[serde(with = "crate::session::stored::as_json")]
    pub last: Option<Completion>,
    /// Commands that passed, the newest last, each with the tree that it ran on.
    passes: VecDeque<Pass>,
}

/// A command that passed on a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pass {
    /// The command line.
    pub command: Digest,
    /// The digest of every project file that git does not ignore.
    pub tree: Digest,
}

impl CompletionState {
    /// Whether nothing is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the command has passed on exactly this tree.
    #[must_use]
    pub fn has_passed(&self, pass: Pass) -> bool {
        self.passes.contains(&pass)
    }

    pub(crate) fn prompted(&mut self) {
        self.rounds = 0;
        self.repeats = 0;
        self.evidence = None;
    }

    pub(crate) fn checked(&mut self, check: &StopCheck) {
        match &check.outcome {
            Completion::Incomplete { round, .. } => {
                self.repeats =
                    if self.evidence == check.evidence { self.repeats.saturating_add(1) } else { 1 };
                self.rounds = self.rounds.max(*round);
                self.evidence = check.evidence;
            }
            Completion::Complete => {
                self.repeats = 0;
                self.evidence = None;
            }
            Completion::Bypassed { .. } | Completion::ReleasedUnmet { .. } => {}
        }
        for pass in &check.passes {
            self.passes.retain(|known| known.command != pass.command);
            self.passes.push_back(*pass);
            if self.passes.len() > PASSES_KEPT {
                self.passes.pop_front();
            }
        }
        self.last = Some(check.outcome.clone());
    }
}
