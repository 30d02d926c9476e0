//! A session and the sessions above it, as they are kept in the store.

use lictor_core::{Action, SessionEvent, SessionKey, SessionState, Timestamp};
use lictor_store::{Space, StoreError, Transaction, View};

use super::keys;

/// Deeper delegation is refused: no agent needs it, and a loop in the data must end.
const MAX_LINEAGE: usize = 16;

/// The sessions one action counts for: its own first, then its parent's, and so on to the root.
pub(super) struct Lineage {
    sessions: Vec<(SessionKey, SessionState)>,
}

impl Lineage {
    pub(super) fn load(view: &(impl View + ?Sized), action: &Action) -> Result<Self, StoreError> {
        let mut key = action.session.clone().unwrap_or_else(keys::anonymous);
        let mut parent = action.parent_session.clone();
        let mut sessions: Vec<(SessionKey, SessionState)> = Vec::new();
        loop {
            let state = read(view, &key)?;
            let above = state.parent.clone().or_else(|| parent.take());
            sessions.push((key, state));
            match above {
                None => return Ok(Self { sessions }),
                Some(above) if sessions.iter().any(|(known, _)| *known == above) => {
                    return Err(StoreError::other(format!("session `{above}` is among its own parents")));
                }
                Some(_) if sessions.len() >= MAX_LINEAGE => {
                    return Err(StoreError::other(format!(
                        "the session is more than {MAX_LINEAGE} agents below its root"
                    )));
                }
                Some(above) => key = above,
            }
        }
    }

    /// The action's own session.
    pub(super) fn own(&self) -> Option<&SessionState> {
        self.sessions.first().map(|(_, state)| state)
    }

    /// Applies one event to all of them.
    pub(super) fn apply(&mut self, event: &SessionEvent, at: Timestamp) {
        for (_, state) in &mut self.sessions {
            state.apply(event, at);
        }
    }

    pub(super) fn save(&self, tx: &mut dyn Transaction) -> Result<(), StoreError> {
        self.sessions.iter().try_for_each(|(key, state)| {
            let value = serde_json::to_vec(state).map_err(StoreError::other)?;
            tx.put(Space::Session, &keys::session(key), &value)
        })
    }
}

/// The state of one session; the empty one when nothing is known of it.
pub(super) fn read(view: &(impl View + ?Sized), key: &SessionKey) -> Result<SessionState, StoreError> {
    match view.get(Space::Session, &keys::session(key))? {
        None => Ok(SessionState::default()),
        Some(value) => serde_json::from_slice(&value)
            .map_err(|error| StoreError::other(format!("the state of session `{key}` is damaged: {error}"))),
    }
}
