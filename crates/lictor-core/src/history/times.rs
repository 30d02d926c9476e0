use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

/// The newest timestamps of a pattern, oldest first, as many as are needed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Times(VecDeque<Timestamp>);

impl Times {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Timestamp> + '_ {
        self.0.iter().copied()
    }

    /// Adds a timestamp; drops those more than `window` milliseconds older, and those beyond `most`. A clock that
    /// went back drops nothing.
    pub(super) fn push(&mut self, at: Timestamp, window: u64, most: usize) {
        let at = self.0.back().map_or(at, |newest| at.max(*newest));
        self.0.push_back(at);
        let horizon = at.plus_millis(-i64::try_from(window).unwrap_or(i64::MAX));
        while self.0.len() > most || self.0.front().is_some_and(|oldest| *oldest < horizon) {
            self.0.pop_front();
        }
    }
}
