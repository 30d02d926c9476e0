use super::{All, Graph, GraphError, Node, SharedGuard};
use crate::guard::Layer;

/// Builds the usual graph: boundaries first and with short circuit, then resources, then intent, then the tree
/// that a policy adds; observers outside.
///
/// Why this order: boundaries are cheap and absolute; an action that they block must not spend budget; intent is
/// judged last; observers always run.
#[derive(Default)]
pub struct Layers {
    boundary: Vec<Node>,
    resource: Vec<Node>,
    intent: Vec<Node>,
    trees: Vec<Node>,
    observers: Vec<(SharedGuard, bool)>,
}

impl Layers {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a guard to its own layer, after those that are there.
    #[must_use]
    pub fn guard(mut self, guard: SharedGuard) -> Self {
        match guard.layer() {
            Layer::Boundary => self.boundary.push(guard.into()),
            Layer::Resource => self.resource.push(guard.into()),
            Layer::Intent => self.intent.push(guard.into()),
            Layer::Observe => self.observers.push((guard, false)),
        }
        self
    }

    /// Adds an observer whose fault stops the action.
    #[must_use]
    pub fn required_observer(mut self, guard: SharedGuard) -> Self {
        self.observers.push((guard, true));
        self
    }

    /// Adds a tree as one more child of the root, after the layers.
    #[must_use]
    pub fn tree(mut self, node: impl Into<Node>) -> Self {
        self.trees.push(node.into());
        self
    }

    /// The graph.
    ///
    /// # Errors
    /// When the graph is invalid; see [`GraphError`].
    pub fn build(self) -> Result<Graph, GraphError> {
        let mut root = Vec::new();
        if !self.boundary.is_empty() {
            root.push(All::new(self.boundary).short_circuit().named("boundary").into());
        }
        root.extend(self.resource);
        root.extend(self.intent);
        root.extend(self.trees);
        let mut graph = Graph::new(All::new(root))?;
        for (guard, required) in self.observers {
            graph = if required { graph.observe_or_block(guard) } else { graph.observe(guard) };
        }
        Ok(graph)
    }
}
