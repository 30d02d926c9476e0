//! States of sessions beside the bytes that they were stored as. Who finds the same bytes in the store again need not read
//! them, and that is most of what it costs to load a session.

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
    /// Something was stored before: a process that does so once, as a hook does, remembers nothing.
    used: AtomicBool,
}

/// A session as it was stored.
pub(super) struct Stored {
    pub(super) bytes: Vec<u8>,
    pub(super) state: SessionState,
}

impl Recent {
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionKey, Stored>> {
        // Nothing is left half done under the lock.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what is stored now is worth remembering.
    pub(super) fn is_wanted(&self) -> bool {
        self.used.swap(true, Ordering::Relaxed)
    }

    /// Takes out the state of a session, if it is the one that is stored as these bytes.
    pub(super) fn take(&self, key: &SessionKey, bytes: &[u8]) -> Option<SessionState> {
        let stored = self.sessions().remove(key)?;
        (stored.bytes == bytes).then_some(stored.state)
    }

    /// Remembers what was stored.
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
