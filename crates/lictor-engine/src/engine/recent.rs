//! A cache of session states with their stored bytes. If the store still has the same bytes, they need not be
//! parsed, which is most of the cost of loading a session.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lictor_core::{SessionKey, SessionState};

/// So many sessions are remembered.
const MOST: usize = 256;

/// Sessions that this process has stored.
#[derive(Default)]
pub(super) struct Recent {
    sessions: Mutex<HashMap<SessionKey, Stored>>,
    /// Set after the first write: a process that writes once, such as a hook, caches nothing.
    used: AtomicBool,
}

/// A session as it was stored.
pub(super) struct Stored {
    pub(super) bytes: Vec<u8>,
    pub(super) state: SessionState,
}

impl Recent {
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionKey, Stored>> {
        // A poisoned lock is harmless: no invariant is broken while it is held.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the next write should be cached.
    pub(super) fn is_wanted(&self) -> bool {
        self.used.swap(true, Ordering::Relaxed)
    }

    /// Removes and returns the state of a session, if these are its stored bytes.
    pub(super) fn take(&self, key: &SessionKey, bytes: &[u8]) -> Option<SessionState> {
        let stored = self.sessions().remove(key)?;
        (stored.bytes == bytes).then_some(stored.state)
    }

    /// Caches what was stored.
    pub(super) fn keep(&self, stored: Vec<(SessionKey, Stored)>) {
        let mut sessions = self.sessions();
        if sessions.len() + stored.len() > MOST {
            sessions.clear();
        }
        for (key, stored) in stored {
            debug_assert_eq!(SessionState::from_bytes(&stored.bytes).ok().as_ref(), Some(&stored.state));
            sessions.insert(key, stored);
        }
    }
}
