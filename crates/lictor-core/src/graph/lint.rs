//! Lints: graphs that are valid but probably not intended.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::{Graph, Kind, Node, Quorum};
use crate::guard::Layer;

/// A part of a graph that is probably not intended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lint {
    /// The path in the graph.
    pub path: Arc<str>,
    /// The guard or combinator.
    pub name: Arc<str>,
    /// The lint.
    pub smell: Smell,
}

/// What is probably not intended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Smell {
    /// Budget is spent before a boundary may block the action.
    ResourceBeforeBoundary,
    /// A boundary that something else can go around.
    BoundaryNotAbsolute,
    /// Two negations.
    NotUnderNot,
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, name, smell } = self;
        match smell {
            Smell::ResourceBeforeBoundary => write!(
                f,
                "`{name}` at `{path}` spends a resource before a boundary is checked; put boundaries first"
            ),
            Smell::BoundaryNotAbsolute => write!(
                f,
                "the boundary `{name}` at `{path}` stands where its block can be outvoted, inverted or gone \
                 around; put it directly below `all`"
            ),
            Smell::NotUnderNot => {
                write!(f, "`{path}` negates a negation; write what is meant without either `not`")
            }
        }
    }
}

impl Graph {
    /// All lints, in tree order.
    #[must_use]
    pub fn lints(&self) -> Vec<Lint> {
        let mut walk = Walk { lints: Vec::new(), spenders: Vec::new() };
        walk.visit(&self.root, Place::default());
        walk.lints
    }
}

#[derive(Clone, Copy, Default)]
struct Place {
    /// A block from here is not sure to be the result.
    relative: bool,
    below_not: bool,
}

struct Walk {
    lints: Vec<Lint>,
    /// RESOURCE guards seen so far that no boundary has followed yet.
    spenders: Vec<(Arc<str>, Arc<str>)>,
}

impl Walk {
    fn visit(&mut self, node: &Node, place: Place) {
        match &node.kind {
            Kind::Leaf(_) => self.leaf(node, place),
            Kind::Not { .. } if place.below_not => self.add(node, Smell::NotUnderNot),
            _ => {}
        }
        for (index, child) in node.children().enumerate() {
            let relative = place.relative
                || match &node.kind {
                    // With one child, `Any` and `Threshold` equal `All`.
                    Kind::Quorum { shape, children, .. } => *shape != Quorum::All && children.len() > 1,
                    Kind::Not { .. } => true,
                    Kind::Escalate { .. } => index == 0,
                    Kind::Leaf(_) | Kind::When { .. } => false,
                };
            let below_not = matches!(node.kind, Kind::Not { .. });
            self.visit(child, Place { relative, below_not });
        }
    }

    fn leaf(&mut self, node: &Node, place: Place) {
        match node.site.layer {
            Layer::Resource => self.spenders.push((Arc::clone(&node.site.path), Arc::clone(&node.site.name))),
            Layer::Boundary => {
                for (path, name) in self.spenders.drain(..) {
                    self.lints.push(Lint { path, name, smell: Smell::ResourceBeforeBoundary });
                }
                if place.relative {
                    self.add(node, Smell::BoundaryNotAbsolute);
                }
            }
            Layer::Intent | Layer::Observe => {}
        }
    }

    fn add(&mut self, node: &Node, smell: Smell) {
        self.lints.push(Lint { path: Arc::clone(&node.site.path), name: Arc::clone(&node.site.name), smell });
    }
}
