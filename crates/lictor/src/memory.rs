//! How much memory a judgement may take. Running out of it ends the process, so only a process that judges one event and
//! ends with a block then is bounded. In any other the limit would hold for everything else that goes on in it: what an
//! embedding program, a server or an interpreter has mapped already can be more than a judgement ever needs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than any command line needs to be understood.
const MOST: u64 = 1 << 30;

/// How many judgements are under way, and the limit that held before.
static UNDER_WAY: Mutex<(usize, Option<Rlimit>)> = Mutex::new((0, None));

/// Whether this process may be bounded.
static ALONE: AtomicBool = AtomicBool::new(false);

/// From now on judgements of this process get no more memory than they need. For a process that judges one event, and for
/// which running out of memory is a block; never for one that does anything else.
pub fn bound_memory() {
    ALONE.store(true, Ordering::Relaxed);
}

/// As long as one lives, the process gets no more memory than a judgement may take. Programs that are started meanwhile
/// inherit it, so it is held only while a command is read.
pub(crate) struct Bounded(bool);

impl Bounded {
    /// Begins.
    pub(crate) fn begin() -> Self {
        if !ALONE.load(Ordering::Relaxed) {
            return Self(false);
        }
        let mut under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, before) = &mut *under_way;
        if *count == 0 {
            let found = getrlimit(Resource::As);
            let lower = found.current.map_or(MOST, |current| current.min(MOST));
            let _ = setrlimit(Resource::As, Rlimit { current: Some(lower), maximum: found.maximum });
            *before = Some(found);
        }
        *count += 1;
        Self(true)
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        if !self.0 {
            return;
        }
        let mut under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, before) = &mut *under_way;
        *count = count.saturating_sub(1);
        if *count == 0
            && let Some(found) = before.take()
        {
            let _ = setrlimit(Resource::As, found);
        }
    }
}

#[cfg(test)]
mod tests;
