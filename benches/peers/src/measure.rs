//! Timing on a machine that does other things too: small batches, taken in turns, reported as percentiles.

use std::time::Instant;

use serde_json::{Value, json};

/// One thing to time. A call decides once.
pub struct Entry<'a> {
    pub name: &'static str,
    pub run: Box<dyn FnMut() + 'a>,
}

impl<'a> Entry<'a> {
    pub fn new(name: &'static str, run: impl FnMut() + 'a) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// Nanoseconds a call.
pub struct Timed {
    pub name: &'static str,
    pub p10: f64,
    pub p50: f64,
    pub p95: f64,
}

impl Timed {
    pub fn json(&self) -> Value {
        json!({ "name": self.name, "p10_ns": self.p10, "p50_ns": self.p50, "p95_ns": self.p95 })
    }
}

/// Times all entries in turns, so that a noisy moment hits all of them: `rounds` batches of `batch` calls each. Before
/// each batch goes one call that is not timed: what an entry costs must not depend on which one ran before it and
/// emptied the caches.
pub fn interleaved(mut entries: Vec<Entry<'_>>, rounds: usize, batch: u32) -> Vec<Timed> {
    let mut times = vec![Vec::with_capacity(rounds); entries.len()];
    for entry in &mut entries {
        (0..batch).for_each(|_| (entry.run)());
    }
    for _ in 0..rounds {
        for (entry, times) in entries.iter_mut().zip(&mut times) {
            (entry.run)();
            let start = Instant::now();
            (0..batch).for_each(|_| (entry.run)());
            times.push(start.elapsed().as_nanos() as f64 / f64::from(batch));
        }
    }
    let timed = entries.iter().zip(times).map(|(entry, mut times)| {
        times.sort_unstable_by(f64::total_cmp);
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        Timed { name: entry.name, p10: at(10), p50: at(50), p95: at(95) }
    });
    timed.collect()
}
