//! The real clock, and a real stopwatch.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lictor_core::{Clock, Stopwatch, Timestamp};

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let millis = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
        };
        Timestamp(millis)
    }
}

/// The stopwatch of the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemStopwatch(Instant);

impl SystemStopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Stopwatch for SystemStopwatch {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
