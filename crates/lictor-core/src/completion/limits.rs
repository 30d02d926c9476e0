use std::fmt;

use serde::{Deserialize, Serialize};

use super::Left;
use crate::clock::Timestamp;
use crate::session::SessionState;

/// What one session may use up. When a limit is reached, completion is no longer checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Milliseconds from the session's first event to its deadline.
    pub deadline: Option<u64>,
    /// Actions that are not blocked.
    pub max_actions: Option<u64>,
    /// Submitted tasks.
    pub max_tasks: Option<u64>,
    /// Milliseconds of the session's time budget.
    pub max_millis: Option<u64>,
    /// Tokens, as far as they are reported.
    pub max_tokens: Option<u64>,
    /// Money in millionths, as far as it is reported.
    pub max_cost_micros: Option<u64>,
}

/// Which limit is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The time.
    Deadline,
    /// The budget.
    Budget,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deadline => "the deadline has passed",
            Self::Budget => "the budget is used up",
        })
    }
}

impl Limits {
    /// Limits that are used up only when both are.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let later = |one: Option<u64>, two: Option<u64>| Some(one?.max(two?));
        Self {
            deadline: later(self.deadline, other.deadline),
            max_actions: later(self.max_actions, other.max_actions),
            max_tasks: later(self.max_tasks, other.max_tasks),
            max_millis: later(self.max_millis, other.max_millis),
            max_tokens: later(self.max_tokens, other.max_tokens),
            max_cost_micros: later(self.max_cost_micros, other.max_cost_micros),
        }
    }

    /// The same without the deadline. An account has no end, so only sessions have deadlines.
    #[must_use]
    pub fn without_time(&self) -> Self {
        Self { deadline: None, max_millis: None, ..self.clone() }
    }

    /// What is left of each limit.
    #[must_use]
    pub fn left(&self, session: &SessionState, now: Timestamp) -> Left {
        let elapsed = session.started.map_or(0, |started| now.millis_since(started).max(0).unsigned_abs());
        let rest = |limit: Option<u64>, used: u64| limit.map(|limit| limit.saturating_sub(used));
        Left {
            deadline_ms: rest(self.deadline, elapsed),
            actions: rest(self.max_actions, session.unblocked_count()),
            tasks: rest(self.max_tasks, session.task_count),
            ms: rest(self.max_millis, elapsed),
            tokens: rest(self.max_tokens, session.usage.tokens),
            cost_micros: rest(self.max_cost_micros, session.usage.cost_micros),
        }
    }

    /// Which limit is used up, if any. A value equal to its limit counts as used up.
    #[must_use]
    pub fn exhausted(&self, session: &SessionState, now: Timestamp) -> Option<Cause> {
        let elapsed = session.started.map_or(0, |started| now.millis_since(started).max(0).unsigned_abs());
        let reached = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used >= limit);
        if session.started.is_some() && reached(self.deadline, elapsed) {
            return Some(Cause::Deadline);
        }
        let actions = session.action_count.saturating_sub(session.block_count);
        let used_up = reached(self.max_actions, actions)
            || reached(self.max_tasks, session.task_count)
            || reached(self.max_tokens, session.usage.tokens)
            || reached(self.max_cost_micros, session.usage.cost_micros)
            || (session.started.is_some() && reached(self.max_millis, elapsed));
        used_up.then_some(Cause::Budget)
    }
}
