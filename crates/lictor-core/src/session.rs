//! Session state as a fold over events.
//!
//! The state is never edited: [`SessionState::apply`] is the only way it changes, and applying the same
//! events in the same order gives the same state. Everything in it is bounded.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::action::SessionKey;
use crate::clock::Timestamp;
use crate::decision::Decision;
use crate::digest::Digest;
use crate::event::{Happened, Judgement, SessionEvent, Standing};

/// How many recent actions a session remembers.
pub const RECENT_KEPT: usize = 32;
/// How many judged actions wait for their outcome before the oldest is given up as open.
pub const OPEN_KEPT: usize = 256;
/// How many different tags have a streak at once.
pub const STREAKS_KEPT: usize = 64;

/// What a session has been through so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// Actions that were judged, blocked ones included.
    pub action_count: u64,
    /// Of these, passed without remark.
    pub pass_count: u64,
    /// Passed with a remark.
    pub warn_count: u64,
    /// Asked about.
    pub ask_count: u64,
    /// Blocked.
    pub block_count: u64,
    /// Where a fallback went around a block.
    pub escalation_count: u64,
    /// Tasks that were submitted and allowed.
    pub task_count: u64,
    /// Actions that happened and succeeded.
    pub success_count: u64,
    /// Actions that happened and failed.
    pub failure_count: u64,
    /// Actions that happened without having been judged.
    pub ungoverned_count: u64,
    /// Actions that happened although they were blocked.
    pub bypass_count: u64,
    /// Consecutive judged actions that carried a tag. An action without the tag ends its streak.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub streaks: BTreeMap<String, u32>,
    /// The last few actions, oldest first.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub recent: VecDeque<Recent>,
    /// Judged actions whose outcome has not been seen, oldest first.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub open: VecDeque<Open>,
    /// Allowed actions per second over the last minute, oldest first.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub pace: VecDeque<(i64, u32)>,
    /// First event.
    pub started: Option<Timestamp>,
    /// Newest event.
    pub latest: Option<Timestamp>,
    /// The policy in force, fixed at the first event.
    pub policy: Option<Digest>,
    /// The session that started this one.
    pub parent: Option<SessionKey>,
}

/// A recent action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recent {
    /// What it was.
    pub action: Digest,
    /// Its kind.
    pub kind: String,
    /// Its tool.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// What was decided.
    pub decision: Decision,
    /// When.
    pub at: Timestamp,
}

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
}

impl SessionState {
    /// The state after one more event.
    pub fn apply(&mut self, event: &SessionEvent, at: Timestamp) {
        self.started.get_or_insert(at);
        self.latest = Some(at);
        match event {
            SessionEvent::Started { policy, parent } => {
                self.policy.get_or_insert(*policy);
                if self.parent.is_none() {
                    self.parent.clone_from(parent);
                }
            }
            SessionEvent::Judged(judgement) => self.judged(judgement, at),
            SessionEvent::Happened(happened) => self.happened(happened),
        }
    }

    fn judged(&mut self, judgement: &Judgement, at: Timestamp) {
        if judgement.dry {
            return;
        }
        self.action_count += 1;
        match judgement.decision {
            Decision::Pass => self.pass_count += 1,
            Decision::Warn => self.warn_count += 1,
            Decision::Ask => self.ask_count += 1,
            Decision::Block => self.block_count += 1,
        }
        self.escalation_count += u64::from(judgement.escalated);
        if judgement.decision.allows() {
            self.task_count += u64::from(judgement.kind == "submit_task");
            self.keep_pace(at);
        }
        self.streaks.retain(|tag, _| judgement.tags.contains(tag));
        for tag in judgement.tags.iter().take(STREAKS_KEPT) {
            let streak = self.streaks.entry(tag.clone()).or_insert(0);
            *streak = streak.saturating_add(1);
        }
        push_bounded(
            &mut self.recent,
            Recent {
                action: judgement.action,
                kind: judgement.kind.clone(),
                tool: judgement.tool.clone(),
                decision: judgement.decision,
                at,
            },
            RECENT_KEPT,
        );
        push_bounded(
            &mut self.open,
            Open {
                action: judgement.action,
                tool_use_id: judgement.tool_use_id.clone(),
                decision: judgement.decision,
                observed: judgement.observed,
            },
            OPEN_KEPT,
        );
    }

    fn happened(&mut self, happened: &Happened) {
        match happened.standing {
            Standing::Ungoverned => self.ungoverned_count += 1,
            Standing::Bypass => self.bypass_count += 1,
            Standing::Governed => {}
        }
        if happened.outcome.success {
            self.success_count += 1;
        } else {
            self.failure_count += 1;
        }
        if let Some(index) = self.find_open(&happened.action, happened.tool_use_id.as_deref()) {
            self.open.remove(index);
        }
    }

    /// How the outcome of an action stands to what was decided about it.
    #[must_use]
    pub fn standing(&self, action: &Digest, tool_use_id: Option<&str>) -> Standing {
        match self.find_open(action, tool_use_id).and_then(|index| self.open.get(index)) {
            None => Standing::Ungoverned,
            Some(open) if open.decision == Decision::Block && !open.observed => Standing::Bypass,
            Some(_) => Standing::Governed,
        }
    }

    fn find_open(&self, action: &Digest, tool_use_id: Option<&str>) -> Option<usize> {
        let by_id = tool_use_id
            .and_then(|id| self.open.iter().rposition(|open| open.tool_use_id.as_deref() == Some(id)));
        by_id.or_else(|| self.open.iter().rposition(|open| open.action == *action))
    }

    fn keep_pace(&mut self, at: Timestamp) {
        let second = at.0.div_euclid(1000);
        match self.pace.back_mut() {
            Some((last, count)) if *last == second => *count = count.saturating_add(1),
            _ => self.pace.push_back((second, 1)),
        }
        while self.pace.front().is_some_and(|(first, _)| *first <= second - 60) || self.pace.len() > 61 {
            self.pace.pop_front();
        }
    }

    /// How many actions were allowed in the minute before `now`.
    #[must_use]
    pub fn allowed_in_last_minute(&self, now: Timestamp) -> u64 {
        let second = now.0.div_euclid(1000);
        self.pace.iter().filter(|(at, _)| *at > second - 60).map(|(_, count)| u64::from(*count)).sum()
    }

    /// How many consecutive judged actions carried the tag.
    #[must_use]
    pub fn streak(&self, tag: &str) -> u32 {
        self.streaks.get(tag).copied().unwrap_or(0)
    }
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, limit: usize) {
    if queue.len() >= limit {
        queue.pop_front();
    }
    queue.push_back(item);
}
