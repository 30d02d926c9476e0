use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// How many calls whose outcome was seen are remembered, so that a second report counts for nothing.
pub const CLOSED_KEPT: usize = 16;

/// Calls whose outcome has been seen, oldest first: of each the first eight bytes of its id's digest, so that ids
/// of any length take the same room.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Closed(VecDeque<u64>);

impl Closed {
    /// Whether no outcome of a call with an id has been seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the outcome of that call has been seen.
    #[must_use]
    pub fn contains(&self, id: &str) -> bool {
        self.0.contains(&short(id))
    }

    /// The outcome of that call is seen. Returns whether it is for the first time.
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

/// What stands for an id.
fn short(id: &str) -> u64 {
    let digest = Digest::of(id.as_bytes());
    digest.as_bytes().first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}
