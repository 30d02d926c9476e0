//! The end of the registry's record, polled periodically.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lictor_store::Head;

/// How long the end of the record is taken for granted. What this server changes counts at once; this is for other servers
/// on the same database.
const FRESH: Duration = Duration::from_secs(1);
/// After this time one caller looks again. The others take what is known until it is too old.
const AGAIN: Duration = Duration::from_millis(500);

/// The end of the record as it was last seen.
#[derive(Default)]
pub(super) struct End {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What was seen, and when the look at it began.
    seen: Option<(Instant, Head)>,
    /// When a look last began.
    looked: Option<Instant>,
    /// How often it was forgotten.
    changes: u64,
}

impl End {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half done under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known at this time; else what `look` finds. Nobody waits for the look of another: a database that does
    /// not answer holds up only those whom the store lets ask it.
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
        // What was changed meanwhile may be missing in it, and another look may have begun later.
        if state.changes == mark && state.seen.is_none_or(|(at, _)| at <= now) {
            state.seen = Some((now, found));
        }
        Ok(found)
    }

    /// Something has changed: whoever asks next looks.
    pub(super) fn forget(&self) {
        let mut state = self.state();
        state.changes += 1;
        state.seen = None;
    }
}

#[cfg(test)]
mod tests;
