//! The recorded path of one evaluation.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::approval::Answer;
use crate::decision::Value;
use crate::guard::Layer;
use crate::risk::Risk;
use crate::verdict::Verdict;

/// Whether something counted for the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Counts.
    Active,
    /// Was said but does not count: a losing branch, the child of a `Not`, an overridden primary.
    Superseded,
    /// Was not asked.
    Skipped,
}

/// A verdict with its place in the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenVerdict {
    /// The guard or combinator that said it.
    pub guard: Arc<str>,
    /// Where it stands, for instance `/all[0]/when/then`.
    pub path: Arc<str>,
    /// Its layer. For a combinator, the first layer of what stands below it.
    pub layer: Layer,
    /// Whether it counts.
    pub status: Status,
    /// What it said.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The violation that it stands for: an index into the evaluation's violations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<u32>,
    /// What a person said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

impl GivenVerdict {
    /// A verdict that counts and that nobody was asked about.
    #[must_use]
    pub fn active(guard: Arc<str>, path: Arc<str>, layer: Layer, verdict: Verdict) -> Self {
        Self { guard, path, layer, status: Status::Active, verdict, violation: None, answer: None }
    }

    /// Whether it counts and is more than a plain pass.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.status == Status::Active && self.verdict.value() > Value::Pass
    }
}

/// What sort of node a trace entry is about.
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

/// The way that a `When` or an `Escalate` took.
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

/// One visited node, in the order in which nodes were finished, or one skipped node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEntry {
    /// Where it stands.
    pub path: Arc<str>,
    /// Name of the guard, or of the combinator; its kind when it was given none.
    pub name: Arc<str>,
    /// What it is.
    pub kind: NodeKind,
    /// Its layer. For a combinator, the first layer of what stands below it.
    pub layer: Layer,
    /// What it yielded; `None` when it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Whether it counted.
    pub status: Status,
    /// The way that a `When` or an `Escalate` took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
    /// Risk when it was entered.
    #[serde(default, skip_serializing_if = "Risk::is_none")]
    pub risk_before: Risk,
    /// Risk when it was left.
    #[serde(default, skip_serializing_if = "Risk::is_none")]
    pub risk_after: Risk,
    /// Annotations that it wrote, by their full names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noted: Vec<String>,
    /// How long it took with all below it, when somebody held a stopwatch. Not recorded: the same evaluation is the same
    /// record.
    #[serde(skip)]
    pub took: Option<Duration>,
}

impl TraceEntry {
    /// Whether this is where an override took place that counts: a primary blocked and the action may still go on.
    #[must_use]
    pub fn escalated(&self) -> bool {
        self.kind == NodeKind::Escalate
            && self.branch == Some(Branch::Fallback)
            && self.status == Status::Active
            && self.value.is_some_and(|value| value <= Value::Ask)
    }
}
