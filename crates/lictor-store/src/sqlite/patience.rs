//! Waiting for other processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// How a connection waits for a lock: a few yields, then short sleeps, until a deadline.
///
/// SQLite's own handler sleeps up to 100 ms at a time; a transaction here takes well under one millisecond, so
/// with many processes a sleeper is overtaken repeatedly.
#[derive(Debug, Clone)]
pub(super) struct Patience {
    waits: Arc<AtomicBool>,
}

/// How many times it only yields.
const YIELDS: i32 = 10;
/// The longest nap.
const LONGEST_NAP: Duration = Duration::from_millis(2);

impl Patience {
    /// Makes `connection` wait at most `wait` for each lock.
    pub(super) fn install(connection: &mut Connection, wait: Duration) -> rusqlite::Result<Self> {
        let patience = Self { waits: Arc::new(AtomicBool::new(true)) };
        let waits = Arc::clone(&patience.waits);
        let mut deadline = None;
        connection.busy_handler(Some(move |tries: i32| {
            if !waits.load(Ordering::Relaxed) {
                return false;
            }
            let now = Instant::now();
            if tries == 0 {
                deadline = now.checked_add(wait);
            }
            let left = deadline.map_or(wait, |deadline| deadline.saturating_duration_since(now));
            if left.is_zero() {
                return false;
            }
            if tries < YIELDS {
                thread::yield_now();
            } else {
                let nap = Duration::from_micros(50) * u32::try_from(tries - YIELDS + 1).unwrap_or(u32::MAX);
                thread::sleep(nap.min(LONGEST_NAP).min(left));
            }
            true
        }))?;
        Ok(patience)
    }

    /// Runs `f` without waiting: a held lock is an error at once.
    pub(super) fn lose<T>(&self, f: impl FnOnce() -> T) -> T {
        self.waits.store(false, Ordering::Relaxed);
        let result = f();
        self.waits.store(true, Ordering::Relaxed);
        result
    }
}
