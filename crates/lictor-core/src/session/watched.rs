use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// How many files and globs a session watches. Further ones count as new.
pub const WATCHED_KEPT: usize = 256;

/// Digests of watched files when the session first looked at them: at its first event, or when the policy began
/// to watch them. A file that existed then was not created in the session, and a file with the same digest was
/// not changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Watched(BTreeMap<String, Option<Digest>>);

impl Watched {
    /// Whether nothing is watched.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the session has looked at a file or glob.
    #[must_use]
    pub fn knows(&self, pattern: &str) -> bool {
        self.0.contains_key(pattern)
    }

    /// Whether nothing matched it when the session first looked.
    #[must_use]
    pub fn is_new(&self, pattern: &str) -> bool {
        self.0.get(pattern).is_none_or(Option::is_none)
    }

    /// Whether its matches have changed since then.
    #[must_use]
    pub fn has_changed(&self, pattern: &str, now: Option<Digest>) -> bool {
        self.0.get(pattern).copied().flatten() != now
    }

    /// The first look counts.
    pub(super) fn look(&mut self, found: &BTreeMap<String, Option<Digest>>) {
        for (pattern, content) in found {
            if self.0.len() < WATCHED_KEPT {
                self.0.entry(pattern.clone()).or_insert(*content);
            }
        }
    }
}
