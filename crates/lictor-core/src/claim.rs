//! The session conditions that a pass depends on, so that they can be checked again when the pass is recorded.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::session::SessionState;

/// One condition on the session state that a guard relied on.
///
/// Guards judge a snapshot. Before their verdict is recorded, another action of the same session may have used up
/// a limit. The engine therefore checks every claim again while it holds the store's lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Uses this much of a budget. Reserved when the action is allowed, settled when its outcome is known.
    Spend {
        /// The budget's name.
        budget: String,
        /// The amount.
        amount: u64,
        /// The whole budget. Exactly this much may be used; 0 allows nothing.
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
    /// One more action in a streak of the same tag.
    Streak {
        /// The tag.
        tag: String,
        /// The longest streak that is allowed.
        at_most: u32,
    },
    /// Tokens of models, as far as they are reported.
    Tokens {
        /// From so many on nothing more is done.
        at_most: u64,
    },
    /// What models cost in millionths, as far as it is reported.
    Cost {
        /// From so much on nothing more is done.
        at_most: u64,
    },
    /// The same condition for all sessions of the tenant together.
    Tenant(Box<Claim>),
}

impl Claim {
    /// Whether the claim holds in this state.
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
            Self::Tokens { at_most } => state.usage.tokens < *at_most,
            Self::Cost { at_most } => state.usage.cost_micros < *at_most,
            Self::Tenant(claim) => claim.holds(state, now),
        }
    }

    /// Whether it has to hold in the account of the tenant too.
    #[must_use]
    pub fn is_of_tenant(&self) -> bool {
        matches!(self, Self::Tenant(_))
    }

    /// What it uses of which budget.
    #[must_use]
    pub fn spend(&self) -> Option<(&str, u64)> {
        match self {
            Self::Spend { budget, amount, .. } => Some((budget, *amount)),
            Self::Tenant(claim) => claim.spend(),
            _ => None,
        }
    }

    /// The reason that is given when a claim no longer holds.
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
            Self::Tokens { .. } => "the last tokens were used by another action at the same time".to_owned(),
            Self::Cost { .. } => "the last money was spent by another action at the same time".to_owned(),
            Self::Tenant(claim) => format!("{}, over all sessions of the tenant", claim.lost()),
        }
    }
}
