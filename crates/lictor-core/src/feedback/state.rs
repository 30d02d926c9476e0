use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::{Advice, Said};
use crate::clock::Timestamp;

/// How many providers a session remembers. Beyond that the one with the oldest feedback is dropped.
pub const PROVIDERS_KEPT: usize = 64;
/// How many remarks are held for later delivery.
pub const HELD_KEPT: usize = 4;
/// How many characters of such a remark are kept.
const REMARK_LENGTH: usize = 4096;

/// The feedback state of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FeedbackState {
    /// By provider.
    providers: BTreeMap<String, Spoken>,
    /// Remarks that could not be delivered yet, oldest first.
    pub held: VecDeque<String>,
    /// Calls that failed since the last one that succeeded.
    pub failures_in_a_row: u64,
}

/// When a provider spoke last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spoken {
    /// How many calls had been made by then.
    pub calls: u64,
    /// The time.
    pub at: Option<Timestamp>,
    /// Its file has appeared: that trigger does not fire again.
    pub file_done: bool,
    /// How often in a row it failed.
    pub faults: u32,
}

impl FeedbackState {
    /// The providers that have spoken, by name.
    pub fn spoken_by(&self) -> impl Iterator<Item = &str> {
        self.providers.keys().map(String::as_str)
    }

    /// Whether nothing is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// When a provider spoke last.
    #[must_use]
    pub fn spoken(&self, provider: &str) -> Spoken {
        self.providers.get(provider).copied().unwrap_or_default()
    }

    /// The number of calls at the latest feedback of any provider.
    #[must_use]
    pub fn last_spoken(&self) -> u64 {
        self.providers.values().map(|spoken| spoken.calls).max().unwrap_or(0)
    }

    pub(crate) fn advised(&mut self, advice: &[Advice], calls: u64, at: Timestamp) {
        for Advice { provider, by_file, said } in advice {
            let spoken = self.providers.entry(provider.clone()).or_default();
            let failed = matches!(said, Said::Fault(_));
            *spoken = Spoken {
                calls,
                at: Some(at),
                // A failed provider fires again for its file.
                file_done: spoken.file_done || (*by_file && !failed),
                faults: if failed { spoken.faults.saturating_add(1) } else { 0 },
            };
        }
        while self.providers.len() > PROVIDERS_KEPT {
            let oldest = self.providers.iter().min_by_key(|(_, spoken)| spoken.at);
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else { break };
            self.providers.remove(&oldest);
        }
    }

    pub(crate) fn hold(&mut self, remark: &str) {
        let remark: String = remark.chars().take(REMARK_LENGTH).collect();
        if self.held.contains(&remark) {
            return;
        }
        self.held.push_back(remark);
        while self.held.len() > HELD_KEPT {
            self.held.pop_front();
        }
    }

    /// An unknown outcome neither ends nor extends a run of failures.
    pub(crate) fn outcome(&mut self, outcome: &crate::event::Outcome) {
        if outcome.success {
            self.failures_in_a_row = 0;
        } else if outcome.error.is_some() || outcome.exit_code.is_some_and(|code| code != 0) {
            self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        }
    }
}
