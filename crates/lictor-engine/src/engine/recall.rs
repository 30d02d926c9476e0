//! Rebuilds the history for a policy whose patterns differ from those under which it was recorded.

use std::collections::{BTreeMap, BTreeSet};

use lictor_core::history::History;
use lictor_core::{SessionKey, SessionState};
use lictor_store::{Query, StoreError, View};

use crate::log::Fold;

/// How many of the newest records are replayed: a hook has to answer in time.
const TOLD_AGAIN: u64 = 20_000;
/// How many are held in memory at once.
const AT_ONCE: usize = 256;

/// The sessions since this root began, folded from the log with the marks of this history. Empty if the history
/// has no patterns.
pub(super) fn retold(
    view: &(impl View + ?Sized),
    root: &SessionKey,
    history: &History,
) -> Result<BTreeMap<SessionKey, SessionState>, StoreError> {
    let mut fold = Fold::default();
    if history.is_empty() {
        return Ok(fold.states);
    }
    let first = view.records(&Query::all().session(root.clone()).limit(1))?;
    let first = first.first().map_or(0, |record| record.seq.saturating_sub(1));
    let mut after = first.max(view.head()?.seq.saturating_sub(TOLD_AGAIN));
    loop {
        let records = view.records(&Query::all().after(after).limit(AT_ONCE))?;
        let Some(last) = records.last() else { return Ok(fold.states) };
        after = last.seq;
        records.iter().for_each(|record| fold.retell(record, history));
    }
}

/// The sessions that began below that one.
pub(super) fn below(states: &BTreeMap<SessionKey, SessionState>, root: &SessionKey) -> BTreeSet<SessionKey> {
    let parent = |key: &SessionKey| states.get(key).and_then(|state| state.parent.clone());
    // A loop in the data must end.
    let lineage = |key: &SessionKey| std::iter::successors(parent(key), |key| parent(key)).take(states.len());
    states.keys().filter(|key| lineage(key).any(|above| above == *root)).cloned().collect()
}
