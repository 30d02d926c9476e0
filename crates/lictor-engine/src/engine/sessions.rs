//! A session and its parents, as stored.

use std::collections::BTreeSet;

use lictor_core::session::{Blob, Edits, FileState};
use lictor_core::tools::{Group, NotAGroup};
use lictor_core::{Action, Claim, Digest, SessionEvent, SessionKey, SessionState, Timestamp};
use lictor_store::{Keys, Space, StoreError, Transaction, View};

use super::recent::{Recent, Stored};
use crate::log;

/// Deeper delegation is refused: no agent needs it, and a loop in the data must end.
const MAX_LINEAGE: usize = 16;

/// The sessions that an action counts for: its own first, then its parent, and so on to the root.
pub(super) struct Lineage {
    keys: Vec<SessionKey>,
    states: Vec<SessionState>,
    /// The stored bytes of each state when it was read; `None` once the state has changed.
    stored: Vec<Option<Vec<u8>>>,
    /// The account of the tenant, if there is one, and its stored bytes. It counts what all accounts of people do.
    tenant: Option<TenantState>,
    /// The action names its session.
    named: bool,
}

impl Lineage {
    pub(super) fn load(view: &(impl View + ?Sized), action: &Action) -> Result<Self, StoreError> {
        Self::load_again(view, action, None)
    }

    /// As [`load`](Self::load), using the cache of states that this process stored.
    pub(super) fn load_remembered(
        view: &(impl View + ?Sized),
        action: &Action,
        recent: &Recent,
    ) -> Result<Self, StoreError> {
        Self::load_known(view, action.session.clone(), action.parent_session.clone(), |key, stored| {
            recent.take(key, stored)
        })
    }

    /// As [`load`](Self::load), reusing states that were loaded before: a state whose stored bytes are unchanged
    /// is not parsed again, which is most of the cost. The reused states are moved out.
    pub(super) fn load_again(
        view: &(impl View + ?Sized),
        action: &Action,
        mut before: Option<&mut Self>,
    ) -> Result<Self, StoreError> {
        Self::load_known(view, action.session.clone(), action.parent_session.clone(), |key, stored| {
            before.as_mut()?.give(key, stored)
        })
    }

    pub(super) fn load_session(
        view: &(impl View + ?Sized),
        session: Option<SessionKey>,
        parent: Option<SessionKey>,
    ) -> Result<Self, StoreError> {
        Self::load_known(view, session, parent, |_, _| None)
    }

    fn load_known(
        view: &(impl View + ?Sized),
        session: Option<SessionKey>,
        mut parent: Option<SessionKey>,
        mut known: impl FnMut(&SessionKey, &[u8]) -> Option<SessionState>,
    ) -> Result<Self, StoreError> {
        let named = session.is_some();
        let mut lineage =
            Self { keys: Vec::new(), states: Vec::new(), stored: Vec::new(), tenant: None, named };
        let mut key = session.unwrap_or_else(log::anonymous);
        loop {
            let stored = view.get(Space::Session, &stored_key(&key))?;
            let remembered = stored.as_deref().and_then(|stored| known(&key, stored));
            let state = remembered.map_or_else(|| state_of(&key, stored.as_deref()), Ok)?;
            // The parent is fixed by the first event of a session; later claims are ignored.
            let claimed = parent.take();
            let above = if state.started.is_some() { state.parent.clone() } else { claimed };
            let top = key.is_account();
            lineage.keys.push(key);
            lineage.states.push(state);
            lineage.stored.push(stored);
            let Some(above) = above.filter(|_| named) else {
                if top {
                    lineage.tenant = read_tenant(view, &mut known)?;
                }
                lineage.inherit();
                return Ok(lineage);
            };
            if lineage.keys.contains(&above) {
                return Err(StoreError::other(format!("session `{above}` is among its own parents")));
            }
            if lineage.keys.len() >= MAX_LINEAGE {
                let why = format!("the session is more than {MAX_LINEAGE} agents below its root");
                return Err(StoreError::other(why));
            }
            key = above;
        }
    }

    /// The state of a session, if these are its stored bytes.
    fn give(&mut self, key: &SessionKey, stored: &[u8]) -> Option<SessionState> {
        let Some(at) = self.keys.iter().position(|known| known == key) else {
            let (state, before) = self.tenant.as_mut().filter(|_| *key == SessionKey::tenant_account())?;
            return (before.as_deref() == Some(stored)).then(|| std::mem::take(state));
        };
        let same = self.stored.get(at).is_some_and(|before| before.as_deref() == Some(stored));
        self.states.get_mut(at).filter(|_| same).map(std::mem::take)
    }

    /// Whether both have the same sessions with the same stored bytes.
    pub(super) fn is_stored_as(&self, other: &Self) -> bool {
        let same_tenant = match (&self.tenant, &other.tenant) {
            (Some((_, one)), Some((_, two))) => one == two,
            (one, two) => one.is_none() && two.is_none(),
        };
        self.keys == other.keys && self.stored == other.stored && same_tenant
    }

    /// A new session has its parent's scope already when its first action is judged.
    fn inherit(&mut self) {
        if self.is_new()
            && let [own, parent, ..] = self.states.as_mut_slice()
        {
            own.scope.clone_from(&parent.scope);
        }
    }

    /// The action's own session.
    pub(super) fn own(&self) -> Option<&SessionState> {
        self.states.first()
    }

    /// The session as guards see it: actions without a session share no state.
    pub(super) fn seen(&self) -> Option<&SessionState> {
        self.states.first().filter(|_| self.named)
    }

    /// The same, consuming the lineage.
    pub(super) fn into_seen(self) -> Option<SessionState> {
        self.states.into_iter().next().filter(|_| self.named)
    }

    /// The sessions above, the parent's first.
    pub(super) fn above(&self) -> &[SessionState] {
        self.states.get(1..).unwrap_or_default()
    }

    /// The account of the tenant, if there is one.
    pub(super) fn tenant(&self) -> Option<&SessionState> {
        self.tenant.as_ref().map(|(state, _)| state)
    }

    /// Creates the account of the tenant. Only sessions below an account belong to a tenant.
    pub(super) fn keep_tenant(&mut self) {
        if self.tenant.is_none() && self.named && self.root().is_some_and(SessionKey::is_account) {
            self.tenant = Some((SessionState::default(), None));
        }
    }

    /// The key of the session above.
    pub(super) fn parent(&self) -> Option<&SessionKey> {
        self.keys.get(1)
    }

    /// The policy of the root's first event, so that a refresh there applies to all sessions below.
    pub(super) fn began_under(&self) -> Option<Digest> {
        self.states.iter().rev().find_map(|state| state.policy).filter(|_| self.named)
    }

    /// All policies that apply: those that the root has seen. `None` if they are not all known; empty while no
    /// session has begun.
    pub(super) fn policies(&self) -> Option<Vec<Digest>> {
        let root = self.states.iter().rev().find(|state| state.policy.is_some()).filter(|_| self.named);
        root.map_or_else(|| Some(Vec::new()), SessionState::policies)
    }

    /// The sessions that have begun, the action's own first.
    pub(super) fn begun(&self) -> impl Iterator<Item = (usize, &SessionKey, &SessionState)> {
        let all = self.keys.iter().zip(&self.states).enumerate();
        all.map(|(index, (key, state))| (index, key, state))
            .filter(|(_, _, state)| self.named && state.policy.is_some())
    }

    /// The key of the session above all others.
    pub(super) fn root(&self) -> Option<&SessionKey> {
        self.keys.last()
    }

    /// Whether the session has had no event yet.
    pub(super) fn is_new(&self) -> bool {
        self.named && self.own().is_some_and(|own| own.started.is_none())
    }

    /// Whether a claim holds in all of them.
    pub(super) fn grants(&self, claim: &Claim, now: Timestamp) -> bool {
        let tenant = self.tenant().filter(|_| claim.is_of_tenant());
        !self.named || self.states.iter().chain(tenant).all(|state| claim.holds(state, now))
    }

    /// Applies one event to all of them.
    pub(super) fn apply(&mut self, event: &SessionEvent, at: Timestamp) {
        self.apply_to(0, event, at);
    }

    /// Applies an event of the session at this index, and to its parents.
    pub(super) fn apply_to(&mut self, index: usize, event: &SessionEvent, at: Timestamp) {
        self.stored.iter_mut().skip(index).for_each(|stored| *stored = None);
        let mut states = self.states.iter_mut().skip(index);
        if let Some(own) = states.next() {
            own.apply(event, at);
        }
        states.for_each(|above| above.apply_below(event, at));
        if let Some((state, stored)) = &mut self.tenant {
            *stored = None;
            state.tally(event, at);
        }
    }

    /// The action's own session as guards see it, with its knowledge of these files.
    pub(super) fn seen_with<'a>(
        &self,
        view: &(impl View + ?Sized),
        paths: impl Iterator<Item = &'a str>,
    ) -> Result<Option<SessionState>, StoreError> {
        let (Some(key), Some(own)) = (self.keys.first(), self.seen()) else { return Ok(None) };
        let mut own = own.clone();
        know(view, key, &mut own, &groups(paths))?;
        Ok(Some(own))
    }

    /// Loads the known-files groups that this event will change, for all sessions.
    pub(super) fn know<'a>(
        &mut self,
        view: &(impl View + ?Sized),
        paths: impl Iterator<Item = &'a str>,
    ) -> Result<(), StoreError> {
        let groups = groups(paths);
        let mut sessions = self.keys.iter().zip(&mut self.states);
        sessions.try_for_each(|(key, state)| know(view, key, state, &groups))
    }

    /// Loads the edit groups of edited files. They are stored in the root session.
    pub(super) fn know_edits(
        &mut self,
        view: &(impl View + ?Sized),
        files: &[FileState],
    ) -> Result<(), StoreError> {
        if files.is_empty() {
            return Ok(());
        }
        let (Some(key), Some(root)) = (self.keys.last(), self.states.last_mut()) else { return Ok(()) };
        let groups = groups(files.iter().map(|file| file.path.as_str()));
        groups.into_iter().try_for_each(|group| know_edits(view, key, &mut root.edits, group))
    }

    /// Writes the sessions. Of the known-files groups, only those that were read or are new are written.
    pub(super) fn save(&mut self, tx: &mut dyn Transaction) -> Result<(), StoreError> {
        for ((key, state), stored) in self.keys.iter().zip(&mut self.states).zip(&mut self.stored) {
            let files = std::mem::take(&mut state.files);
            let value = state.to_bytes().map_err(StoreError::other)?;
            tx.put(Space::Session, &stored_key(key), &value)?;
            *stored = Some(value);
            for (group, text) in files.groups() {
                tx.put(Space::Session, &files_key(key, &group.to_string()), text.as_bytes())?;
            }
            state.files = files;
            for (group, bytes) in state.edits.changed() {
                tx.put(Space::Session, &edits_key(key, group), &bytes)?;
            }
        }
        if let Some((state, stored)) = &mut self.tenant {
            let value = state.to_bytes().map_err(StoreError::other)?;
            tx.put(Space::Session, &stored_key(&SessionKey::tenant_account()), &value)?;
            *stored = Some(value);
        }
        Ok(())
    }

    /// The sessions as saved, to be cached after the commit.
    pub(super) fn saved(&mut self) -> Vec<(SessionKey, Stored)> {
        let sessions = self.keys.iter().zip(&mut self.states).zip(&mut self.stored);
        let saved = |((key, state), stored): ((&SessionKey, &mut SessionState), &mut Option<Vec<u8>>)| {
            let bytes = stored.take()?;
            // The known files are stored separately.
            let (files, edits) = (std::mem::take(&mut state.files), std::mem::take(&mut state.edits));
            let alone = state.clone();
            (state.files, state.edits) = (files, edits);
            Some((key.clone(), Stored { bytes, state: alone }))
        };
        let tenant = self.tenant.as_mut().and_then(|(state, stored)| {
            Some((SessionKey::tenant_account(), Stored { bytes: stored.take()?, state: state.clone() }))
        });
        sessions.filter_map(saved).chain(tenant).collect()
    }
}

/// The state of the tenant's account, and the bytes it was read from.
type TenantState = (SessionState, Option<Vec<u8>>);

/// The account of the tenant, if there is one.
fn read_tenant(
    view: &(impl View + ?Sized),
    known: &mut impl FnMut(&SessionKey, &[u8]) -> Option<SessionState>,
) -> Result<Option<TenantState>, StoreError> {
    let key = SessionKey::tenant_account();
    let Some(stored) = view.get(Space::Session, &stored_key(&key))? else { return Ok(None) };
    let state = known(&key, &stored).map_or_else(|| state_of(&key, Some(&stored)), Ok)?;
    Ok(Some((state, Some(stored))))
}

/// The state of one session; empty if it is unknown.
pub(super) fn read(view: &(impl View + ?Sized), key: &SessionKey) -> Result<SessionState, StoreError> {
    let mut state = state_of(key, view.get(Space::Session, &stored_key(key))?.as_deref())?;
    let prefix = files_key(key, "");
    for (stored, text) in view.scan(Space::Session, &Keys::prefix(prefix.clone()))? {
        let group =
            stored.get(prefix.len()..).and_then(|group| std::str::from_utf8(group).ok()?.parse().ok());
        let group = group.ok_or_else(|| damaged(key, NotAGroup))?;
        restore(&mut state, key, group, text)?;
    }
    Ok(state)
}

/// Forgets the files that a session knows.
pub(super) fn forget_files(tx: &mut dyn Transaction, key: &SessionKey) -> Result<(), StoreError> {
    for (stored, _) in tx.scan(Space::Session, &Keys::prefix(files_key(key, "")).limit(usize::MAX))? {
        tx.delete(Space::Session, &stored)?;
    }
    Ok(())
}

/// The successive contents of a file in a session and its subagents.
pub(super) fn contents(view: &(impl View + ?Sized), root: &SessionKey, path: &str) -> Vec<Blob> {
    let mut edits = Edits::default();
    // If the entry cannot be read, the edits do not count as the session's own.
    let known = know_edits(view, root, &mut edits, Group::of(path)).is_ok();
    if known { edits.contents(path).to_vec() } else { Vec::new() }
}

/// The state of one session without its known files. Only those grow with the session, and an event concerns few
/// of them.
fn state_of(key: &SessionKey, stored: Option<&[u8]>) -> Result<SessionState, StoreError> {
    match stored {
        None => Ok(SessionState::default()),
        Some(value) => SessionState::from_bytes(value).map_err(|error| damaged(key, error)),
    }
}

fn groups<'a>(paths: impl Iterator<Item = &'a str>) -> BTreeSet<Group> {
    paths.map(Group::of).collect()
}

fn know(
    view: &(impl View + ?Sized),
    key: &SessionKey,
    state: &mut SessionState,
    groups: &BTreeSet<Group>,
) -> Result<(), StoreError> {
    for group in groups {
        if let Some(text) = view.get(Space::Session, &files_key(key, &group.to_string()))? {
            restore(state, key, *group, text)?;
        }
    }
    Ok(())
}

fn know_edits(
    view: &(impl View + ?Sized),
    key: &SessionKey,
    edits: &mut Edits,
    group: Group,
) -> Result<(), StoreError> {
    match view.get(Space::Session, &edits_key(key, group))? {
        Some(bytes) => edits.restore(group, &bytes).map_err(|error| damaged(key, error)),
        None => Ok(()),
    }
}

fn restore(
    state: &mut SessionState,
    key: &SessionKey,
    group: Group,
    text: Vec<u8>,
) -> Result<(), StoreError> {
    let text = String::from_utf8(text).map_err(|error| damaged(key, error))?;
    state.files.restore(group, text).map_err(|error| damaged(key, error))
}

fn damaged(key: &SessionKey, error: impl std::fmt::Display) -> StoreError {
    StoreError::other(format!("the state of session `{key}` is damaged: {error}"))
}

/// The length prefix distinguishes (`a`, `bc`) from (`ab`, `c`).
fn stored_key(key: &SessionKey) -> Vec<u8> {
    format!("{}:{}{}", key.agent.len(), key.agent, key.id).into_bytes()
}

/// The key of a group of known files. The key of a state begins with a number.
fn files_key(key: &SessionKey, group: &str) -> Vec<u8> {
    let SessionKey { agent, id } = key;
    format!("files:{}:{}:{agent}{id}{group}", agent.len(), id.len()).into_bytes()
}

/// The key of a group of edited files.
fn edits_key(key: &SessionKey, group: Group) -> Vec<u8> {
    let SessionKey { agent, id } = key;
    format!("edits:{}:{}:{agent}{id}{group}", agent.len(), id.len()).into_bytes()
}
