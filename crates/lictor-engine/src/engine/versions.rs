//! The versions of the policy that sessions have seen: stored in the store, and cached in the engine once they
//! are read.
//!
//! A change takes effect in a running session only where it is stricter: an action passes only if every version
//! that the session has seen allows it. Relaxations apply to the next session, or after a person refreshes this
//! one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lictor_core::session::{POLICIES_KEPT, Recalled};
use lictor_core::{Action, Digest, SessionEvent, SessionKey, SessionState, Timestamp, Verdict};
use lictor_store::{Durability, Keys, Space, StoreError, StoreExt as _, Transaction};

use super::record::Journal;
use super::rules::{PolicyVersion, Rules};
use super::sessions::{self, Lineage};
use super::{PolicyEngine, recall};
use crate::log::kind;

/// How long a version is kept after the last session began under it, in milliseconds: ninety days.
const KEPT: i64 = 90 * DAY;
const DAY: i64 = 24 * 60 * 60 * 1_000;
/// How many combinations of versions are cached. The sessions of one process have seen few.
const READY: usize = 64;
/// Before a digest: the version itself.
const TEXT: &str = "text ";
/// Key prefix before a digest: the day on which a session last began under it.
const USED: &str = "used ";

/// Serialises the policy for the store, and deserialises versions.
pub trait PolicyCodec: Send + Sync {
    /// The current policy.
    ///
    /// # Errors
    /// Why it cannot be serialised. If a session later needs a version that was not stored, everything is
    /// blocked.
    fn encode(&self) -> Result<Vec<u8>, String>;

    /// The version with this digest.
    ///
    /// # Errors
    /// When the bytes are not that version.
    fn decode(&self, digest: Digest, kept: &[u8]) -> Result<PolicyVersion, String>;
}

/// The versions of the policy that the engine has read.
pub(super) struct Versions {
    codec: Box<dyn PolicyCodec>,
    read: Mutex<Vec<Arc<PolicyVersion>>>,
    /// The current rules with lists of versions, by the digests of these.
    ready: Mutex<Vec<(Vec<Digest>, Arc<Rules>)>>,
}

impl Versions {
    pub(super) fn new(codec: impl PolicyCodec + 'static) -> Self {
        Self { codec: Box::new(codec), read: Mutex::default(), ready: Mutex::default() }
    }

    /// Stores the current version, because a session begins under it or sees it for the first time.
    pub(super) fn keep(
        &self,
        tx: &mut dyn Transaction,
        current: Digest,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let used = key(USED, current);
        let day = now.0.div_euclid(DAY).to_string();
        let known = tx.get(Space::Policy, &used)?;
        if known.as_deref() == Some(day.as_bytes()) {
            return Ok(());
        }
        if known.is_none() {
            let Ok(bytes) = self.codec.encode() else { return Ok(()) };
            tx.put(Space::Policy, &key(TEXT, current), &bytes)?;
        }
        tx.put(Space::Policy, &used, day.as_bytes())
    }

    /// The current rules together with the versions that a session has seen.
    fn rules(&self, engine: &PolicyEngine, seen: &[Digest]) -> Result<Arc<Rules>, String> {
        if let Some((_, rules)) = locked(&self.ready).iter().find(|(digests, _)| digests == seen) {
            return Ok(Arc::clone(rules));
        }
        let current = engine.inner.current;
        let others = seen.iter().filter(|digest| **digest != current);
        let versions = others.map(|digest| self.version(engine, *digest)).collect::<Result<Vec<_>, _>>()?;
        let rules = engine.rules.with(current, seen, &versions).map_err(|error| error.to_string())?;
        let rules = Arc::new(rules);
        let mut ready = locked(&self.ready);
        if ready.len() >= READY {
            ready.clear();
        }
        ready.push((seen.to_vec(), Arc::clone(&rules)));
        Ok(rules)
    }

    fn version(&self, engine: &PolicyEngine, digest: Digest) -> Result<Arc<PolicyVersion>, String> {
        if let Some(known) = locked(&self.read).iter().find(|known| known.digest == digest) {
            return Ok(Arc::clone(known));
        }
        let kept = engine.inner.store.view(|view| view.get(Space::Policy, &key(TEXT, digest)));
        let kept = kept.map_err(|error| error.to_string())?.ok_or("it is not in the store any more")?;
        let version = Arc::new(self.codec.decode(digest, &kept)?);
        locked(&self.read).push(Arc::clone(&version));
        Ok(version)
    }
}

fn key(word: &str, digest: Digest) -> Vec<u8> {
    format!("{word}{digest}").into_bytes()
}

/// Nothing is left half done under these locks.
fn locked<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the versions under which no session has begun for a long time.
pub(super) fn forget_unused(tx: &mut dyn Transaction, now: Timestamp) -> Result<(), StoreError> {
    for (used, day) in tx.scan(Space::Policy, &Keys::prefix(USED))? {
        let day = std::str::from_utf8(&day).ok().and_then(|day| day.parse::<i64>().ok());
        if day.is_some_and(|day| now.0.saturating_sub(day.saturating_mul(DAY)) < KEPT) {
            continue;
        }
        let digest = used.get(USED.len()..).unwrap_or_default();
        tx.delete(Space::Policy, &[TEXT.as_bytes(), digest].concat())?;
        tx.delete(Space::Policy, &used)?;
    }
    Ok(())
}

/// The verdict when a version that a session needs is lost.
pub(super) fn lost(why: &str) -> Verdict {
    Verdict::error(
        format!(
            "the policy has changed, and the version that this session began under cannot be read: {why}"
        ),
        "a person can let this session go on under the current policy with `lictor session refresh`, or start a new one",
    )
}

impl PolicyEngine {
    /// This engine with the rules of this session: the current ones, and those of the other versions that it has
    /// seen.
    ///
    /// # Errors
    /// When the session or one of its versions cannot be read.
    pub fn for_session(&self, session: &SessionKey, parent: Option<&SessionKey>) -> Result<Self, StoreError> {
        let load = |view: &dyn lictor_store::View| {
            Lineage::load_session(view, Some(session.clone()), parent.cloned())
        };
        let lineage = self.inner.store.view(load)?;
        match self.with_seen(&lineage) {
            None => Ok(self.clone()),
            Some(engine) => engine.map_err(|why| StoreError::other(lost(&why).reason())),
        }
    }

    /// Whether these sessions have seen versions that the rules do not include.
    pub(super) fn has_more_rules(&self, sessions: &Lineage) -> bool {
        let same = |seen: Vec<Digest>| seen.iter().all(|policy| *policy == self.inner.current);
        self.inner.versions.is_some() && !self.rules.follows && !sessions.policies().is_some_and(same)
    }

    /// This engine with the rules of these sessions, if they need more than the current ones.
    pub(super) fn with_seen(&self, sessions: &Lineage) -> Option<Result<Self, String>> {
        let versions = self.inner.versions.as_ref().filter(|_| self.has_more_rules(sessions))?;
        let seen =
            sessions.policies().ok_or_else(|| format!("it has changed more than {POLICIES_KEPT} times"));
        let rules = seen.and_then(|seen| versions.rules(self, &seen));
        Some(rules.map(|rules| Self { inner: Arc::clone(&self.inner), rules }))
    }

    pub(super) fn keep_version(&self, tx: &mut dyn Transaction, now: Timestamp) -> Result<(), StoreError> {
        let versions = self.inner.versions.as_ref();
        versions.map_or(Ok(()), |versions| versions.keep(tx, self.inner.current, now))
    }

    /// Whether one of the sessions has not seen the current policy yet.
    pub(super) fn is_news(&self, sessions: &Lineage) -> bool {
        self.inner.versions.is_some() && sessions.begun().any(|(_, _, state)| self.is_news_to(state))
    }

    fn is_news_to(&self, state: &SessionState) -> bool {
        state.policy_now.or(state.policy) != Some(self.inner.current)
    }

    /// Records in the sessions that the policy has changed.
    pub(super) fn notice(&self, action: &Action) -> Result<Lineage, StoreError> {
        let now = self.inner.clock.now();
        let policy = self.inner.current;
        self.inner.store.update(Durability::Process, |tx| {
            self.keep_version(tx, now)?;
            let mut lineage = Lineage::load(tx, action)?;
            let told = match lineage.root() {
                Some(root) if self.rules.recalls => recall::retold(tx, root, &self.rules.history)?,
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
                let mut journal = Journal::new(tx, Some(&key), now, &*self.rules.redactor);
                journal.happening(kind::POLICY_CHANGED, &event)?;
                lineage.apply_to(index, &event, now);
            }
            lineage.save(tx)?;
            Ok(lineage)
        })
    }

    /// Applies the engine's policy, on behalf of a person, to a session that began under another one, to its
    /// parents and to all their subagents.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn refresh(&self, session: &SessionKey) -> Result<SessionState, StoreError> {
        let now = self.inner.clock.now();
        let policy = self.inner.current;
        self.inner.store.update(Durability::Power, |tx| {
            // The session has only this policy from now on: when the files change again, it must be in the store.
            self.keep_version(tx, now)?;
            let lineage = Lineage::load_session(tx, Some(session.clone()), None)?;
            let Some(root) = lineage.root().cloned() else { return sessions::read(tx, session) };
            let told = recall::retold(tx, &root, &self.rules.history)?;
            let mut keys = recall::below(&told, &root);
            keys.extend(lineage.begun().map(|(_, key, _)| key.clone()));
            for key in keys {
                let mut lineage = Lineage::load_session(tx, Some(key.clone()), None)?;
                let Some(own) = lineage.own().filter(|own| own.policy.is_some()) else { continue };
                let recalled = told.get(&key).map(|told| Box::new(Recalled::from(told, own.past.position)));
                let event = SessionEvent::Refreshed { policy, recalled };
                let mut journal = Journal::new(tx, Some(&key), now, &*self.rules.redactor);
                journal.happening(kind::SESSION_REFRESHED, &event)?;
                lineage.apply(&event, now);
                lineage.save(tx)?;
            }
            sessions::read(tx, session)
        })
    }
}
