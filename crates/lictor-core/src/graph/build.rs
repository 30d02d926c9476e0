//! The checks that make a graph of nodes.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Graph, GraphError, Kind, Node, Observer, Quorum, SharedGuard};
use crate::guard::Layer;

/// Deeper graphs are refused, so that walking one cannot exhaust the stack.
const MAX_DEPTH: usize = 64;

impl Graph {
    /// Checks the graph.
    ///
    /// # Errors
    /// The first thing that is wrong with it; see [`GraphError`].
    pub fn new(root: impl Into<Node>) -> Result<Self, GraphError> {
        let mut root = root.into();
        let mut settling = Settling::default();
        settling.settle(&mut root, String::new(), 0, Parent::Root)?;
        Ok(Self { root, observers: Vec::new(), leaves: settling.leaves, size: settling.size })
    }

    /// Adds a guard that records. It always runs, after the tree, and its verdict is ignored.
    #[must_use]
    pub fn observe(self, guard: SharedGuard) -> Self {
        self.with_observer(guard, false)
    }

    /// As [`observe`](Self::observe), but an error of the guard stops the action: what must be recorded and
    /// cannot be may not happen.
    #[must_use]
    pub fn observe_or_block(self, guard: SharedGuard) -> Self {
        self.with_observer(guard, true)
    }

    fn with_observer(mut self, guard: SharedGuard, required: bool) -> Self {
        let name: Arc<str> = Arc::from(guard.name());
        let index = number(self.leaves.len());
        self.leaves.push(Arc::clone(&name));
        self.observers.push(Observer { guard, name, index, required });
        self.size += 1;
        self
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parent {
    Root,
    All,
    Other,
}

#[derive(Default)]
struct Settling {
    /// Which guard a name stands for, and where it was first met.
    names: HashMap<Arc<str>, (*const (), String)>,
    leaves: Vec<Arc<str>>,
    size: usize,
}

impl Settling {
    /// Gives every node its path, name and layer, and refuses what would mean something nobody intended.
    fn settle(
        &mut self,
        node: &mut Node,
        path: String,
        depth: usize,
        parent: Parent,
    ) -> Result<(), GraphError> {
        let shown = || if path.is_empty() { "/".to_owned() } else { path.clone() };
        if depth > MAX_DEPTH {
            return Err(GraphError::TooDeep { limit: MAX_DEPTH, path: shown() });
        }
        self.size += 1;
        node.path = Arc::from(shown());
        if node.name.is_empty() && !matches!(node.kind, Kind::Leaf { .. }) {
            node.name = Arc::from(node.node_kind().as_str());
        }
        let word = node.node_kind().as_str();
        match &mut node.kind {
            Kind::Leaf { guard, index } => {
                if node.name.trim().is_empty() {
                    return Err(GraphError::NoName { path: shown() });
                }
                if node.layer == Layer::Observe {
                    return Err(GraphError::ObserverInTree { name: node.name.to_string(), path: shown() });
                }
                let identity = identity(guard);
                match self.names.get(&node.name) {
                    Some((known, first)) if *known != identity => {
                        return Err(GraphError::DuplicateName {
                            name: node.name.to_string(),
                            first: first.clone(),
                            second: shown(),
                        });
                    }
                    Some(_) => {}
                    None => {
                        self.names.insert(Arc::clone(&node.name), (identity, shown()));
                    }
                }
                *index = number(self.leaves.len());
                self.leaves.push(Arc::clone(&node.name));
            }
            Kind::Quorum { shape, at_least, children, .. } => {
                if children.is_empty() {
                    return Err(GraphError::Empty { combinator: word, path: shown() });
                }
                if *at_least == 0 || *at_least > children.len() {
                    return Err(GraphError::Threshold {
                        at_least: *at_least,
                        of: children.len(),
                        path: shown(),
                    });
                }
                if *shape == Quorum::Threshold {
                    refuse_double_votes(children, &shown())?;
                }
                let below = if *shape == Quorum::All { Parent::All } else { Parent::Other };
                for (index, child) in children.iter_mut().enumerate() {
                    self.settle(child, format!("{path}/{word}[{index}]"), depth + 1, below)?;
                }
            }
            Kind::Not { child, reason, fix } => {
                if reason.trim().is_empty() || fix.trim().is_empty() {
                    return Err(GraphError::NotWithoutWords { path: shown() });
                }
                self.settle(child, format!("{path}/not"), depth + 1, Parent::Other)?;
            }
            Kind::When { then, otherwise, .. } => {
                if otherwise.is_none() && parent == Parent::Other {
                    return Err(GraphError::NoOtherwise { path: shown() });
                }
                let Some(then) = then else { return Err(GraphError::NoThen { path: shown() }) };
                // A branch stands where the condition stands: what may be left out above may be left out below.
                self.settle(then, format!("{path}/when/then"), depth + 1, parent)?;
                if let Some(otherwise) = otherwise {
                    self.settle(otherwise, format!("{path}/when/otherwise"), depth + 1, parent)?;
                }
            }
            Kind::Escalate { primary, fallback, .. } => {
                self.settle(primary, format!("{path}/escalate/primary"), depth + 1, Parent::Other)?;
                self.settle(fallback, format!("{path}/escalate/fallback"), depth + 1, Parent::Other)?;
            }
        }
        if let Some(first) = node.children().map(|child| child.layer).min() {
            node.layer = first;
        }
        Ok(())
    }
}

/// More than four thousand million leaves cannot be built; if they were, the last would share a number.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn identity(guard: &SharedGuard) -> *const () {
    Arc::as_ptr(guard).cast()
}

fn refuse_double_votes(children: &[Node], path: &str) -> Result<(), GraphError> {
    let mut seen: Vec<*const ()> = Vec::new();
    for child in children {
        let Some((name, voter)) = voter(child) else { continue };
        if seen.contains(&voter) {
            return Err(GraphError::VotesTwice { name: name.to_string(), path: path.to_owned() });
        }
        seen.push(voter);
    }
    Ok(())
}

/// The one guard that a child amounts to, if it does: wrapping it into an `All` of one gives no second vote.
fn voter(mut node: &Node) -> Option<(&str, *const ())> {
    loop {
        match &node.kind {
            Kind::Leaf { guard, .. } => return Some((&node.name, identity(guard))),
            Kind::Quorum { children, .. } if children.len() == 1 => node = children.first()?,
            _ => return None,
        }
    }
}
