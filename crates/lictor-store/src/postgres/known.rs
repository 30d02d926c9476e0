//! A cache of the entries of a chain that this process has read or written, so that a judgement need not fetch
//! them again.
//!
//! In a sealed chain every change of an entry comes with a new record or changes the seal of the newest one.
//! Cached entries are therefore valid exactly as long as the end of the chain is the same, whichever process
//! writes to it. Without keys there is no such signal, and nothing is cached.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::sealed::SealedValue;
use crate::{Head, Seal, Space};

/// Bytes that are remembered of one chain.
const MOST_BYTES: usize = 32 * 1024;
/// Bytes of one value; longer ones are seldom read.
const LONGEST: usize = 8 * 1024;

/// The end of a chain: its newest record and the seal of it.
pub(super) type End = (Head, Option<Seal>);
/// Entries by space and key; `None` where there is no entry.
pub(super) type Entries = BTreeMap<(Space, Vec<u8>), Option<SealedValue>>;

/// The cache of one chain.
#[derive(Default)]
pub(super) struct Known {
    last: Mutex<Option<Last>>,
    /// Whether a thread of this process writes to the chain.
    writing: Mutex<bool>,
    written: Condvar,
}

/// A chain when it was last seen.
#[derive(Clone)]
pub(super) struct Last {
    pub(super) end: End,
    pub(super) base: Head,
    pub(super) entries: Arc<Entries>,
    /// Until this time, the partition for new records is known to exist.
    pub(super) month_until: Option<Instant>,
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Known")
    }
}

/// The only writer of a chain in this process.
pub(super) struct OnlyWriter<'a>(&'a Known);

impl Drop for OnlyWriter<'_> {
    fn drop(&mut self) {
        *self.0.writing.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.written.notify_one();
    }
}

impl Known {
    fn state(&self) -> MutexGuard<'_, Option<Last>> {
        // A poisoned lock is harmless: no invariant is broken while it is held.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other thread of this process writes to the chain; `None` on timeout.
    pub(super) fn alone(&self, wait: Duration) -> Option<OnlyWriter<'_>> {
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.written.wait_timeout_while(writing, wait, |writing| *writing);
        let (mut writing, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *writing {
            return None;
        }
        *writing = true;
        Some(OnlyWriter(self))
    }

    /// The chain when it was last seen.
    pub(super) fn last(&self) -> Option<Last> {
        self.state().clone()
    }

    /// Drops the cache because the chain has another end.
    pub(super) fn forget(&self, end: &End) {
        let mut state = self.state();
        if state.as_ref().is_some_and(|last| last.end == *end) {
            *state = None;
        }
    }

    /// The cached entries of the chain with this end.
    pub(super) fn under(&self, end: &End) -> Arc<Entries> {
        match &*self.state() {
            Some(last) if last.end == *end => Arc::clone(&last.entries),
            _ => Arc::default(),
        }
    }

    /// Caches the chain after a transaction: the entries that it has `seen` or written, in addition to the
    /// earlier ones.
    pub(super) fn learn(&self, mut last: Last, seen: Entries) {
        let mut entries = Arc::unwrap_or_clone(last.entries);
        for (slot, value) in seen {
            if size(&slot, value.as_ref()) > LONGEST {
                entries.remove(&slot);
            } else {
                entries.insert(slot, value);
            }
        }
        if entries.iter().map(|(slot, value)| size(slot, value.as_ref())).sum::<usize>() > MOST_BYTES {
            entries.clear();
        }
        last.entries = Arc::new(entries);
        let mut state = self.state();
        // A reader that began before a writer may finish after it.
        if state.as_ref().is_none_or(|known| known.end.0.seq <= last.end.0.seq) {
            last.month_until = last.month_until.or(state.as_ref().and_then(|known| known.month_until));
            *state = Some(last);
        }
    }
}

fn size((_, key): &(Space, Vec<u8>), value: Option<&SealedValue>) -> usize {
    key.len() + value.map_or(0, |(value, _)| value.len())
}
