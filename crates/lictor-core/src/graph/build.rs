//! Builds and validates a graph.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use super::{Graph, GraphError, Kind, Node, Observer, Quorum, SharedGuard};
use crate::guard::Layer;
use crate::trace::{Listed, NodeKind, Site};

/// Deeper graphs are refused, so that walking one cannot exhaust the stack.
const MAX_DEPTH: usize = 64;

impl Graph {
    /// Checks the graph.
    ///
    /// # Errors
    /// The first problem; see [`GraphError`].
    pub fn new(root: impl Into<Node>) -> Result<Self, GraphError> {
        let mut root = root.into();
        let mut settling = Settling::default();
        settling.settle(&mut root, 0, Parent::Root)?;
        let Settling { nodes, leaves, .. } = settling;
        Ok(Self { root, observers: Vec::new(), nodes: nodes.into(), leaves })
    }

    /// A graph of this tree with the observers of `self`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_root(&self, root: impl Into<Node>) -> Result<Self, GraphError> {
        let graph = Self::new(root)?;
        let observers = self.observers.iter().cloned();
        Ok(observers.fold(graph, |graph, observer| graph.with_observer(observer.guard, observer.required)))
    }

    /// The tree without the guards that record.
    #[must_use]
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Adds a guard that records. It always runs, after the tree, and its verdict is ignored.
    #[must_use]
    pub fn observe(self, guard: SharedGuard) -> Self {
        self.with_observer(guard, false)
    }

    /// As [`observe`](Self::observe), but an error of the guard stops the action: an action that must be recorded
    /// may not happen unrecorded.
    #[must_use]
    pub fn observe_or_block(self, guard: SharedGuard) -> Self {
        self.with_observer(guard, true)
    }

    fn with_observer(mut self, guard: SharedGuard, required: bool) -> Self {
        let site = Site { name: Arc::from(guard.name()), path: Arc::from("/observe"), layer: Layer::Observe };
        let site = Arc::new(site);
        let listed = Listed { site: Arc::clone(&site), kind: NodeKind::Observer };
        self.observers.push(Observer { guard, site, number: number(self.nodes.len()), required });
        self.nodes = self.nodes.iter().cloned().chain([listed]).collect();
        self.leaves += 1;
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
    /// The guard of each name, and the path where it first occurred.
    names: HashMap<Arc<str>, (*const (), Arc<str>), BuildHasherDefault<DefaultHasher>>,
    /// The path of the current node; empty for the root.
    path: String,
    nodes: Vec<Listed>,
    leaves: usize,
}

impl Settling {
    /// Gives every node its path, name and layer, and rejects graphs that are probably mistakes.
    fn settle(&mut self, node: &mut Node, depth: usize, parent: Parent) -> Result<(), GraphError> {
        if depth > MAX_DEPTH {
            return Err(GraphError::TooDeep { limit: MAX_DEPTH, path: self.shown().to_owned() });
        }
        let kind = node.node_kind();
        let word = kind.as_str();
        let path = self.shown();
        match &mut node.kind {
            Kind::Leaf(_) if node.site.name.trim().is_empty() => {
                return Err(GraphError::NoName { path: path.to_owned() });
            }
            Kind::Leaf(_) if node.site.layer == Layer::Observe => {
                let name = node.site.name.to_string();
                return Err(GraphError::ObserverInTree { name, path: path.to_owned() });
            }
            Kind::Leaf(_) => {}
            Kind::Quorum { shape, at_least, children, .. } => {
                refuse_quorum(*shape, *at_least, children, word, path)?;
                let below = if *shape == Quorum::All { Parent::All } else { Parent::Other };
                for (index, child) in children.iter_mut().enumerate() {
                    self.below(child, word, Some(index), depth, below)?;
                }
            }
            Kind::Not { child, reason, fix } => {
                if reason.trim().is_empty() || fix.trim().is_empty() {
                    return Err(GraphError::NotWithoutWords { path: path.to_owned() });
                }
                self.below(child, "not", None, depth, Parent::Other)?;
            }
            Kind::When { then, otherwise, .. } => {
                if otherwise.is_none() && parent == Parent::Other {
                    return Err(GraphError::NoOtherwise { path: path.to_owned() });
                }
                let Some(then) = then else { return Err(GraphError::NoThen { path: path.to_owned() }) };
                // A branch has the parent of its condition: `otherwise` may be omitted under the same rule.
                self.below(then, "when/then", None, depth, parent)?;
                if let Some(otherwise) = otherwise {
                    self.below(otherwise, "when/otherwise", None, depth, parent)?;
                }
            }
            Kind::Escalate { primary, fallback, .. } => {
                self.below(primary, "escalate/primary", None, depth, Parent::Other)?;
                self.below(fallback, "escalate/fallback", None, depth, Parent::Other)?;
            }
        }
        let first = node.children().map(|child| child.site.layer).min();
        let site = node.site_mut();
        site.path = Arc::from(self.shown());
        if let Some(first) = first {
            site.layer = first;
            if site.name.is_empty() {
                site.name = Arc::from(word);
            }
        }
        if let Kind::Leaf(guard) = &node.kind {
            self.claim_name(guard, &node.site)?;
        }
        node.number = number(self.nodes.len());
        self.nodes.push(Listed { site: Arc::clone(&node.site), kind });
        Ok(())
    }

    /// Settles a child of the current node under the path segment `word`, numbered where there may be several.
    fn below(
        &mut self,
        child: &mut Node,
        word: &str,
        index: Option<usize>,
        depth: usize,
        parent: Parent,
    ) -> Result<(), GraphError> {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(word);
        if let Some(index) = index {
            self.path.push('[');
            push_digits(&mut self.path, index);
            self.path.push(']');
        }
        self.settle(child, depth + 1, parent)?;
        self.path.truncate(length);
        Ok(())
    }

    fn shown(&self) -> &str {
        if self.path.is_empty() { "/" } else { &self.path }
    }

    /// One name is one guard, wherever it occurs.
    fn claim_name(&mut self, guard: &SharedGuard, site: &Site) -> Result<(), GraphError> {
        self.leaves += 1;
        let identity = identity(guard);
        let place = || (identity, Arc::clone(&site.path));
        let (known, first) = self.names.entry(Arc::clone(&site.name)).or_insert_with(place);
        if *known == identity {
            return Ok(());
        }
        Err(GraphError::DuplicateName {
            name: site.name.to_string(),
            first: first.to_string(),
            second: site.path.to_string(),
        })
    }
}

/// A hook writes one such number per node of its policy; `format!` is several times slower.
fn push_digits(text: &mut String, number: usize) {
    if number >= 10 {
        push_digits(text, number / 10);
    }
    text.extend(u32::try_from(number % 10).ok().and_then(|digit| char::from_digit(digit, 10)));
}

/// More than four thousand million nodes cannot be built; if they were, the last would share a number.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn identity(guard: &SharedGuard) -> *const () {
    Arc::as_ptr(guard).cast()
}

fn refuse_quorum(
    shape: Quorum,
    at_least: usize,
    children: &[Node],
    word: &'static str,
    path: &str,
) -> Result<(), GraphError> {
    if children.is_empty() {
        return Err(GraphError::Empty { combinator: word, path: path.to_owned() });
    }
    if at_least == 0 || at_least > children.len() {
        return Err(GraphError::Threshold { at_least, of: children.len(), path: path.to_owned() });
    }
    if shape == Quorum::Threshold {
        refuse_double_votes(children, path)?;
    }
    Ok(())
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

/// The single guard that a child is equivalent to, if any: wrapping a guard in an `All` of one gives no second
/// vote.
fn voter(mut node: &Node) -> Option<(&str, *const ())> {
    loop {
        match &node.kind {
            Kind::Leaf(guard) => return Some((&node.site.name, identity(guard))),
            Kind::Quorum { children, .. } if children.len() == 1 => node = children.first()?,
            _ => return None,
        }
    }
}
