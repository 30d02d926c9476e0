//! Sessions that have seen other policies than that of now.
//!
//! A change takes effect in a running session only where it is stricter: what any policy objects to that the session
//! has seen does not pass. The rest waits for the next session, or for a person who refreshes this one.

use lictor_core::session::{POLICIES_KEPT, Recalled};
use lictor_core::{Action, Digest, SessionEvent, SessionKey, SessionState, Verdict};
use lictor_store::{Durability, StoreError, StoreExt as _};

use super::record::Journal;
use super::sessions::{self, Lineage};
use super::{PolicyEngine, recall};
use crate::log::kind;

/// Remembers the policies that sessions have seen.
pub trait EarlierPolicies: Send + Sync {
    /// Keeps the policy of now, because a session sees it for the first time. A policy that could not be kept is
    /// missed when it is asked for, and then nothing passes.
    fn keep(&self);

    /// The engine for sessions that have seen those policies, the first one first, made with
    /// [`Builder::has_seen`](super::Builder).
    ///
    /// # Errors
    /// Why one of them cannot be brought back.
    fn engine(&self, seen: &[Digest]) -> Result<PolicyEngine, String>;
}

/// What is said while a policy that a session has to keep to is lost.
pub(super) fn lost(why: &str) -> Verdict {
    Verdict::error(
        format!("the policy has changed, and what held in this session before cannot be told: {why}"),
        "a person can let this session go on under the current policy with `lictor session refresh`, or start a new one",
    )
}

impl PolicyEngine {
    /// The engine that judges in that session: this one, or one that also keeps to the other policies that the session
    /// has seen.
    ///
    /// # Errors
    /// When the session cannot be read or one of its policies cannot be brought back.
    pub fn for_session(&self, session: &SessionKey, parent: Option<&SessionKey>) -> Result<Self, StoreError> {
        let load = |view: &dyn lictor_store::View| {
            Lineage::load_session(view, Some(session.clone()), parent.cloned())
        };
        let lineage = self.inner.store.view(load)?;
        match self.elsewhere(&lineage) {
            None => Ok(self.clone()),
            Some(engine) => engine.map_err(|why| StoreError::other(lost(&why).reason())),
        }
    }

    /// Whether another engine judges in those sessions.
    pub(super) fn is_foreign(&self, sessions: &Lineage) -> bool {
        let same = |seen: Vec<Digest>| seen.iter().all(|policy| *policy == self.inner.current);
        self.inner.earlier.is_some() && !sessions.policies().is_some_and(same)
    }

    /// Who judges in those sessions, when that is not this engine.
    pub(super) fn elsewhere(&self, sessions: &Lineage) -> Option<Result<Self, String>> {
        let earlier = self.inner.earlier.as_ref().filter(|_| self.is_foreign(sessions))?;
        let seen =
            sessions.policies().ok_or_else(|| format!("it has changed more than {POLICIES_KEPT} times"));
        Some(seen.and_then(|seen| earlier.engine(&seen)))
    }

    pub(super) fn keep_policy(&self) {
        if let Some(earlier) = &self.inner.earlier {
            earlier.keep();
        }
    }

    /// Whether one of the sessions has not seen the policy of now yet.
    pub(super) fn is_news(&self, sessions: &Lineage) -> bool {
        let minds = self.inner.earlier.is_some() || self.inner.follows;
        minds && sessions.begun().any(|(_, _, state)| self.is_news_to(state))
    }

    fn is_news_to(&self, state: &SessionState) -> bool {
        state.policy_now.or(state.policy) != Some(self.inner.current)
    }

    /// Records that the policy has changed. The sessions are told so.
    pub(super) fn notice(&self, action: &Action) -> Result<Lineage, StoreError> {
        let now = self.inner.clock.now();
        let policy = self.inner.current;
        self.inner.store.update(Durability::Process, |tx| {
            let mut lineage = Lineage::load(tx, action)?;
            let told = match lineage.root() {
                Some(root) if self.inner.recalls => recall::retold(tx, root, &self.inner.history)?,
                _ => Default::default(),
            };
            let news: Vec<_> = lineage
                .begun()
                .filter(|(_, _, state)| self.is_news_to(state))
                .map(|(index, key, state)| {
                    let recalled = told.get(key).map(|told| Recalled::from(told, state.past.position));
                    let event = SessionEvent::PolicyChanged { policy, recalled: recalled.map(Box::new) };
                    (index, key.clone(), event)
                })
                .collect();
            for (index, key, event) in news {
                let mut journal = Journal::new(tx, Some(&key), now, &*self.inner.redactor);
                journal.happening(kind::POLICY_CHANGED, &event)?;
                lineage.apply_to(index, &event, now);
            }
            lineage.save(tx)?;
            Ok(lineage)
        })
    }

    /// A person puts the engine's policy in force for a session that began under another, for the sessions above it
    /// and for all below them.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn refresh(&self, session: &SessionKey) -> Result<SessionState, StoreError> {
        let now = self.inner.clock.now();
        let policy = self.inner.current;
        // The session sees no other policy from now on: when the files change again, this one has to be found.
        self.keep_policy();
        self.inner.store.update(Durability::Power, |tx| {
            let lineage = Lineage::load_session(tx, Some(session.clone()), None)?;
            let Some(root) = lineage.root().cloned() else { return sessions::read(tx, session) };
            let told = recall::retold(tx, &root, &self.inner.history)?;
            let mut keys = recall::below(&told, &root);
            keys.extend(lineage.begun().map(|(_, key, _)| key.clone()));
            for key in keys {
                let mut lineage = Lineage::load_session(tx, Some(key.clone()), None)?;
                let Some(own) = lineage.own().filter(|own| own.policy.is_some()) else { continue };
                let recalled = told.get(&key).map(|told| Box::new(Recalled::from(told, own.past.position)));
                let event = SessionEvent::Refreshed { policy, recalled };
                let mut journal = Journal::new(tx, Some(&key), now, &*self.inner.redactor);
                journal.happening(kind::SESSION_REFRESHED, &event)?;
                lineage.apply(&event, now);
                lineage.save(tx)?;
            }
            sessions::read(tx, session)
        })
    }
}
