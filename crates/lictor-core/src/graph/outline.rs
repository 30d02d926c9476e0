use std::sync::Arc;

use serde::Serialize;

use super::{Graph, Kind, Node};
use crate::guard::Layer;
use crate::trace::NodeKind;

/// A graph as data, for display and drawing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outline {
    /// Its kind.
    pub kind: NodeKind,
    /// Of the guard or combinator.
    pub name: Arc<str>,
    /// Its path.
    pub path: Arc<str>,
    /// Its layer. For a combinator, the lowest layer below it.
    pub layer: Layer,
    /// Its role for the parent, where the position does not show it: `then`, `otherwise`, `primary`, `fallback`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// How many children must allow, for a threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<usize>,
    /// Stops early.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub short_circuit: bool,
    /// The children, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Outline>,
}

impl Graph {
    /// The tree as data.
    #[must_use]
    pub fn outline(&self) -> Outline {
        outline(&self.root, None)
    }

    /// The observers, in the order in which they run.
    #[must_use]
    pub fn observers(&self) -> Vec<Outline> {
        self.observers
            .iter()
            .map(|observer| Outline {
                kind: NodeKind::Observer,
                name: Arc::clone(&observer.site.name),
                path: Arc::clone(&observer.site.path),
                layer: observer.site.layer,
                role: None,
                at_least: None,
                short_circuit: false,
                children: Vec::new(),
            })
            .collect()
    }
}

fn outline(node: &Node, role: Option<&'static str>) -> Outline {
    let (roles, at_least, short_circuit) = match &node.kind {
        Kind::When { .. } => ([Some("then"), Some("otherwise")], None, false),
        Kind::Escalate { .. } => ([Some("primary"), Some("fallback")], None, false),
        Kind::Quorum { shape: super::Quorum::Threshold, at_least, short_circuit, .. } => {
            ([None; 2], Some(*at_least), *short_circuit)
        }
        Kind::Quorum { short_circuit, .. } => ([None; 2], None, *short_circuit),
        Kind::Leaf(_) | Kind::Not { .. } => ([None; 2], None, false),
    };
    let roles = roles.into_iter().chain(std::iter::repeat(None));
    Outline {
        kind: node.node_kind(),
        name: Arc::clone(&node.site.name),
        path: Arc::clone(&node.site.path),
        layer: node.site.layer,
        role,
        at_least,
        short_circuit,
        children: node.children().zip(roles).map(|(child, role)| outline(child, role)).collect(),
    }
}
