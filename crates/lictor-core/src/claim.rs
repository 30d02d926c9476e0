//! What a pass depends on in the session, so that it can be checked again at the moment it is recorded.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::session::SessionState;

/// One condition on the state of a session that a guard has relied on.
///
/// Guards judge a snapshot. By the time their judgement is recorded, another action of the same session may have
/// taken the last place; the engine then checks every claim again, alone with the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Uses so much of a budget. Reserved when the action is allowed, settled when its outcome is known.
    Spend {
        /// The budget's name.
        budget: String,
        /// How much.
        amount: u64,
        /// How much there is in all. Exactly this much may be used; 0 is nothing.
        limit: u64,
    },
    /// One more action that is not blocked.
    Actions {
        /// The most in one session.
        at_most: u64,
    },
    /// One more task that is not blocked.
    Tasks {
        /// The most in one session.
        at_most: u64,
    },
    /// One more action within the last minute.
    Pace {
        /// The most in one minute.
        per_minute: u64,
    },
    /// One more action of a streak.
    Streak {
        /// The tag.
        tag: String,
        /// The longest streak that is allowed.
        at_most: u32,
    },
}

impl Claim {
    /// Whether it holds in that state.
    #[must_use]
    pub fn holds(&self, state: &SessionState, now: Timestamp) -> bool {
        match self {
            Self::Spend { budget, amount, limit } => {
                state.used(budget).checked_add(*amount).is_some_and(|used| used <= *limit)
            }
            Self::Actions { at_most } => state.unblocked_count() < *at_most,
            Self::Tasks { at_most } => state.task_count < *at_most,
            Self::Pace { per_minute } => state.allowed_in_last_minute(now) < *per_minute,
            Self::Streak { tag, at_most } => state.streak(tag) < *at_most,
        }
    }

    /// What is said when it held at first and not any more.
    #[must_use]
    pub fn lost(&self) -> String {
        match self {
            Self::Spend { budget, limit, .. } => {
                format!("the budget `{budget}` of {limit} was used up by another action at the same time")
            }
            Self::Actions { at_most } => {
                format!("another action at the same time was the last of {at_most} actions")
            }
            Self::Tasks { at_most } => {
                format!("another action at the same time was the last of {at_most} tasks")
            }
            Self::Pace { per_minute } => {
                format!("another action at the same time was the last of {per_minute} a minute")
            }
            Self::Streak { tag, at_most } => {
                format!("another action at the same time was the last of {at_most} `{tag}` in a row")
            }
        }
    }
}
