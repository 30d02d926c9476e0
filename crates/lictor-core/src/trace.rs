//! The recorded trace of one evaluation.

mod path;
mod site;

pub(crate) use path::{Listed, Step};
pub use path::{Trace, TraceEntry};
pub(crate) use site::Site;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::approval::Answer;
use crate::decision::Value;
use crate::guard::Layer;
use crate::verdict::Verdict;

/// Whether something counted for the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Counts.
    Active,
    /// Given but not counted: a losing branch, the child of a `Not`, an overridden primary.
    Superseded,
    /// Was not asked.
    Skipped,
}

/// A verdict with its place in the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenVerdict {
    #[serde(flatten)]
    pub(crate) at: Arc<Site>,
    /// Whether it counts.
    pub status: Status,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Its violation: an index into the evaluation's violations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<u32>,
    /// The person's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

impl GivenVerdict {
    /// An active verdict without an answer.
    #[must_use]
    pub fn active(guard: &str, path: &str, layer: Layer, verdict: Verdict) -> Self {
        let site = Site { name: Arc::from(guard), path: Arc::from(path), layer };
        Self::at(Arc::new(site), verdict, None)
    }

    pub(crate) fn at(at: Arc<Site>, verdict: Verdict, violation: Option<u32>) -> Self {
        Self { at, status: Status::Active, verdict, violation, answer: None }
    }

    /// The guard or combinator that gave it.
    #[must_use]
    pub fn guard(&self) -> &str {
        &self.at.name
    }

    /// Its path, for instance `/all[0]/when/then`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.at.path
    }

    /// Its layer. For a combinator, the lowest layer below it.
    #[must_use]
    pub fn layer(&self) -> Layer {
        self.at.layer
    }

    /// Whether it counts and is more than a plain pass.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.status == Status::Active && self.verdict.value() > Value::Pass
    }
}

/// The kind of node of a trace entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// A guard.
    Guard,
    /// All children must pass.
    All,
    /// One child must pass.
    Any,
    /// Inverted.
    Not,
    /// Conditional.
    When,
    /// N of M.
    Threshold,
    /// Primary with fallback.
    Escalate,
    /// A recorder outside the tree.
    Observer,
}

impl NodeKind {
    /// The word used in policies and output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Guard => "guard",
            Self::All => "all",
            Self::Any => "any",
            Self::Not => "not",
            Self::When => "when",
            Self::Threshold => "threshold",
            Self::Escalate => "escalate",
            Self::Observer => "observer",
        }
    }
}

/// The branch that a `When` or an `Escalate` took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Branch {
    /// The condition held.
    Then,
    /// The condition did not hold.
    Otherwise,
    /// The condition did not hold and there is no `otherwise`: the rule does not apply.
    NotApplicable,
    /// The condition could not be evaluated.
    ConditionFailed,
    /// The primary decided.
    Primary,
    /// The primary blocked and the fallback decided.
    Fallback,
}

impl Branch {
    /// In words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Then => "then",
            Self::Otherwise => "otherwise",
            Self::NotApplicable => "does not apply",
            Self::ConditionFailed => "condition failed",
            Self::Primary => "primary",
            Self::Fallback => "fallback",
        }
    }
}
