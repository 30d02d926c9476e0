//! Entries of a chain that this process has read or written, so that a judgement need not fetch them again.
//!
//! In a sealed chain every change of an entry comes with a new record or changes the seal of the newest one. Entries that
//! were read under an end of the chain are therefore what they are for as long as the chain has that end, whoever else
//! writes to it. Without keys there is no such sign, and nothing is remembered.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sealed::SealedValue;
use crate::{Head, Seal, Space};

/// Bytes that are remembered of one chain.
const MOST_BYTES: usize = 32 * 1024;
/// Bytes of one value; longer ones are seldom read.
const LONGEST: usize = 8 * 1024;

/// The end of a chain: its newest record and the seal of it.
pub(super) type End = (Head, Option<Seal>);
/// Entries by space and key; none where there is no such entry.
pub(super) type Entries = BTreeMap<(Space, Vec<u8>), Option<SealedValue>>;

/// What is known of one chain.
#[derive(Default)]
pub(super) struct Known {
    state: Mutex<Option<(End, Arc<Entries>)>>,
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Known")
    }
}

impl Known {
    fn state(&self) -> MutexGuard<'_, Option<(End, Arc<Entries>)>> {
        // Nothing is left half done under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of the chain with that end.
    pub(super) fn under(&self, end: &End) -> Arc<Entries> {
        match &*self.state() {
            Some((known, entries)) if known == end => Arc::clone(entries),
            _ => Arc::default(),
        }
    }

    /// Remembers what a transaction has `seen` and made, on top of what was known before it.
    pub(super) fn learn(&self, end: End, before: Arc<Entries>, seen: Entries) {
        let mut entries = Arc::unwrap_or_clone(before);
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
        let mut state = self.state();
        // Who has begun to read before others wrote ends after them.
        if state.as_ref().is_none_or(|((known, _), _)| known.seq <= end.0.seq) {
            *state = Some((end, Arc::new(entries)));
        }
    }
}

fn size((_, key): &(Space, Vec<u8>), value: Option<&SealedValue>) -> usize {
    key.len() + value.map_or(0, |(value, _)| value.len())
}
