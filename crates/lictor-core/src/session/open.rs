use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::SessionState;
use crate::clock::Timestamp;
use crate::decision::Decision;
use crate::digest::Digest;
use crate::event::Judgement;
use crate::history::Mark;

/// How many judged actions wait for their outcome before the oldest is dropped.
pub const OPEN_KEPT: usize = 32;
/// How many of them may be blocked actions, whose outcome should never arrive. Large enough for the calls that
/// agents start at once, so that each is recognised as blocked if it happens anyway.
pub const BLOCKED_KEPT: usize = 8;
/// The longest call id that is stored verbatim. A longer one, or one that would need escaping, is stored as its
/// digest.
const ID_LENGTH: usize = 64;
/// A repeated call from another dialect within this time is the same call.
const SAME_CALL_MS: i64 = 2_000;

/// A judged action whose outcome has not been seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// The digest of the action.
    pub action: Digest,
    /// The agent's id for the call.
    pub tool_use_id: Option<String>,
    /// The decision.
    pub decision: Decision,
    /// The decision was not enforced.
    pub observed: bool,
    /// The dialect through which it was seen.
    pub dialect: Option<String>,
    /// The time.
    pub at: Timestamp,
    /// Its position among the session's actions.
    pub position: u64,
    /// Patterns of the policy that it matches.
    #[serde(with = "crate::history::marks")]
    pub marks: Vec<Mark>,
    /// Its reservations.
    pub spends: BTreeMap<String, u64>,
}

impl Open {
    pub(super) fn of(judgement: &Judgement, position: u64, at: Timestamp) -> Self {
        Self {
            action: judgement.action,
            tool_use_id: judgement.tool_use_id.as_deref().map(|id| short(id).into_owned()),
            decision: judgement.decision,
            observed: judgement.observed,
            dialect: judgement.dialect.clone(),
            at,
            position,
            marks: judgement.marks.clone(),
            spends: if judgement.may_happen() { judgement.spends.clone() } else { BTreeMap::new() },
        }
    }

    /// Whether it was blocked, and the block enforced.
    pub(super) fn is_blocked(&self) -> bool {
        self.decision == Decision::Block && !self.observed
    }
}

/// An id that fits into the state.
fn short(id: &str) -> Cow<'_, str> {
    let plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if id.len() <= ID_LENGTH && id.bytes().all(plain) {
        Cow::Borrowed(id)
    } else {
        Cow::Owned(Digest::of(id.as_bytes()).to_string())
    }
}

/// Appends an entry. Returns the dropped entries that may still be running.
pub(super) fn push(queue: &mut VecDeque<Open>, open: Open) -> impl Iterator<Item = Open> {
    queue.push_back(open);
    let mut over = queue.iter().filter(|open| open.is_blocked()).count().saturating_sub(BLOCKED_KEPT);
    if over > 0 {
        queue.retain(|open| {
            let goes = over > 0 && open.is_blocked();
            over -= usize::from(goes);
            !goes
        });
    }
    queue.drain(..queue.len().saturating_sub(OPEN_KEPT))
}

/// The newest open entry of the call, or of the action when the call has no id.
pub(super) fn find(queue: &VecDeque<Open>, action: &Digest, tool_use_id: Option<&str>) -> Option<usize> {
    let id = tool_use_id.map(short);
    let by_id = id.and_then(|id| queue.iter().rposition(|open| open.tool_use_id.as_deref() == Some(&*id)));
    by_id.or_else(|| {
        queue
            .iter()
            .rposition(|open| open.action == *action && (tool_use_id.is_none() || open.tool_use_id.is_none()))
    })
}

impl SessionState {
    /// The earlier judgement of the same call, when a second hook reports it: the same call id and action, or the
    /// same action from a different dialect within a short time.
    #[must_use]
    pub fn same_call(
        &self,
        action: &Digest,
        tool_use_id: Option<&str>,
        dialect: Option<&str>,
        now: Timestamp,
    ) -> Option<&Open> {
        let id = tool_use_id.map(short);
        self.open.iter().rev().find(|open| {
            let same_id = id.is_some() && open.tool_use_id.as_deref() == id.as_deref();
            let other_dialect = dialect.is_some()
                && open.dialect.is_some()
                && open.dialect.as_deref() != dialect
                && (0..=SAME_CALL_MS).contains(&now.millis_since(open.at));
            open.action == *action && (same_id || other_dialect)
        })
    }
}
