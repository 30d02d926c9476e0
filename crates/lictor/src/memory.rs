//! How much memory a judgement may take. Running out of it ends the process; `lictor hook` ends with a block then.

use std::sync::{Mutex, PoisonError};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than any command line needs to be understood.
const MOST: u64 = 1 << 30;

/// How many judgements are under way, and the limit that held before.
static UNDER_WAY: Mutex<(usize, Option<Rlimit>)> = Mutex::new((0, None));

/// As long as one lives, the process gets no more memory than a judgement may take. Programs that are started meanwhile
/// inherit it, so it is held only while a command is read.
pub(crate) struct Bounded(());

impl Bounded {
    /// Begins.
    pub(crate) fn begin() -> Self {
        let mut under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, before) = &mut *under_way;
        if *count == 0 {
            let found = getrlimit(Resource::As);
            let lower = found.current.map_or(MOST, |current| current.min(MOST));
            let _ = setrlimit(Resource::As, Rlimit { current: Some(lower), maximum: found.maximum });
            *before = Some(found);
        }
        *count += 1;
        Self(())
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
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
