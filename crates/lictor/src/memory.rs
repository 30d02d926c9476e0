//! Limits the memory of a judgement. Exceeding the limit ends the process, so it is set only in a process that
//! judges one event and for which that means a block. In any other process the limit would apply to everything
//! else too: an embedding program, a server or an interpreter may have mapped more than a judgement ever needs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than the analysis of any command line needs.
const MOST: u64 = 1 << 30;

/// How many judgements are running, and the previous limit.
static UNDER_WAY: Mutex<(usize, Option<Rlimit>)> = Mutex::new((0, None));

/// Whether this process may be bounded.
static ALONE: AtomicBool = AtomicBool::new(false);

/// From now on the memory of judgements in this process is limited. Only for a process that judges one event, and
/// for which running out of memory is a block.
pub fn bound_memory() {
    ALONE.store(true, Ordering::Relaxed);
}

/// While it exists, the memory limit of a judgement applies to the process. Child processes inherit the limit, so
/// it is held only while a command is parsed.
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
