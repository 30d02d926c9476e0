//! Tracks the edits of a session: restoring a file that only the session has changed loses nothing else.

use lictor_core::session::{Blob, FileState};
use lictor_core::{Action, ActionKind, Facts, SessionKey};
use lictor_observe::{self as observe, OwnEdits, RealObserver};
use lictor_store::{Store, StoreExt as _};

use super::{PolicyEngine, rules::Sight, sessions, sessions::Lineage};

/// Whether an action may be an edit that a session tracks.
pub(super) fn may_edit(action: &Action) -> bool {
    action.kind == ActionKind::Write && action.session.is_some()
}

/// The edits of a session and its lineage, read lazily.
pub(super) struct StoredEdits<'a> {
    store: &'a dyn Store,
    root: Option<&'a SessionKey>,
}

impl OwnEdits for StoredEdits<'_> {
    fn contents(&self, path: &str) -> Vec<Blob> {
        let Some(root) = self.root else { return Vec::new() };
        self.store.view(|view| Ok(sessions::contents(view, root, path))).unwrap_or_default()
    }
}

impl PolicyEngine {
    /// The edits of this session and its lineage.
    pub(super) fn edits_of<'a>(&'a self, sessions: &'a Lineage) -> StoredEdits<'a> {
        StoredEdits { store: &*self.inner.store, root: sessions.seen().and(sessions.root()) }
    }

    /// The contents of the files that an action edits. Empty for a fact source that does not read files.
    pub(super) fn edited(&self, action: &Action, facts: &Facts) -> Vec<FileState> {
        let looks = matches!(self.rules.sight, Sight::Project { .. });
        if looks && may_edit(action) { observe::edited(action, facts, &RealObserver) } else { Vec::new() }
    }
}
