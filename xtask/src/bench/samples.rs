//! Durations and what they come to.

use std::time::Duration;

/// Durations of one thing.
#[derive(Debug, Default)]
pub struct Samples(Vec<Duration>);

impl Samples {
    pub fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// All of them, in nanoseconds.
    pub fn nanos(&self) -> Vec<u64> {
        self.0.iter().map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)).collect()
    }

    /// Milliseconds that so many percent of the samples stay below.
    pub fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        sorted.get(last * percent / 100).map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0)
    }
}
