//! The recorded path of one evaluation.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

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
    /// Its layer.
    pub layer: Layer,
    /// Whether it counts.
    pub status: Status,
    /// What it said.
    #[serde(flatten)]
    pub verdict: Verdict,
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

/// One visited node, in the order in which nodes were finished, or one skipped node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEntry {
    /// Where it stands.
    pub path: Arc<str>,
    /// Name of the guard, or of the combinator when it has one.
    pub name: Arc<str>,
    /// What it is.
    pub kind: NodeKind,
    /// What it yielded; `None` when it was skipped.
    pub value: Option<Value>,
    /// The branch a `When` took or that an `Escalate` fell back, in a word or two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Cow<'static, str>>,
    /// Risk when it was entered.
    pub risk_before: Risk,
    /// Risk when it was left.
    pub risk_after: Risk,
}
