//! Feedback after a call, and remarks that are held for delivery.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lictor_core::completion::Left;
use lictor_core::feedback::{Advice, Consulted, Moment, Provider, Source, run};
use lictor_core::{SessionEvent, SessionKey, SessionState, Timestamp, redact};
use lictor_store::{StoreError, StoreExt as _};

use super::{PolicyEngine, sessions};
use crate::extend::FeedbackContext;
use crate::log::kind;
use crate::probe::Probe;

impl PolicyEngine {
    /// The feedback for the agent after a call. Records the feedback and the failures.
    ///
    /// # Errors
    /// When it cannot be recorded; then no feedback is given, so that none is given twice.
    pub fn advise(&self, session: &SessionKey) -> Result<Vec<Advice>, StoreError> {
        if self.inner.feedback.is_empty() {
            return Ok(Vec::new());
        }
        let state = self.look(session, None)?;
        let now = self.inner.clock.now();
        let probe = self.probe();
        let exists = |file: &str| {
            let found = probe.look(file);
            found.is_ok_and(|found| found.iter().any(|found| found.is_file))
        };
        let moment = Moment { session: &state, now, exists: &exists };
        let left = self.left(&state, now);
        let consult = |provider: &Provider| {
            let store = &*self.inner.store;
            let context = FeedbackContext::new(store, session, &state, now, left, &provider.name);
            let asked = || self.consult(&*probe, provider, &context);
            catch_unwind(AssertUnwindSafe(asked)).unwrap_or_else(|_| Err("it panicked".to_owned()))
        };
        let heard: Vec<Provider> = self
            .inner
            .feedback
            .iter()
            .filter(|provider| provider.audience.includes_session(session, &state, None))
            .cloned()
            .collect();
        let mut advice = run(&heard, &moment, &consult);
        if advice.is_empty() {
            return Ok(advice);
        }
        self.happen(session, None, kind::FEEDBACK_GIVEN, |_, tx| {
            // Another hook may have given feedback in the meantime.
            let state = sessions::read(tx, session)?;
            let moment = Moment { session: &state, now, exists: &|_| true };
            advice.retain(|advice| {
                let provider = self.inner.feedback.iter().find(|provider| provider.name == advice.provider);
                provider.is_some_and(|provider| provider.due(&moment).is_some())
            });
            let event = SessionEvent::Advised { advice: advice.clone() };
            Ok((!advice.is_empty()).then(|| self.redacted(event)))
        })?;
        Ok(advice)
    }

    /// What is left of the deadlines and budgets that the policy names.
    fn left(&self, session: &SessionState, now: Timestamp) -> Left {
        let mut left =
            self.rules.gate.as_ref().map(|gate| gate.limits.left(session, now)).unwrap_or_default();
        let elapsed = session.started.map_or(0, |started| now.millis_since(started).max(0).unsigned_abs());
        for provider in &self.inner.feedback {
            if let Source::Deadline { after, .. } = provider.source {
                let rest = after.saturating_sub(elapsed);
                left.deadline_ms = Some(left.deadline_ms.map_or(rest, |known| known.min(rest)));
            }
        }
        left
    }

    /// The probe for one operation of the engine.
    pub(super) fn probe(&self) -> Arc<dyn Probe> {
        self.rules.probe.begin().unwrap_or_else(|| Arc::clone(&self.rules.probe))
    }

    fn consult(
        &self,
        probe: &dyn Probe,
        provider: &Provider,
        context: &FeedbackContext<'_>,
    ) -> Result<Consulted, String> {
        let own = self.inner.providers.iter().find(|own| own.name() == provider.name);
        match own.filter(|_| provider.source == Source::Custom) {
            None => probe.consult(provider, context),
            Some(own) if own.should_run(context) => own.provide(context).map(Consulted::Said),
            Some(_) => Ok(Consulted::NotNow),
        }
    }

    /// Holds a remark until an event at which it can be delivered to the agent.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn hold(&self, session: &SessionKey, remark: impl Into<String>) -> Result<(), StoreError> {
        let event = self.redacted(SessionEvent::Held { remark: remark.into() });
        self.happen(session, None, kind::REMARK_HELD, |_, _| Ok(Some(event)))?;
        Ok(())
    }

    /// Removes and returns the held remarks, oldest first.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn take_held(&self, session: &SessionKey) -> Result<Vec<String>, StoreError> {
        let waiting = self.inner.store.view(|view| sessions::read(view, session))?.feedback.held;
        if waiting.is_empty() {
            return Ok(Vec::new());
        }
        let mut taken = Vec::new();
        self.happen(session, None, kind::REMARK_DELIVERED, |_, tx| {
            taken.extend(sessions::read(tx, session)?.feedback.held);
            Ok((!taken.is_empty()).then_some(SessionEvent::Delivered))
        })?;
        Ok(taken)
    }

    /// The event as it will be logged. State is a fold of the log, so it must not contain more than the log.
    pub(super) fn redacted(&self, event: SessionEvent) -> SessionEvent {
        redact::value(&event, &*self.rules.redactor).ok().flatten().unwrap_or(event)
    }
}
