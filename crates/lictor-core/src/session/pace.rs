use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

/// How many seconds are looked back.
const WINDOW_SECONDS: i64 = 60;

/// Counts per second over the last minute, oldest first. At most one entry a second is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pace(VecDeque<(i64, u32)>);

impl Pace {
    /// Counts one more at that time. If the clock went back, the newest second is used.
    pub(super) fn keep(&mut self, at: Timestamp) {
        let second = second(at).max(self.0.back().map_or(i64::MIN, |(last, _)| *last));
        match self.0.back_mut() {
            Some((last, count)) if *last == second => *count = count.saturating_add(1),
            _ => self.0.push_back((second, 1)),
        }
        while self.0.front().is_some_and(|(first, _)| *first <= second.saturating_sub(WINDOW_SECONDS)) {
            self.0.pop_front();
        }
    }

    pub(super) fn in_last_minute(&self, now: Timestamp) -> u64 {
        let from = second(now).saturating_sub(WINDOW_SECONDS);
        self.0.iter().filter(|(at, _)| *at > from).map(|(_, count)| u64::from(*count)).sum()
    }
}

fn second(at: Timestamp) -> i64 {
    at.0.div_euclid(1000)
}
