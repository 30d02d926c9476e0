//! The policy graph: guards as leaves, six combinators as nodes.
//!
//! `All`, `Any` and `Threshold` are one family: the m-th, first and n-th least strict child.

mod build;
mod children;
mod error;
mod fold;

pub use build::{All, Any, Escalate, Not, Threshold, When, pipeline};
pub use children::Children;
pub use error::GraphError;

use std::fmt;
use std::sync::Arc;

use crate::action::Action;
use crate::context::Context;
use crate::guard::{Guard, Layer};

/// A guard that may stand in several places of one graph.
pub type SharedGuard = Arc<dyn Guard>;

/// The condition of a `When`: true, false, or why it could not be told.
pub type Condition = Arc<dyn Fn(&Action, &Context<'_>) -> Result<bool, String> + Send + Sync>;

/// A guard or a combinator, before the graph is checked.
pub struct Node {
    pub(crate) kind: Kind,
    pub(crate) name: Arc<str>,
    /// Filled in when the graph is built.
    pub(crate) path: Arc<str>,
}

pub(crate) enum Kind {
    Leaf {
        guard: SharedGuard,
        layer: Layer,
    },
    /// `at_least` of `children` must allow; how it is shown is `shape`.
    Quorum {
        shape: Quorum,
        at_least: usize,
        children: Vec<Node>,
        short_circuit: bool,
    },
    Not {
        child: Box<Node>,
        reason: String,
        fix: String,
    },
    When {
        condition: Condition,
        then: Option<Box<Node>>,
        otherwise: Option<Box<Node>>,
    },
    Escalate {
        primary: Box<Node>,
        fallback: Box<Node>,
        needs_human: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quorum {
    All,
    Any,
    Threshold,
}

impl Node {
    pub(crate) fn of(kind: Kind) -> Self {
        let name = match &kind {
            Kind::Leaf { guard, .. } => Arc::from(guard.name()),
            _ => Arc::from(""),
        };
        Self { kind, name, path: Arc::from("") }
    }

    /// The same node under another name. A guard's verdicts then carry that name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Arc::from(name);
        self
    }
}

impl<G: Guard + 'static> From<G> for Node {
    fn from(guard: G) -> Self {
        Self::from(Arc::new(guard) as SharedGuard)
    }
}

impl From<SharedGuard> for Node {
    fn from(guard: SharedGuard) -> Self {
        let layer = guard.layer();
        Self::of(Kind::Leaf { guard, layer })
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({} {})", self.path, self.name)
    }
}

/// A checked policy graph, ready to judge.
pub struct Graph {
    pub(crate) root: Node,
    pub(crate) observers: Vec<SharedGuard>,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("root", &self.root).finish_non_exhaustive()
    }
}
