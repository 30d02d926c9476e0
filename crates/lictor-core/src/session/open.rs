use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::SessionState;
use crate::clock::Timestamp;
use crate::decision::Decision;
use crate::digest::Digest;
use crate::event::Judgement;
use crate::history::Mark;

/// A call that comes again from another dialect within this time is the same call.
const SAME_CALL_MS: i64 = 2_000;

/// A judged action whose outcome has not been seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// What it was.
    pub action: Digest,
    /// The agent's id for the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// What was decided.
    pub decision: Decision,
    /// The decision was not enforced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observed: bool,
    /// The dialect through which it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// When.
    #[serde(default)]
    pub at: Timestamp,
    /// Where it stands among the session's actions.
    #[serde(default)]
    pub position: u64,
    /// Patterns of the policy that it matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// What is reserved for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spends: BTreeMap<String, u64>,
}

impl Open {
    pub(super) fn of(judgement: &Judgement, position: u64, at: Timestamp) -> Self {
        Self {
            action: judgement.action,
            tool_use_id: judgement.tool_use_id.clone(),
            decision: judgement.decision,
            observed: judgement.observed,
            dialect: judgement.dialect.clone(),
            at,
            position,
            marks: judgement.marks.clone(),
            spends: if judgement.may_happen() { judgement.spends.clone() } else { BTreeMap::new() },
        }
    }
}

impl SessionState {
    /// The earlier judgement of the very same call, when this one is seen through a second hook: the same call id
    /// and action, or the same action from a different dialect within a short time.
    #[must_use]
    pub fn same_call(
        &self,
        action: &Digest,
        tool_use_id: Option<&str>,
        dialect: Option<&str>,
        now: Timestamp,
    ) -> Option<&Open> {
        self.open.iter().rev().find(|open| {
            let same_id = tool_use_id.is_some() && open.tool_use_id.as_deref() == tool_use_id;
            let other_dialect = dialect.is_some()
                && open.dialect.is_some()
                && open.dialect.as_deref() != dialect
                && (0..=SAME_CALL_MS).contains(&now.millis_since(open.at));
            open.action == *action && (same_id || other_dialect)
        })
    }
}
