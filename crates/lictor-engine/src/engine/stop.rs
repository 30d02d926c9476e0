//! Evaluates the completion gate.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lictor_core::completion::{Stop, StopCheck};
use lictor_core::{SessionEvent, SessionKey};
use lictor_store::{StoreError, StoreExt as _};

use super::{PolicyEngine, sessions::Lineage};
use crate::log::kind;
use crate::probe::WithCheckers;

impl PolicyEngine {
    /// Decides whether the agent may stop now, and records it. `None` when there is no check.
    ///
    /// The store is not locked while checks run; they may take as long as their commands.
    ///
    /// # Errors
    /// When the session cannot be read or the outcome cannot be recorded.
    pub fn check_stop(
        &self,
        session: &SessionKey,
        parent: Option<&SessionKey>,
        stop: &Stop,
    ) -> Result<Option<StopCheck>, StoreError> {
        let Some(check) = self.look_at_stop(session, parent, stop)? else { return Ok(None) };
        let event = self.redacted(SessionEvent::StopChecked(check.clone()));
        self.happen(session, parent.cloned(), kind::STOP_CHECKED, |_, _| Ok(Some(event)))?;
        Ok(Some(check))
    }

    /// What [`check_stop`](Self::check_stop) would return now. Nothing is recorded and no round is counted.
    ///
    /// # Errors
    /// When the session cannot be read.
    pub fn look_at_stop(
        &self,
        session: &SessionKey,
        parent: Option<&SessionKey>,
        stop: &Stop,
    ) -> Result<Option<StopCheck>, StoreError> {
        let Some(gate) = &self.rules.gate else { return Ok(None) };
        let state = self.look(session, parent)?;
        let lineage = self
            .inner
            .store
            .view(|view| Lineage::load_session(view, Some(session.clone()), parent.cloned()))?;
        let now = self.inner.clock.now();
        let probe = self.probe();
        let surveyor =
            WithCheckers { probe: &*probe, checkers: &self.inner.checkers, store: &*self.inner.store };
        let judged = || gate.judge(stop, session, &state, lineage.above(), now, &surveyor);
        catch_unwind(AssertUnwindSafe(judged))
            .map_err(|_| StoreError::other("a check before stopping failed inside"))
    }
}
