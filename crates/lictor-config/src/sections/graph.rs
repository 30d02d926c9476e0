//! `policy:`, the graph.

use std::sync::Arc;

use lictor_expr::Program;
use serde::{Deserialize, Serialize};

use super::section::Section;
use super::{Sections, built_in};
use crate::diagnostic::{Span, closest, suggest};
use crate::reader::Reader;
use crate::table::{Key, Shape, Table};
use crate::yaml::{Tree, Yaml};

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "policy",
        Shape::Node,
        "{all: [file_boundary]}",
        "The policy graph: one more thing that every action must pass. A section that it names is judged \
             there and nowhere else.",
    )],
    read: |r, file, said| said.policy = file.get("policy").and_then(|tree| read(r, tree, said)),
    guards: &[],
};

/// Deeper graphs are refused.
const MAX_DEPTH: usize = 20;

pub(crate) static ALL: Table = Table {
    name: "all",
    about: "Every node must allow it: the strictest one decides.",
    keys: &[
        Key::new("all", Shape::List(&Shape::Node), "[file_boundary, bash_safety]", "The nodes.").required(),
        Key::new(
            "short_circuit",
            Shape::Bool,
            "true",
            "Stop at the first block. Never changes the decision, only how much is reported.",
        ),
    ],
};
pub(crate) static ANY: Table = Table {
    name: "any",
    about: "One node that allows it is enough: the least strict one decides.",
    keys: &[Key::new("any", Shape::List(&Shape::Node), "[budget, intent]", "The nodes.").required()],
};
static NEGATED: Table = Table {
    name: "not",
    about: "What is turned round, with words of its own.",
    keys: &[
        Key::new("node", Shape::Node, "intent", "What must not allow it.").required(),
        Key::new("reason", Shape::Text, "only unplanned work here", "Why not.").required(),
        Key::new("fix", Shape::Text, "submit it as a task", "What to do then.").required(),
    ],
};
pub(crate) static NOT: Table = Table {
    name: "not",
    about: "Allows what its node certainly blocks, and blocks what it allows. A question or a fault stays one.",
    keys: &[Key::new("not", Shape::Fields(&NEGATED), "{node: intent, reason: no, fix: wait}", "The node.")
        .required()],
};
static QUORUM: Table = Table {
    name: "threshold",
    about: "How many of which nodes.",
    keys: &[
        Key::new("at_least", Shape::Integer, "2", "How many must allow it.").required(),
        Key::new(
            "of",
            Shape::List(&Shape::Node),
            "[intent, budget, network]",
            "The nodes. No guard votes twice.",
        )
        .required(),
    ],
};
pub(crate) static THRESHOLD: Table = Table {
    name: "threshold",
    about: "So many of the nodes must allow it.",
    keys: &[Key::new(
        "threshold",
        Shape::Fields(&QUORUM),
        "{at_least: 1, of: [intent, budget]}",
        "How many of which.",
    )
    .required()],
};
pub(crate) static ESCALATE: Table = Table {
    name: "escalate",
    about: "A strict check with a way around it. When the first node blocks, the second decides, never better than a \
            warning. A first node that asks or fails is not gone around.",
    keys: &[
        Key::new(
            "escalate",
            Shape::List(&Shape::Node),
            "[intent, budget]",
            "The check and the way around it.",
        )
        .required(),
        Key::new("override_needs_human", Shape::Bool, "true", "Going around it is at least a question."),
    ],
};
pub(crate) static WHEN: Table = Table {
    name: "when",
    about: "One branch or the other. A condition that cannot be evaluated is an error and neither branch is taken.",
    keys: &[
        Key::new("when", Shape::Expression, "'action.kind == \"bash\"'", "The condition.").required(),
        Key::new("then", Shape::Node, "bash_safety", "When it holds.").required(),
        Key::new(
            "otherwise",
            Shape::Node,
            "file_boundary",
            "When it does not. May be left out only at the top or directly below `all`, where it means that the rule \
             does not apply.",
        ),
    ],
};
/// The combinators, each by its key.
pub(crate) static COMBINATORS: [&Table; 6] = [&ALL, &ANY, &NOT, &THRESHOLD, &ESCALATE, &WHEN];

/// A node of the policy graph.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum GraphNode {
    /// A guard, by name.
    Leaf(String),
    /// Every child must allow.
    All {
        /// The children.
        children: Vec<GraphNode>,
        /// Stops at the first block.
        short_circuit: bool,
    },
    /// One child must allow.
    Any(Vec<GraphNode>),
    /// The child must not allow.
    Not {
        /// The child.
        node: Box<GraphNode>,
        /// The reason.
        reason: String,
        /// The fix.
        fix: String,
    },
    /// So many children must allow.
    Threshold {
        /// The minimum number.
        at_least: usize,
        /// The children.
        of: Vec<GraphNode>,
    },
    /// A check with an override.
    Escalate {
        /// The check.
        primary: Box<GraphNode>,
        /// The override.
        fallback: Box<GraphNode>,
        /// Going around is at least a question.
        needs_human: bool,
    },
    /// One branch or the other.
    When {
        /// The condition.
        condition: Arc<Program>,
        /// The branch if it holds.
        then: Box<GraphNode>,
        /// The branch if it does not hold.
        otherwise: Option<Box<GraphNode>>,
    },
}

impl GraphNode {
    /// The nodes directly below.
    pub(crate) fn children(&self) -> Vec<&Self> {
        match self {
            Self::Leaf(_) => Vec::new(),
            Self::All { children, .. } | Self::Any(children) | Self::Threshold { of: children, .. } => {
                children.iter().collect()
            }
            Self::Not { node, .. } => vec![node],
            Self::Escalate { primary, fallback, .. } => vec![primary, fallback],
            Self::When { then, otherwise, .. } => {
                std::iter::once(then.as_ref()).chain(otherwise.as_deref()).collect()
            }
        }
    }

    /// The guards that it names, in order, each as often as it is named.
    pub(crate) fn leaves(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.add_leaves(&mut names);
        names
    }

    fn add_leaves<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Self::Leaf(name) => names.push(name),
            other => other.children().into_iter().for_each(|child| child.add_leaves(names)),
        }
    }
}

/// The parent of a node, as far as `when` without `otherwise` depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parent {
    /// At the top or directly below `all`.
    Plain,
    Other,
}

struct Graph<'s> {
    sections: &'s Sections,
}

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree, sections: &Sections) -> Option<GraphNode> {
    Graph { sections }.node(r, tree, Parent::Plain, 0)
}

impl Graph<'_> {
    fn node(&self, r: &mut Reader<'_>, tree: &Tree, parent: Parent, depth: usize) -> Option<GraphNode> {
        if depth > MAX_DEPTH {
            r.error(tree.span, format!("the graph is more than {MAX_DEPTH} levels deep"), "flatten it");
            return None;
        }
        match &tree.value {
            Yaml::Map(entries) => {
                let kinds: Vec<&&Table> = COMBINATORS
                    .iter()
                    .filter(|table| entries.iter().any(|(key, _)| is_key_of(table, &key.text)))
                    .collect();
                let [table] = kinds.as_slice() else {
                    self.unclear(
                        r,
                        tree,
                        entries.first().map(|(key, _)| (key.text.as_str(), key.span)),
                        kinds.len(),
                    );
                    return None;
                };
                self.combinator(r, tree, table, parent, depth)
            }
            Yaml::List(_) => {
                r.error(
                    tree.span,
                    "a node is a guard's name or a combinator, not a list",
                    "write `all: […]`",
                );
                None
            }
            Yaml::Scalar { text, quoted } if text.is_empty() && !quoted => {
                self.unclear(r, tree, None, 0);
                None
            }
            Yaml::Scalar { .. } => self.leaf(r, tree),
        }
    }

    fn unclear(&self, r: &mut Reader<'_>, tree: &Tree, first: Option<(&str, Span)>, found: usize) {
        let words = ["all", "any", "not", "threshold", "escalate", "when"];
        match first {
            _ if found > 1 => {
                r.error(
                    tree.span,
                    "two combinators in one node",
                    "put one below the other, or both below `all`",
                );
            }
            Some((key, span)) => {
                r.error(
                    span,
                    format!("unknown combinator `{key}`"),
                    suggest(key, "the combinators are", words),
                );
            }
            None => r.error(tree.span, "an empty node", "name a guard, or write `all: […]`"),
        }
    }

    fn combinator(
        &self,
        r: &mut Reader<'_>,
        tree: &Tree,
        table: &'static Table,
        parent: Parent,
        depth: usize,
    ) -> Option<GraphNode> {
        let f = r.fields(tree, table)?;
        let word = table.keys.first().map_or("", |key| key.name);
        let inner = f.get(word)?;
        match word {
            "all" => {
                let short_circuit = r.field(&f, "short_circuit", Reader::boolean).unwrap_or_default();
                let children = self.children(r, inner, word, Parent::Plain, depth)?;
                Some(GraphNode::All { children, short_circuit })
            }
            "any" => Some(GraphNode::Any(self.children(r, inner, word, Parent::Other, depth)?)),
            "not" => {
                let f = r.fields(inner, &NEGATED)?;
                let node = f.get("node").and_then(|tree| self.node(r, tree, Parent::Other, depth + 1));
                let reason = r.field(&f, "reason", Reader::sentence);
                let fix = r.field(&f, "fix", Reader::sentence);
                Some(GraphNode::Not { node: Box::new(node?), reason: reason?, fix: fix? })
            }
            "threshold" => self.threshold(r, inner, depth),
            "escalate" => {
                let needs_human = r.field(&f, "override_needs_human", Reader::boolean).unwrap_or_default();
                let mut children = self.children(r, inner, word, Parent::Other, depth)?.into_iter();
                match (children.next(), children.next(), children.next()) {
                    (Some(primary), Some(fallback), None) => Some(GraphNode::Escalate {
                        primary: Box::new(primary),
                        fallback: Box::new(fallback),
                        needs_human,
                    }),
                    _ => {
                        r.error(
                            inner.span,
                            "`escalate` takes two nodes",
                            "the check first, then the way around it",
                        );
                        None
                    }
                }
            }
            _ => {
                let condition = r.field(&f, "when", Reader::condition);
                // A branch has the parent of its condition.
                let then = f.get("then").and_then(|tree| self.node(r, tree, parent, depth + 1));
                let otherwise = f.get("otherwise");
                if otherwise.is_none() && parent == Parent::Other {
                    r.error(
                        tree.span,
                        "a `when` without `otherwise` would count as a pass here",
                        "add `otherwise`, or move it directly below `all`",
                    );
                }
                let otherwise = match otherwise {
                    Some(tree) => Some(Box::new(self.node(r, tree, parent, depth + 1)?)),
                    None => None,
                };
                Some(GraphNode::When { condition: condition?, then: Box::new(then?), otherwise })
            }
        }
    }

    fn threshold(&self, r: &mut Reader<'_>, tree: &Tree, depth: usize) -> Option<GraphNode> {
        let f = r.fields(tree, &QUORUM)?;
        let at_least = r.field(&f, "at_least", Reader::integer);
        let of = f.get("of").and_then(|tree| self.children(r, tree, "threshold", Parent::Other, depth));
        let (at_least, of) = (usize::try_from(at_least?).unwrap_or(usize::MAX), of?);
        let most = of.len();
        if let Some(place) = f.get("at_least").filter(|_| at_least == 0 || at_least > most) {
            r.error(
                place.span,
                format!("{at_least} of {most} is {}", if at_least == 0 { "always met" } else { "never met" }),
                format!("use a number from 1 to {most}"),
            );
        }
        let items = f.get("of").map(|tree| r.list(tree, "`threshold.of`")).unwrap_or_default();
        let mut seen: Vec<&str> = Vec::new();
        for (node, item) in of.iter().zip(items) {
            let GraphNode::Leaf(name) = node else { continue };
            if seen.contains(&name.as_str()) {
                r.error(item.span, format!("`{name}` would vote twice"), "name each guard once");
            }
            seen.push(name);
        }
        Some(GraphNode::Threshold { at_least, of })
    }

    /// The nodes below a combinator. `None` when any of them is invalid, so that counts are not checked on a part
    /// of the list.
    fn children(
        &self,
        r: &mut Reader<'_>,
        tree: &Tree,
        word: &str,
        parent: Parent,
        depth: usize,
    ) -> Option<Vec<GraphNode>> {
        let Yaml::List(items) = &tree.value else {
            r.error(
                tree.span,
                format!("`{word}` takes a list of nodes"),
                format!("write `{word}: [guard, …]`"),
            );
            return None;
        };
        if items.is_empty() {
            let help = "name at least one guard, or leave it out";
            r.error(tree.span, format!("`{word}` has no nodes, so it decides nothing"), help);
            return None;
        }
        let nodes: Vec<Option<GraphNode>> =
            items.iter().map(|item| self.node(r, item, parent, depth + 1)).collect();
        nodes.into_iter().collect()
    }

    fn leaf(&self, r: &mut Reader<'_>, tree: &Tree) -> Option<GraphNode> {
        let name = r.sentence(tree, "a node")?;
        let own = self.sections.guards.iter().map(|guard| guard.name.as_str());
        let configured =
            || built_in().filter(|guard| (guard.configured)(self.sections)).map(|guard| guard.name);
        if own.clone().any(|guard| guard == name) || configured().any(|guard| guard == name) {
            return Some(GraphNode::Leaf(name));
        }
        // The error in its definition has been reported.
        if self.sections.refused_guards.contains(&name) {
            return None;
        }
        if let Some(built_in) = built_in().find(|built_in| built_in.name == name) {
            let message = format!(
                "the guard `{name}` has nothing to go by: there is no section `{}`",
                built_in.section
            );
            r.error(tree.span, message, format!("add `{}:`, or leave the guard out", built_in.section));
            return None;
        }
        if let Some(built_in) = built_in().find(|built_in| built_in.section == name) {
            r.error(
                tree.span,
                format!("`{name}` is a section"),
                format!("its guard is called `{}`", built_in.name),
            );
            return None;
        }
        if matches!(name.as_str(), "self_protection" | "rules") {
            r.error(tree.span, format!("`{name}` always stands outside the graph"), "leave it out");
            return None;
        }
        let refused = self.sections.refused_guards.iter().map(String::as_str);
        let known: Vec<&str> = own.chain(refused).chain(configured()).collect();
        let built_in = closest(&name, built_in().map(|built_in| built_in.name));
        let help = match (closest(&name, known.iter().copied()).or(built_in), known.is_empty()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, true) => "define it below `guards:`".to_owned(),
            (None, false) => format!("the guards of this file are: {}", known.join(", ")),
        };
        r.error(tree.span, format!("there is no guard `{name}`"), help);
        None
    }
}

fn is_key_of(table: &Table, key: &str) -> bool {
    table.keys.first().is_some_and(|first| first.name == key)
}
