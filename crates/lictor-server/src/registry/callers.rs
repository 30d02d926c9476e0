//! A cache of recent callers: most requests come from tokens that were just looked up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lictor_core::Digest;
use lictor_store::Head;

use super::{Person, Token};

/// So many are remembered at most.
const MOST: usize = 4_096;

/// A token, and the person whose it is.
pub(super) type Known = Arc<(Token, Option<Person>)>;

/// Tokens by the digest of their secret.
#[derive(Default)]
pub(super) struct Callers {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// With the end of the registry's record at the time of the lookup.
    known: HashMap<Digest, (Head, Known)>,
    /// How often the cache was cleared.
    changes: u64,
}

impl Callers {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half done under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cached caller of a secret while the record has this end; else a mark with which the result of a lookup
    /// may be cached.
    pub(super) fn get(&self, secret: Digest, end: Head) -> Result<Known, u64> {
        let state = self.state();
        match state.known.get(&secret) {
            Some((under, known)) if *under == end => Ok(Arc::clone(known)),
            _ => Err(state.changes),
        }
    }

    /// Caches the result of a lookup, unless something has changed since.
    pub(super) fn keep(&self, secret: Digest, known: &Known, end: Head, mark: u64) {
        let mut state = self.state();
        if state.changes != mark {
            return;
        }
        if state.known.len() >= MOST {
            state.known.clear();
        }
        state.known.insert(secret, (end, Arc::clone(known)));
    }

    /// Clears the cache after a change.
    pub(super) fn forget(&self) {
        let mut state = self.state();
        state.changes += 1;
        state.known.clear();
    }
}

#[cfg(test)]
mod tests;
