//! What a person is asked, what they answer, and what an answer allows: exactly that action, in that session,
//! under that policy.

mod answer;
mod grant;

pub use answer::Answer;
pub(crate) use answer::all_yes;
pub use grant::{Grant, Lifetime, Mismatch, Request};

use serde::{Deserialize, Serialize};

use crate::action::SessionKey;
use crate::clock::Timestamp;
use crate::evaluation::Evaluation;

/// One point that needs a person's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The guard that asks.
    pub guard: String,
    /// Where it stands in the graph.
    pub path: String,
    /// Its rule or policy, when it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What it asks.
    pub message: String,
}

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// What people type. The same question about the same action has the same id.
    pub id: String,
    /// What would be allowed.
    pub request: Request,
    /// Every point that needs a yes, in order.
    pub asked: Vec<Point>,
    /// When it was first asked.
    pub requested_at: Timestamp,
    /// When the question lapses.
    pub expires: Timestamp,
    /// How it stands.
    pub state: ApprovalState,
}

/// How a question stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ApprovalState {
    /// Nobody has answered.
    Pending,
    /// Somebody said yes; the grant of the same id carries it.
    Granted(Who),
    /// Somebody said no. Asking again before it lapses is refused with the same answer.
    Denied {
        /// Who.
        #[serde(flatten)]
        who: Who,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The action happened: whoever was asked elsewhere, in the agent's own prompt, has answered.
    Elsewhere,
}

/// Who answered, when, and through what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Who {
    /// The person, as the system knows them.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// Through what: `cli`, `server`, ….
    pub from: String,
}

impl Approval {
    /// The question that an evaluation leaves open.
    #[must_use]
    pub fn of(
        evaluation: &Evaluation,
        session: Option<SessionKey>,
        now: Timestamp,
        lifetime_ms: i64,
    ) -> Self {
        let request = Request { action: evaluation.action, session, policy: evaluation.policy };
        Self {
            id: request.id(),
            request,
            asked: evaluation.pending().collect(),
            requested_at: now,
            expires: now.plus_millis(lifetime_ms),
            state: ApprovalState::Pending,
        }
    }

    /// Whether it still waits for an answer.
    #[must_use]
    pub fn is_pending(&self, now: Timestamp) -> bool {
        self.state == ApprovalState::Pending && now < self.expires
    }

    /// The grant that a yes to all of it makes.
    #[must_use]
    pub fn grant(&self, who: Who, lifetime: Lifetime, expires: Timestamp) -> Grant {
        Grant { request: self.request.clone(), asked: self.asked.clone(), lifetime, expires, who }
    }
}

#[cfg(test)]
mod tests;
