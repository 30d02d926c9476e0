//! Watched files: their state at the session's first event.

use std::collections::BTreeMap;

use lictor_core::{Limit, SessionEvent, SessionKey, SessionState};
use lictor_store::{StoreError, StoreExt as _};

use super::{PolicyEngine, Rules, sessions};
use crate::log::kind;

impl PolicyEngine {
    /// The state of watched files that the session has not recorded yet. `None` if it has all of them. An
    /// unreadable file stays unknown.
    pub(super) fn first_look(&self, session: &SessionState) -> Option<SessionEvent> {
        let Rules { gate, probe, .. } = &*self.rules;
        let triggers =
            self.inner.feedback.iter().filter_map(|provider| provider.trigger.on_file_created.as_deref());
        let files: BTreeMap<_, _> = triggers
            .chain(gate.iter().flat_map(|gate| gate.watched()))
            .filter(|file| !session.watched.knows(file))
            .filter_map(|file| Some((file.to_owned(), probe.fingerprint(file).ok()?)))
            .collect();
        (!files.is_empty()).then_some(SessionEvent::Watched { files })
    }

    /// The session's state, started and with its watched files recorded.
    pub(super) fn look(
        &self,
        session: &SessionKey,
        parent: Option<&SessionKey>,
    ) -> Result<SessionState, StoreError> {
        let mut state = self.inner.store.view(|view| sessions::read(view, session))?;
        if state.started.is_none() {
            state = self.start(session, parent, Limit::default())?;
        }
        match self.first_look(&state) {
            None => Ok(state),
            Some(event) => self.happen(session, None, kind::SESSION_WATCHED, |_, _| Ok(Some(event))),
        }
    }
}
