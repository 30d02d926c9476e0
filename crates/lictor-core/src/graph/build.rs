//! The six combinators as builders, and the checks that make a graph of them.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Children, Graph, GraphError, Kind, Node, Quorum, SharedGuard};
use crate::action::Action;
use crate::context::Context;
use crate::guard::Layer;

/// Deeper graphs are refused, so that walking one cannot exhaust the stack.
const MAX_DEPTH: usize = 64;

/// All children must allow: the strictest child decides.
pub struct All {
    children: Vec<Node>,
    short_circuit: bool,
    name: Option<String>,
}

impl All {
    /// Of these children, in this order.
    pub fn new(children: impl Children) -> Self {
        Self { children: children.into_nodes(), short_circuit: false, name: None }
    }

    /// Stops at the first block. Never changes the decision, only how much is reported.
    #[must_use]
    pub fn short_circuit(mut self) -> Self {
        self.short_circuit = true;
        self
    }

    /// Gives it a name for traces.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl From<All> for Node {
    fn from(all: All) -> Self {
        let at_least = all.children.len();
        let node = Self::of(Kind::Quorum {
            shape: Quorum::All,
            at_least,
            children: all.children,
            short_circuit: all.short_circuit,
        });
        match all.name {
            Some(name) => node.named(&name),
            None => node,
        }
    }
}

/// One allowing child is enough: the least strict child decides.
pub struct Any {
    children: Vec<Node>,
}

impl Any {
    /// Of these children, in this order.
    pub fn new(children: impl Children) -> Self {
        Self { children: children.into_nodes() }
    }
}

impl From<Any> for Node {
    fn from(any: Any) -> Self {
        Self::of(Kind::Quorum {
            shape: Quorum::Any,
            at_least: 1,
            children: any.children,
            short_circuit: false,
        })
    }
}

/// At least `n` children must allow: the n-th least strict child decides.
pub struct Threshold {
    at_least: usize,
    children: Vec<Node>,
}

impl Threshold {
    /// At least `at_least` of these children.
    pub fn new(at_least: usize, children: impl Children) -> Self {
        Self { at_least, children: children.into_nodes() }
    }
}

impl From<Threshold> for Node {
    fn from(threshold: Threshold) -> Self {
        Self::of(Kind::Quorum {
            shape: Quorum::Threshold,
            at_least: threshold.at_least,
            children: threshold.children,
            short_circuit: false,
        })
    }
}

/// Allows what its child certainly blocks, and blocks what its child allows.
pub struct Not {
    child: Node,
    reason: String,
    fix: String,
}

impl Not {
    /// The child's reason explains the child, so `Not` needs a reason and a fix of its own.
    pub fn new(child: impl Into<Node>, reason: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { child: child.into(), reason: reason.into(), fix: fix.into() }
    }
}

impl From<Not> for Node {
    fn from(not: Not) -> Self {
        Self::of(Kind::Not { child: Box::new(not.child), reason: not.reason, fix: not.fix })
    }
}

/// One branch or the other, by a condition that is evaluated exactly once, in its place in the order.
pub struct When {
    condition: super::Condition,
    then: Option<Node>,
    otherwise: Option<Node>,
}

impl When {
    /// By a condition that always has an answer.
    pub fn new(condition: impl Fn(&Action, &Context<'_>) -> bool + Send + Sync + 'static) -> Self {
        Self::fallible(move |action, context| Ok(condition(action, context)))
    }

    /// By a condition that may fail. A failure is an error and neither branch runs: missing is not false.
    pub fn fallible(
        condition: impl Fn(&Action, &Context<'_>) -> Result<bool, String> + Send + Sync + 'static,
    ) -> Self {
        Self { condition: Arc::new(condition), then: None, otherwise: None }
    }

    /// When it holds.
    #[must_use]
    pub fn then(mut self, node: impl Into<Node>) -> Self {
        self.then = Some(node.into());
        self
    }

    /// When it does not. May be left out directly below `All` and at the root, and then means pass.
    #[must_use]
    pub fn otherwise(mut self, node: impl Into<Node>) -> Self {
        self.otherwise = Some(node.into());
        self
    }
}

impl From<When> for Node {
    fn from(when: When) -> Self {
        Self::of(Kind::When {
            condition: when.condition,
            then: when.then.map(Box::new),
            otherwise: when.otherwise.map(Box::new),
        })
    }
}

/// A strict check with a way around it: when the primary blocks, the fallback decides, never better than a
/// warning. A primary that asks or fails is not gone around.
pub struct Escalate {
    primary: Node,
    fallback: Node,
    needs_human: bool,
}

impl Escalate {
    /// Primary first.
    pub fn new(primary: impl Into<Node>, fallback: impl Into<Node>) -> Self {
        Self { primary: primary.into(), fallback: fallback.into(), needs_human: false }
    }

    /// An override is at least an `ask` instead of a warning.
    #[must_use]
    pub fn override_needs_human(mut self) -> Self {
        self.needs_human = true;
        self
    }
}

impl From<Escalate> for Node {
    fn from(escalate: Escalate) -> Self {
        Self::of(Kind::Escalate {
            primary: Box::new(escalate.primary),
            fallback: Box::new(escalate.fallback),
            needs_human: escalate.needs_human,
        })
    }
}

/// A plain ordered list of guards: `All` with short circuit after a stable sort by layer.
pub fn pipeline(guards: impl IntoIterator<Item = SharedGuard>) -> All {
    let mut guards: Vec<SharedGuard> = guards.into_iter().collect();
    guards.sort_by_key(|guard| guard.layer());
    All::new(guards).short_circuit()
}

impl Graph {
    /// Checks the graph.
    ///
    /// # Errors
    /// The first thing that is wrong with it; see [`GraphError`].
    pub fn new(root: impl Into<Node>) -> Result<Self, GraphError> {
        let mut root = root.into();
        let mut names = HashMap::new();
        settle(&mut root, String::new(), 0, Parent::Root, &mut names)?;
        Ok(Self { root, observers: Vec::new() })
    }

    /// Adds a guard that records. It always runs, after the tree, and its verdict is ignored.
    #[must_use]
    pub fn observe(mut self, guard: SharedGuard) -> Self {
        self.observers.push(guard);
        self
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parent {
    Root,
    All,
    Other,
}

type Names = HashMap<Arc<str>, (*const (), String)>;

/// Gives every node its path and refuses what would mean something nobody intended.
fn settle(
    node: &mut Node,
    path: String,
    depth: usize,
    parent: Parent,
    names: &mut Names,
) -> Result<(), GraphError> {
    let shown = || if path.is_empty() { "/".to_owned() } else { path.clone() };
    if depth > MAX_DEPTH {
        return Err(GraphError::TooDeep { limit: MAX_DEPTH, path: shown() });
    }
    node.path = Arc::from(shown());
    match &mut node.kind {
        Kind::Leaf { guard, layer } => {
            if node.name.trim().is_empty() {
                return Err(GraphError::NoName { path: shown() });
            }
            if *layer == Layer::Observe {
                return Err(GraphError::ObserverInTree { name: node.name.to_string(), path: shown() });
            }
            let identity = Arc::as_ptr(guard).cast::<()>();
            match names.get(&node.name) {
                Some((known, first)) if *known != identity => {
                    return Err(GraphError::DuplicateName {
                        name: node.name.to_string(),
                        first: first.clone(),
                        second: shown(),
                    });
                }
                Some(_) => {}
                None => {
                    names.insert(Arc::clone(&node.name), (identity, shown()));
                }
            }
        }
        Kind::Quorum { shape, at_least, children, .. } => {
            let word = match shape {
                Quorum::All => "all",
                Quorum::Any => "any",
                Quorum::Threshold => "threshold",
            };
            if children.is_empty() {
                return Err(GraphError::Empty { combinator: word, path: shown() });
            }
            if *at_least == 0 || *at_least > children.len() {
                return Err(GraphError::Threshold { at_least: *at_least, of: children.len(), path: shown() });
            }
            if *shape == Quorum::Threshold {
                refuse_double_votes(children, &shown())?;
            }
            let below = if *shape == Quorum::All { Parent::All } else { Parent::Other };
            for (index, child) in children.iter_mut().enumerate() {
                settle(child, format!("{path}/{word}[{index}]"), depth + 1, below, names)?;
            }
        }
        Kind::Not { child, reason, fix } => {
            if reason.trim().is_empty() || fix.trim().is_empty() {
                return Err(GraphError::NotWithoutWords { path: shown() });
            }
            settle(child, format!("{path}/not"), depth + 1, Parent::Other, names)?;
        }
        Kind::When { then, otherwise, .. } => {
            if otherwise.is_none() && parent == Parent::Other {
                return Err(GraphError::NoOtherwise { path: shown() });
            }
            let Some(then) = then else { return Err(GraphError::NoThen { path: shown() }) };
            // A branch stands where the condition stands: what may be left out above may be left out below.
            settle(then, format!("{path}/then"), depth + 1, parent, names)?;
            if let Some(otherwise) = otherwise {
                settle(otherwise, format!("{path}/otherwise"), depth + 1, parent, names)?;
            }
        }
        Kind::Escalate { primary, fallback, .. } => {
            settle(primary, format!("{path}/primary"), depth + 1, Parent::Other, names)?;
            settle(fallback, format!("{path}/fallback"), depth + 1, Parent::Other, names)?;
        }
    }
    Ok(())
}

fn refuse_double_votes(children: &[Node], path: &str) -> Result<(), GraphError> {
    let mut seen: Vec<*const ()> = Vec::new();
    for child in children {
        if let Kind::Leaf { guard, .. } = &child.kind {
            let identity = Arc::as_ptr(guard).cast::<()>();
            if seen.contains(&identity) {
                return Err(GraphError::VotesTwice { name: child.name.to_string(), path: path.to_owned() });
            }
            seen.push(identity);
        }
    }
    Ok(())
}
