use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// How many finished calls are remembered, so that a second report is ignored.
pub const CLOSED_KEPT: usize = 16;

/// Finished calls, oldest first: the first eight bytes of the digest of each id, so that ids of any length take
/// the same space.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Closed(VecDeque<u64>);

impl Closed {
    /// Whether no finished call with an id is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the outcome of that call has been seen.
    #[must_use]
    pub fn contains(&self, id: &str) -> bool {
        self.0.contains(&short(id))
    }

    /// Marks this call as finished. Returns whether it was new.
    pub(super) fn insert(&mut self, id: &str) -> bool {
        let id = short(id);
        if self.0.contains(&id) {
            return false;
        }
        if self.0.len() >= CLOSED_KEPT {
            self.0.pop_front();
        }
        self.0.push_back(id);
        true
    }
}

/// The short form of an id.
fn short(id: &str) -> u64 {
    let digest = Digest::of(id.as_bytes());
    digest.as_bytes().first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}
