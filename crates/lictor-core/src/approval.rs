//! Approvals: the question for a person, the answer, and what the answer allows, which is exactly this action, in
//! this session, under this policy.

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

/// How many digits of an id are shown to people.
const SHORT: usize = 12;

/// One point that needs a person's approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The guard that asks.
    pub guard: String,
    /// Its position in the graph.
    pub path: String,
    /// The rule or policy of the guard, when the guard has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The question.
    pub message: String,
}

impl Point {
    /// Identifies the point in a grant.
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

/// The action that the question is about, unredacted: the person sees it as the agent sent it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The action.
    pub action: Action,
    /// Its facts.
    pub facts: Facts,
    /// The policies that ask, with the results of their checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
}

/// A question that waits for a person's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// A full digest. The same question about the same action has the same id; people see and type a prefix of
    /// it.
    pub id: String,
    /// What the approval would allow.
    pub request: Request,
    /// Every point that needs approval, in order.
    pub asked: Vec<Point>,
    /// The files that the action would run or read, with their content at the time of the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<Pin>,
    /// What the person is shown. Kept only while the question is pending, and never in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Box<Shown>>,
    /// When it was first asked.
    pub requested_at: Timestamp,
    /// When the question expires.
    pub expires: Timestamp,
    /// The state of the question.
    pub state: ApprovalState,
    /// Who has to approve.
    #[serde(default, skip_serializing_if = "Quorum::is_anybody")]
    pub quorum: Quorum,
    /// Who has approved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub yes: Vec<Who>,
}

/// The state of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ApprovalState {
    /// Not answered.
    Pending,
    /// Approved; the grant has the same id.
    Granted(Who),
    /// Denied. Asking again before it expires gives the same answer.
    Denied {
        /// The person.
        #[serde(flatten)]
        who: Who,
        /// The reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The action happened: a person has approved it elsewhere, in the agent's own prompt.
    Elsewhere,
}

/// Who answered, when, and through which channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Who {
    /// The person, as the system knows them.
    pub by: String,
    /// The time.
    pub at: Timestamp,
    /// The channel: `cli`, `server`, ….
    pub from: String,
}

impl Approval {
    /// The question that the evaluation of an action leaves open.
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

    /// The id as it is shown to people.
    #[must_use]
    pub fn short(&self) -> &str {
        self.id.get(..SHORT).unwrap_or(&self.id)
    }

    /// Whether the approval is consistent: its id matches its request, and the action shown is the one that the
    /// request names.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let shows_it = |shown: &Shown| {
            shown.action.digest() == self.request.action && shown.action.session == self.request.session
        };
        self.id == self.request.id() && self.shown.as_deref().is_none_or(shows_it)
    }

    /// The same without the part that only the person who is asked may see.
    #[must_use]
    pub fn for_the_log(&self) -> Self {
        Self { shown: None, ..self.clone() }
    }

    /// The same with this quorum.
    #[must_use]
    pub fn by(mut self, quorum: Quorum) -> Self {
        self.quorum = quorum;
        self
    }

    /// The person on whose behalf the action would be done.
    #[must_use]
    pub fn own(&self) -> Option<&str> {
        self.shown.as_deref()?.action.actor.user.as_deref()
    }

    /// Whether it is still pending.
    #[must_use]
    pub fn is_pending(&self, now: Timestamp) -> bool {
        self.state == ApprovalState::Pending && now < self.expires
    }

    /// The grant that results from approving all points. `after` is the end of the log when it was given.
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
