//! Sessions: begin, continue, fork and end.

use lictor_core::event::Continuation;
use lictor_core::{Limit, SessionEvent, SessionKey, SessionState};
use lictor_store::{Durability, StoreError, StoreExt, Transaction};

use super::record::Journal;
use super::{PolicyEngine, sessions, sessions::Lineage, versions};
use crate::log::kind;

/// How much of a prompt is kept.
const PROMPT_CHARS: usize = 2_000;
/// How many characters of its name are kept.
const PROMPT_NAME_CHARS: usize = 64;

/// A prompt from a person, or from a program on behalf of one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompt {
    /// Its name, if it has one: a command (`/deploy`), a template. Rules may apply to it alone.
    pub name: Option<String>,
    /// Its text. Redacted before it is recorded.
    pub text: String,
}

impl PolicyEngine {
    /// Starts a session and records the state of watched files. Does nothing if it has begun already.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn begin(&self, session: &SessionKey) -> Result<SessionState, StoreError> {
        self.look(session, None)
    }

    /// Starts the session of a subagent. Its scope is its parent's, narrowed by the limit; its actions count for
    /// its parent too. Does nothing if the session has begun already.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn delegate(
        &self,
        parent: &SessionKey,
        child: &SessionKey,
        limit: Limit,
    ) -> Result<SessionState, StoreError> {
        self.start(child, Some(parent), limit)
    }

    /// Starts a session unless it has begun already. Its scope is its parent's, narrowed by the limit.
    pub(super) fn start(
        &self,
        session: &SessionKey,
        parent: Option<&SessionKey>,
        limit: Limit,
    ) -> Result<SessionState, StoreError> {
        self.happen(session, parent.cloned(), kind::SESSION_STARTED, |lineage, _| {
            let above = lineage.above().first();
            let scope = above.map(|parent| parent.scope.narrow(limit)).unwrap_or_default();
            let policy = lineage.began_under().unwrap_or(self.inner.current);
            let event = SessionEvent::Started { policy, parent: parent.cloned(), scope };
            Ok(lineage.is_new().then_some(event))
        })
    }

    /// Starts a session as a copy of another: counters, budgets, streaks and scope continue from there. Does
    /// nothing if the session has begun already.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn fork(&self, from: &SessionKey, to: &SessionKey) -> Result<SessionState, StoreError> {
        self.happen(to, None, kind::SESSION_FORKED, |lineage, tx| {
            let state = Box::new(sessions::read(tx, from)?);
            let event = SessionEvent::Forked { from: from.clone(), state };
            Ok(lineage.is_new().then_some(event))
        })
    }

    /// Records that the session was resumed, compacted or cleared. No state is lost.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn continued(&self, session: &SessionKey, how: Continuation) -> Result<SessionState, StoreError> {
        self.happen(session, None, kind::SESSION_CONTINUED, |_, _| Ok(Some(SessionEvent::Continued { how })))
    }

    /// Records a person's prompt, which resets the rounds of the stop gate.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn prompted(&self, session: &SessionKey, prompt: &Prompt) -> Result<SessionState, StoreError> {
        self.begin(session)?;
        // Truncated after redaction: half a secret would not be recognised.
        let text = self.rules.redactor.redact(&prompt.text);
        let text = lictor_core::text::clean(&text, PROMPT_CHARS);
        let name = prompt.name.as_deref().map(|name| lictor_core::text::clean(name, PROMPT_NAME_CHARS));
        let event = SessionEvent::Prompted { name, text: Some(text).filter(|text| !text.is_empty()) };
        self.happen(session, None, kind::PROMPTED, |_, _| Ok(Some(event)))
    }

    /// Ends the session. Reservations of actions without a known outcome are returned, and grants for the session
    /// end.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn end(&self, session: &SessionKey) -> Result<SessionState, StoreError> {
        self.approvals().withdraw(session, self.inner.clock.now())?;
        self.happen(session, None, kind::SESSION_ENDED, |lineage, _| {
            let returned = lineage.own().map(|own| own.reserved.clone()).unwrap_or_default();
            Ok(Some(SessionEvent::Ended { returned }))
        })
    }

    /// Clears the memory of tool policies, feedback and the stop gate; counters and budgets stay. Does nothing if
    /// the session has not begun.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn reset(&self, session: &SessionKey) -> Result<SessionState, StoreError> {
        let now = self.inner.clock.now();
        self.inner.store.update(Durability::Process, |tx| {
            let mut lineage = Lineage::load_session(tx, Some(session.clone()), None)?;
            if !lineage.is_new() {
                let mut journal = Journal::new(tx, Some(session), now, &*self.rules.redactor);
                journal.happening(kind::SESSION_RESET, &SessionEvent::Reset)?;
                lineage.apply(&SessionEvent::Reset, now);
                sessions::forget_files(journal.tx, session)?;
                lineage.save(journal.tx)?;
            }
            sessions::read(tx, session)
        })
    }

    /// Records one event of a session, if there is one, and returns the state after it.
    pub(super) fn happen(
        &self,
        session: &SessionKey,
        parent: Option<SessionKey>,
        kind: &str,
        event: impl FnOnce(&Lineage, &dyn Transaction) -> Result<Option<SessionEvent>, StoreError>,
    ) -> Result<SessionState, StoreError> {
        let now = self.inner.clock.now();
        self.inner.store.update(Durability::Process, |tx| {
            let mut lineage = Lineage::load_session(tx, Some(session.clone()), parent)?;
            if let Some(event) = event(&lineage, tx)? {
                match event {
                    SessionEvent::Started { .. } => self.keep_version(tx, now)?,
                    SessionEvent::Ended { .. } => versions::forget_unused(tx, now)?,
                    _ => {}
                }
                let mut journal = Journal::new(tx, Some(session), now, &*self.rules.redactor);
                journal.happening(kind, &event)?;
                lineage.apply(&event, now);
                lineage.save(journal.tx)?;
            }
            sessions::read(tx, session)
        })
    }
}
