//! What a person is asked, what they answer, and what an answer allows: exactly that action, in that session,
//! under that policy.

mod answer;
mod grant;
mod quorum;
mod seal;

pub use answer::Answer;
pub(crate) use answer::all_yes;
pub use grant::{Grant, Lifetime, Mismatch, Pin, Request};
pub use quorum::{NoVote, Quorum};
pub use seal::{CheckSeal, Seal, Sign};

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::evaluation::Evaluation;
use crate::facts::Facts;
use crate::policy::Violation;

/// How many digits of an id people see.
const SHORT: usize = 12;

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

impl Point {
    /// Identifies it in a grant.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let rule = self.rule.as_deref();
        Digest::of_parts([
            b"lictor point 1".as_slice(),
            self.guard.as_bytes(),
            self.path.as_bytes(),
            &[u8::from(rule.is_some())],
            rule.unwrap_or_default().as_bytes(),
            self.message.as_bytes(),
        ])
    }
}

/// The action that a question is about, as the agent sent it: nothing is taken out of what a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The action.
    pub action: Action,
    /// What it would do.
    pub facts: Facts,
    /// The policies that ask, with what their checks found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
}

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// A full digest. The same question about the same action has the same id; people see and type its beginning.
    pub id: String,
    /// What would be allowed.
    pub request: Request,
    /// Every point that needs a yes, in order.
    pub asked: Vec<Point>,
    /// The files that the action would run or read, as they were when it was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<Pin>,
    /// What a person is shown. Kept only as long as the question waits, and never in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Box<Shown>>,
    /// When it was first asked.
    pub requested_at: Timestamp,
    /// When the question lapses.
    pub expires: Timestamp,
    /// How it stands.
    pub state: ApprovalState,
    /// Who has to say yes.
    #[serde(default, skip_serializing_if = "Quorum::is_anybody")]
    pub quorum: Quorum,
    /// Who said yes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub yes: Vec<Who>,
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
    /// The question that an evaluation of an action leaves open.
    #[must_use]
    pub fn of(
        evaluation: &Evaluation,
        action: &Action,
        facts: &Facts,
        pins: Vec<Pin>,
        now: Timestamp,
        lifetime_ms: i64,
    ) -> Self {
        let request =
            Request { action: evaluation.action, session: action.session.clone(), policy: evaluation.policy };
        let (action, facts, violations) = (action.clone(), facts.clone(), evaluation.violations.clone());
        Self {
            id: request.id(),
            request,
            asked: evaluation.pending().collect(),
            pins,
            shown: Some(Box::new(Shown { action, facts, violations })),
            requested_at: now,
            expires: now.plus_millis(lifetime_ms),
            state: ApprovalState::Pending,
            quorum: Quorum::default(),
            yes: Vec::new(),
        }
    }

    /// What people see of its id.
    #[must_use]
    pub fn short(&self) -> &str {
        self.id.get(..SHORT).unwrap_or(&self.id)
    }

    /// Whether it is what was asked: its id stands for its request, and what is shown is the action that the request
    /// names.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let shows_it = |shown: &Shown| {
            shown.action.digest() == self.request.action && shown.action.session == self.request.session
        };
        self.id == self.request.id() && self.shown.as_deref().is_none_or(shows_it)
    }

    /// The same without what only the person who is asked may see.
    #[must_use]
    pub fn for_the_log(&self) -> Self {
        Self { shown: None, ..self.clone() }
    }

    /// The same, with who has to say yes.
    #[must_use]
    pub fn by(mut self, quorum: Quorum) -> Self {
        self.quorum = quorum;
        self
    }

    /// The person for whom the action would be done.
    #[must_use]
    pub fn own(&self) -> Option<&str> {
        self.shown.as_deref()?.action.actor.user.as_deref()
    }

    /// Whether it still waits for an answer.
    #[must_use]
    pub fn is_pending(&self, now: Timestamp) -> bool {
        self.state == ApprovalState::Pending && now < self.expires
    }

    /// The grant that a yes to all of it makes. `after` is the end of the log when it was given.
    #[must_use]
    pub fn grant(&self, who: Who, lifetime: Lifetime, expires: Timestamp, after: u64) -> Grant {
        Grant {
            request: self.request.clone(),
            asked: self.asked.iter().map(Point::digest).collect(),
            pins: self.pins.clone(),
            lifetime,
            expires,
            who,
            after,
            seal: None,
        }
    }
}

#[cfg(test)]
mod tests;
