//! The end of the registry's record, polled periodically.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lictor_store::Head;

/// How long the end of the record is cached. Changes of this server count at once; this is for other servers on
/// the same database.
const FRESH: Duration = Duration::from_secs(1);
/// After this time one caller refreshes it. The others use the cached value until it is too old.
const AGAIN: Duration = Duration::from_millis(500);

/// The end of the record as it was last seen.
#[derive(Default)]
pub(super) struct End {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The cached end, and when its read began.
    seen: Option<(Instant, Head)>,
    /// When the last read began.
    looked: Option<Instant>,
    /// How often it was cleared.
    changes: u64,
}

impl End {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half done under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cached end; else the result of `look`. Callers do not wait for each other's reads: an unresponsive
    /// database delays only those that query it.
    pub(super) fn get<E>(&self, now: Instant, look: impl FnOnce() -> Result<Head, E>) -> Result<Head, E> {
        let within = |at: Instant, time: Duration| now.saturating_duration_since(at) < time;
        let mut state = self.state();
        if let Some((at, head)) = state.seen
            && within(at, FRESH)
            && state.looked.is_some_and(|at| within(at, AGAIN))
        {
            return Ok(head);
        }
        state.looked = Some(now);
        let mark = state.changes;
        drop(state);
        let found = look()?;
        let mut state = self.state();
        // Concurrent changes may be missing in it, and another read may have begun later.
        if state.changes == mark && state.seen.is_none_or(|(at, _)| at <= now) {
            state.seen = Some((now, found));
        }
        Ok(found)
    }

    /// Clears the cache after a change.
    pub(super) fn forget(&self) {
        let mut state = self.state();
        state.changes += 1;
        state.seen = None;
    }
}

#[cfg(test)]
mod tests;
