use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

/// What a session remembers of its feedback.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FeedbackState {
    /// By provider.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    providers: BTreeMap<String, Spoken>,
    /// Watched files that were there when the session began: they were not created in it.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    there_before: BTreeSet<String>,
    /// Calls that failed since the last one that succeeded.
    #[serde(skip_serializing_if = "is_zero")]
    pub failures_in_a_row: u64,
}

/// When a provider spoke last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spoken {
    /// How many calls had been made by then.
    pub calls: u64,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Its file has appeared: that trigger does not fire again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub file_done: bool,
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl FeedbackState {
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

    /// Whether a watched file was there when the session began.
    #[must_use]
    pub fn was_there_before(&self, file: &str) -> bool {
        self.there_before.contains(file)
    }

    pub(crate) fn begin(&mut self, there: &[String]) {
        self.there_before.extend(there.iter().cloned());
    }

    pub(crate) fn gave(&mut self, provider: &str, calls: u64, by_file: bool, at: Timestamp) {
        let spoken = self.providers.entry(provider.to_owned()).or_default();
        *spoken = Spoken { calls, at: Some(at), file_done: spoken.file_done || by_file };
    }

    pub(crate) fn outcome(&mut self, success: bool) {
        self.failures_in_a_row = if success { 0 } else { self.failures_in_a_row.saturating_add(1) };
    }
}
