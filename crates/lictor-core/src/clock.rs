//! Time as data. Pure crates never read a clock; whoever composes them passes one in.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This moment plus so many milliseconds, saturating.
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

/// Where time comes from.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;
}

/// How much time goes by. Kept apart from [`Clock`], because what is decided may depend on the time of day and never
/// on how long deciding took.
pub trait Stopwatch: Send + Sync {
    /// The time since some moment that stays the same.
    fn elapsed(&self) -> Duration;
}

/// A clock that always says the same: tests, replay.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}
