//! Time as data. Pure crates never read a clock; their caller passes one in.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This moment plus `millis` milliseconds, saturating.
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to this; negative when the clock went back.
    #[must_use]
    pub fn millis_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A source of the current time.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;
}

/// A source of elapsed time. Separate from [`Clock`], because a decision may depend on the time of day and never
/// on how long the evaluation took.
pub trait Stopwatch: Send + Sync {
    /// The time since a fixed but arbitrary moment.
    fn elapsed(&self) -> Duration;
}

/// A clock that always returns the same time, for tests and replay.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}
