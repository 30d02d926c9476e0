//! The policy graph: guards as leaves, six combinators as nodes.
//!
//! `All`, `Any` and `Threshold` are one family: the m-th, first and n-th least strict child.

mod build;
mod children;
mod combinators;
mod error;
mod fold;
mod guards;
mod layers;
mod lint;
mod outline;
mod progress;
pub mod reference;

pub use children::Children;
pub use combinators::{All, Any, Escalate, Not, Threshold, When, pipeline};
pub use error::GraphError;
pub use layers::Layers;
pub use lint::{Lint, Smell};
pub use outline::Outline;
pub use progress::Progress;

use std::fmt;
use std::sync::Arc;

use crate::action::Action;
use crate::context::Context;
use crate::guard::{Guard, Layer};
use crate::trace::{Listed, NodeKind, Site};

/// A guard that may occur in several places of one graph.
pub type SharedGuard = Arc<dyn Guard>;

/// The condition of a `When`: true, false, or why it could not be evaluated.
pub type Condition = Arc<dyn Fn(&Action, &Context<'_>) -> Result<bool, String> + Send + Sync>;

/// A guard or a combinator, before the graph is checked. A copy shares its guards.
#[derive(Clone)]
pub struct Node {
    pub(crate) kind: Kind,
    /// Set when the graph is built: the path, the default name of an unnamed combinator, and as its layer the
    /// lowest one below it. Until then it has no other owner.
    pub(crate) site: Arc<Site>,
    /// Its number among the nodes, set when the graph is built.
    pub(crate) number: u32,
}

#[derive(Clone)]
pub(crate) enum Kind {
    Leaf(SharedGuard),
    /// `at_least` of `children` must allow; `shape` is how it is displayed.
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
        let (name, layer) = match &kind {
            Kind::Leaf(guard) => (Arc::from(guard.name()), guard.layer()),
            _ => (Arc::default(), Layer::Intent),
        };
        Self { kind, site: Arc::new(Site { name, path: Arc::default(), layer }), number: 0 }
    }

    /// The same node under another name. A guard's verdicts then carry that name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        if &*self.site.name != name {
            self.site_mut().name = Arc::from(name);
        }
        self
    }

    fn site_mut(&mut self) -> &mut Site {
        Arc::make_mut(&mut self.site)
    }

    /// The same tree with a prefix before the name of every guard, so that two similar trees fit in one graph.
    #[must_use]
    pub fn prefixed(mut self, word: &str) -> Self {
        self.prefix(word);
        self
    }

    fn prefix(&mut self, word: &str) {
        match &mut self.kind {
            Kind::Leaf(_) => self.site_mut().name = Arc::from(format!("{word}{}", self.site.name)),
            Kind::Quorum { children, .. } => children.iter_mut().for_each(|child| child.prefix(word)),
            Kind::Not { child, .. } => child.prefix(word),
            Kind::When { then, otherwise, .. } => {
                then.iter_mut().chain(otherwise).for_each(|child| child.prefix(word));
            }
            Kind::Escalate { primary, fallback, .. } => {
                primary.prefix(word);
                fallback.prefix(word);
            }
        }
    }

    pub(crate) fn node_kind(&self) -> NodeKind {
        match &self.kind {
            Kind::Leaf(_) => NodeKind::Guard,
            Kind::Quorum { shape: Quorum::All, .. } => NodeKind::All,
            Kind::Quorum { shape: Quorum::Any, .. } => NodeKind::Any,
            Kind::Quorum { shape: Quorum::Threshold, .. } => NodeKind::Threshold,
            Kind::Not { .. } => NodeKind::Not,
            Kind::When { .. } => NodeKind::When,
            Kind::Escalate { .. } => NodeKind::Escalate,
        }
    }

    /// The nodes directly below, in the order in which they are judged.
    pub(crate) fn children(&self) -> impl Iterator<Item = &Node> {
        let (many, first, second): (&[Node], Option<&Node>, Option<&Node>) = match &self.kind {
            Kind::Leaf(_) => (&[], None, None),
            Kind::Quorum { children, .. } => (children, None, None),
            Kind::Not { child, .. } => (&[], Some(child), None),
            Kind::When { then, otherwise, .. } => (&[], then.as_deref(), otherwise.as_deref()),
            Kind::Escalate { primary, fallback, .. } => (&[], Some(primary), Some(fallback)),
        };
        many.iter().chain(first).chain(second)
    }
}

impl<G: Guard + 'static> From<G> for Node {
    fn from(guard: G) -> Self {
        Self::from(Arc::new(guard) as SharedGuard)
    }
}

impl From<SharedGuard> for Node {
    fn from(guard: SharedGuard) -> Self {
        Self::of(Kind::Leaf(guard))
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({} {})", self.site.path, self.site.name)
    }
}

/// A checked policy graph, ready to judge.
pub struct Graph {
    root: Node,
    observers: Vec<Observer>,
    /// The nodes by their number, observers last.
    nodes: Arc<[Listed]>,
    /// How many of them are guards.
    leaves: usize,
}

#[derive(Clone)]
struct Observer {
    guard: SharedGuard,
    site: Arc<Site>,
    number: u32,
    /// A fault of it stops the action.
    required: bool,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("root", &self.root)
            .field("size", &self.nodes.len())
            .finish_non_exhaustive()
    }
}
