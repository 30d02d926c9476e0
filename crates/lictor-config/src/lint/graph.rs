//! Branches of the graph that are never taken, guards that never matter, boundaries that can be bypassed.

use lictor_core::{Decision, Layer, Value};

use super::Lint;
use super::conditions::Settled;
use crate::diagnostic::Span;
use crate::sections::built_in;
use crate::sections::{GraphNode, GuardDecides, Sections};
use crate::yaml::Tree;

pub(super) fn look(lint: &mut Lint<'_>) {
    let sections = &lint.file.sections;
    let named = sections.policy.as_ref().map(GraphNode::leaves).unwrap_or_default();
    let unused: Vec<&str> = sections
        .guards
        .iter()
        .map(|guard| guard.name.as_str())
        .filter(|name| !named.contains(name))
        .collect();
    for name in unused {
        let Some(tree) = lint.file.tree.at(&["guards", name]) else { continue };
        lint.warn(tree.span, format!("nothing asks the guard `{name}`"), "name it below `policy:`");
    }
    let (Some(graph), Some(tree)) = (&lint.file.sections.policy, lint.file.tree.get("policy")) else {
        return;
    };
    let mut walk = Walk { lint, sections: &lint.file.sections, found: Vec::new(), spenders: Vec::new() };
    walk.visit(graph, tree, Place::default());
    let found = walk.found;
    for (span, message, help) in found {
        lint.warn(span, message, help);
    }
}

/// The values that a node can yield, as a set.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Values(u8);

impl Values {
    fn of(values: impl IntoIterator<Item = Value>) -> Self {
        Self(values.into_iter().fold(0, |set, value| set | 1 << value as u8))
    }

    fn has(self, value: Value) -> bool {
        self.0 & 1 << value as u8 != 0
    }

    fn each(self) -> impl Iterator<Item = Value> {
        Value::ALL.into_iter().filter(move |value| self.has(*value))
    }

    fn always(self, value: Value) -> bool {
        self == Self::of([value])
    }
}

#[derive(Clone, Copy, Default)]
struct Place {
    /// The combinator above that can override a block here.
    around: Option<&'static str>,
    below_not: bool,
}

struct Walk<'a> {
    lint: &'a Lint<'a>,
    sections: &'a Sections,
    found: Vec<(Span, String, String)>,
    /// Guards that spend budget, seen before any boundary.
    spenders: Vec<(Span, &'a str)>,
}

impl<'a> Walk<'a> {
    fn warn(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.found.push((span, message.into(), help.into()));
    }

    fn visit(&mut self, node: &'a GraphNode, tree: &Tree, place: Place) -> Values {
        match node {
            GraphNode::Leaf(name) => self.leaf(name, tree.span, place),
            GraphNode::All { children, .. } => {
                let values = self.children(children, tree.get("all"), place);
                combine(&values, values.len())
            }
            GraphNode::Any(children) => {
                let inner = around(place, children.len() > 1, "any");
                let values = self.children(children, tree.get("any"), inner);
                self.settled(&values, tree.get("any"));
                combine(&values, 1)
            }
            GraphNode::Threshold { at_least, of } => {
                let trees = tree.at(&["threshold", "of"]);
                let values = self.children(of, trees, around(place, *at_least < of.len(), "threshold"));
                combine(&values, *at_least)
            }
            GraphNode::Not { node, .. } => {
                if place.below_not {
                    self.warn(
                        tree.span,
                        "this negates a negation",
                        "write what is meant without either `not`",
                    );
                }
                let inner = tree.at(&["not", "node"]).unwrap_or(tree);
                let place = Place { around: place.around.or(Some("not")), below_not: true };
                let values = self.visit(node, inner, place);
                Values::of(values.each().map(Value::negate))
            }
            GraphNode::Escalate { primary, fallback, needs_human } => {
                let trees: Vec<&Tree> = tree.get("escalate").map(Tree::items).unwrap_or_default();
                let (first, second) =
                    (trees.first().copied().unwrap_or(tree), trees.get(1).copied().unwrap_or(tree));
                let inner = Place { around: place.around.or(Some("escalate")), below_not: false };
                let strict = self.visit(primary, first, inner);
                let way = self.visit(fallback, second, Place { below_not: false, ..place });
                if !strict.has(Value::Block) {
                    self.warn(
                        second.span,
                        "this is never asked: what stands before it never blocks",
                        "leave `escalate` out",
                    );
                }
                let floor = if *needs_human { Value::Ask } else { Value::Warn };
                let kept = strict.each().filter(|value| *value != Value::Block);
                Values::of(kept.chain(way.each().map(|value| value.max(floor))))
            }
            GraphNode::When { condition, then, otherwise } => {
                let settled = tree.get("when").and_then(|at| self.lint.settled(condition, at));
                if let Some(Settled { truth, why, span }) = &settled {
                    let branch = if *truth { "otherwise" } else { "then" };
                    let help = match tree.get(branch) {
                        Some(_) => format!("`{branch}` is never reached"),
                        None => "the condition decides nothing".to_owned(),
                    };
                    self.warn(*span, why, help);
                }
                let place = Place { below_not: false, ..place };
                let yes = self.visit(then, tree.get("then").unwrap_or(tree), place);
                let no = match otherwise {
                    Some(otherwise) => self.visit(otherwise, tree.get("otherwise").unwrap_or(tree), place),
                    None => Values::of([Value::Pass]),
                };
                // A condition with one outcome may still have no value, unless it reads nothing.
                let fault = condition.constant().is_none().then_some(Value::Error);
                let taken = match settled.map(|settled| settled.truth) {
                    Some(true) => vec![yes],
                    Some(false) => vec![no],
                    None => vec![yes, no],
                };
                Values::of(taken.into_iter().flat_map(Values::each).chain(fault))
            }
        }
    }

    fn children(&mut self, nodes: &'a [GraphNode], list: Option<&Tree>, place: Place) -> Vec<Values> {
        let trees = list.map(Tree::items).unwrap_or_default();
        let place = Place { below_not: false, ..place };
        nodes.iter().zip(trees).map(|(node, tree)| self.visit(node, tree, place)).collect()
    }

    /// Nodes after one that always passes are never evaluated.
    fn settled(&mut self, values: &[Values], list: Option<&Tree>) {
        let trees = list.map(Tree::items).unwrap_or_default();
        let Some(index) = values.iter().position(|values| values.always(Value::Pass)) else { return };
        for tree in trees.iter().skip(index + 1) {
            self.warn(tree.span, "this is never asked: one before it always passes", "take one of them away");
        }
    }

    fn leaf(&mut self, name: &'a str, span: Span, place: Place) -> Values {
        let own = self.sections.guards.iter().find(|guard| guard.name == name);
        let built_in = built_in().find(|built_in| built_in.name == name).map(|built_in| built_in.layer);
        match own.map(|guard| guard.layer).or(built_in) {
            Some(Layer::Boundary) => {
                for (span, spender) in std::mem::take(&mut self.spenders) {
                    let message = format!("`{spender}` is asked before the boundary `{name}`");
                    self.warn(span, message, "put boundaries first: what they block must not cost anything");
                }
                if let Some(around) = place.around {
                    let message = format!("`{around}` can go around the boundary `{name}`");
                    self.warn(span, message, "a boundary is absolute only directly below `all`");
                }
            }
            Some(Layer::Resource) => self.spenders.push((span, name)),
            _ => {}
        }
        match own.map(|guard| (&guard.by, guard.decision)) {
            None => built_in_values(self.sections, name),
            Some((GuardDecides::Expr(program), decision)) => match program.constant() {
                Some(true) => Values::of([Value::Pass]),
                Some(false) => Values::of([decision.into()]),
                None => Values::of([Value::Pass, decision.into(), Value::Error]),
            },
            Some((GuardDecides::Command(_), decision)) => {
                Values::of([Value::Pass, decision.into(), Value::Error])
            }
        }
    }
}

/// The possible values of a built-in guard, as far as its section limits them.
fn built_in_values(sections: &Sections, name: &str) -> Values {
    match name {
        "risk" => {
            let ask = sections.risk.is_some_and(|it| it.ask_at.is_some()).then_some(Value::Ask);
            let block = sections.risk.is_some_and(|it| it.block_at.is_some()).then_some(Value::Block);
            Values::of([Value::Pass].into_iter().chain(ask).chain(block))
        }
        "secrets" => {
            let it = sections.secrets.clone().unwrap_or_default();
            let said = [
                it.read.unwrap_or(Decision::Ask),
                it.write.unwrap_or(Decision::Ask),
                it.send.unwrap_or(Decision::Block),
            ];
            Values::of([Value::Pass].into_iter().chain(said.map(Value::from)))
        }
        _ => Values(0b1_1111),
    }
}

fn around(place: Place, possible: bool, word: &'static str) -> Place {
    Place { around: place.around.or(possible.then_some(word)), ..place }
}

/// The possible values of the n-th least strict of several nodes.
fn combine(values: &[Values], rank: usize) -> Values {
    // A value is possible when some node has it, enough nodes can be at most it, and enough can be at least it.
    let possible = |value: Value| {
        let below = values.iter().filter(|it| it.each().any(|other| other <= value)).count();
        let above = values.iter().filter(|it| it.each().any(|other| other >= value)).count();
        let has = values.iter().any(|it| it.has(value));
        has && below >= rank && above > values.len().saturating_sub(rank)
    };
    Values::of(Value::ALL.into_iter().filter(|value| possible(*value)))
}
