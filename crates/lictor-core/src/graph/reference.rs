//! The reference evaluator: the tables of the algebra written as directly as possible, for trees with constant
//! leaves. It shares no code with the fast evaluator, and both must agree on every tree.
//!
//! [`Rules`] holds the tables, so that a test can change one of them and check that the laws detect it.

use std::collections::BTreeSet;

use super::{All, Any, Escalate, Graph, GraphError, Node, Not, Threshold, When};
use crate::decision::Value;
use crate::guard::guard_fn;
use crate::verdict::Verdict;

/// A policy tree with constant leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    /// A guard with these verdicts; none is a pass.
    Leaf(Vec<Value>),
    /// All children must allow.
    All(Vec<Tree>, ShortCircuit),
    /// One child must allow.
    Any(Vec<Tree>),
    /// So many children must allow.
    Threshold(usize, Vec<Tree>, ShortCircuit),
    /// Inverted.
    Not(Box<Tree>),
    /// By a condition.
    When(Condition, Box<Tree>, Option<Box<Tree>>),
    /// Primary, fallback, and whether the override needs a person.
    Escalate(Box<Tree>, Box<Tree>, bool),
}

/// Whether a combinator stops when the rest cannot change its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShortCircuit {
    /// It does not.
    Off,
    /// It does.
    On,
}

/// The result of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// It holds.
    True,
    /// It does not.
    False,
    /// It cannot be evaluated.
    Faulty,
}

/// The result of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Yield {
    /// The value of the root.
    pub value: Value,
    /// The verdicts that count, in order: the path of each as child numbers, and its value.
    pub active: Vec<Said>,
}

/// A verdict: the path of its node, its number at that node, and its value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Said {
    /// Child numbers from the root.
    pub at: Vec<usize>,
    /// Its number among the verdicts of the node.
    pub nth: usize,
    /// The value.
    pub value: Value,
}

/// The tables.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// `All` of these values.
    pub all: fn(&[Value]) -> Value,
    /// The n-th of these values; `Any` is the first.
    pub nth: fn(usize, &[Value]) -> Value,
    /// `Not`.
    pub not: fn(Value) -> Value,
    /// `Escalate` of primary and fallback.
    pub escalate: fn(Value, Value) -> Value,
    /// The value of a condition that cannot be evaluated.
    pub faulty: Value,
    /// Where an `All` with short circuit stops.
    pub all_stops_at: fn(Value) -> bool,
    /// Where an `Any` stops.
    pub any_stops_at: fn(Value) -> bool,
}

/// The tables as they are.
pub const RULES: Rules = Rules {
    all: |values| values.iter().copied().max().unwrap_or(Value::Error),
    nth: |n, values| {
        let mut sorted = values.to_vec();
        sorted.sort();
        sorted.get(n.wrapping_sub(1)).copied().unwrap_or(Value::Error)
    },
    not: |value| match value {
        Value::Pass => Value::Block,
        Value::Warn => Value::Block,
        Value::Ask => Value::Error,
        Value::Error => Value::Error,
        Value::Block => Value::Pass,
    },
    escalate: |primary, fallback| match (primary, fallback) {
        (Value::Block, Value::Pass) => Value::Warn,
        (Value::Block, fallback) => fallback,
        (primary, _) => primary,
    },
    faulty: Value::Error,
    all_stops_at: |value| value == Value::Block,
    any_stops_at: |value| value == Value::Pass,
};

/// Evaluates a tree by the tables.
#[must_use]
pub fn evaluate(tree: &Tree, rules: &Rules) -> Yield {
    evaluate_with(tree, rules, &BTreeSet::new())
}

/// Evaluates a tree as if these verdicts were passes: the meaning of an approval.
#[must_use]
pub fn evaluate_with(tree: &Tree, rules: &Rules, approved: &BTreeSet<Said>) -> Yield {
    at(tree, rules, approved, &mut Vec::new())
}

fn at(tree: &Tree, rules: &Rules, approved: &BTreeSet<Said>, here: &mut Vec<usize>) -> Yield {
    match tree {
        Tree::Leaf(values) => {
            let said: Vec<Said> =
                values.iter().enumerate().map(|(nth, &value)| said(here, nth, value, approved)).collect();
            let value = said.iter().map(|said| said.value).max().unwrap_or(Value::Pass);
            Yield { value, active: said.into_iter().filter(|said| said.value > Value::Pass).collect() }
        }
        Tree::All(children, short) => {
            let stop = *short == ShortCircuit::On;
            let yields = each(children, rules, approved, here, |given| {
                stop && given.iter().any(|it| (rules.all_stops_at)(*it))
            });
            let value = (rules.all)(&values(&yields));
            Yield { value, active: flatten(yields) }
        }
        Tree::Any(children) => {
            let yields = each(children, rules, approved, here, |given| {
                given.iter().any(|it| (rules.any_stops_at)(*it))
            });
            let value = (rules.nth)(1, &values(&yields));
            Yield { value, active: first_least_strict(1, value, yields) }
        }
        Tree::Threshold(n, children, short) => {
            let stop = *short == ShortCircuit::On;
            let m = children.len();
            let count = |given: &[Value], value| given.iter().filter(|it| **it == value).count();
            let enough = |given: &[Value]| count(given, Value::Pass) >= *n;
            let hopeless = |given: &[Value]| count(given, Value::Block) > m - n;
            let yields =
                each(children, rules, approved, here, |given| stop && (enough(given) || hopeless(given)));
            let given = values(&yields);
            let value = if stop && hopeless(&given) { Value::Block } else { (rules.nth)(*n, &given) };
            Yield { value, active: first_least_strict(*n, value, yields) }
        }
        Tree::Not(child) => {
            let value = (rules.not)(below(child, 0, rules, approved, here).value);
            own(value, here, approved)
        }
        Tree::When(Condition::Faulty, ..) => own(rules.faulty, here, approved),
        Tree::When(Condition::True, then, _) => below(then, 0, rules, approved, here),
        Tree::When(Condition::False, _, Some(otherwise)) => below(otherwise, 1, rules, approved, here),
        Tree::When(Condition::False, _, None) => Yield { value: Value::Pass, active: Vec::new() },
        Tree::Escalate(primary, fallback, needs_human) => {
            let first = below(primary, 0, rules, approved, here);
            if first.value != Value::Block {
                let value = (rules.escalate)(first.value, Value::Pass);
                return Yield { value, active: first.active };
            }
            let second = below(fallback, 1, rules, approved, here);
            let value = (rules.escalate)(first.value, second.value);
            if value >= Value::Error {
                return Yield { value, active: [first.active, second.active].concat() };
            }
            let mut active = second.active;
            active.push(said(here, 0, Value::Warn, approved));
            let question = said(here, 1, Value::Ask, approved);
            let asks = *needs_human && question.value == Value::Ask;
            if asks {
                active.push(question);
            }
            Yield { value: if asks { value.max(Value::Ask) } else { value }, active }
        }
    }
}

fn below(
    child: &Tree,
    number: usize,
    rules: &Rules,
    approved: &BTreeSet<Said>,
    here: &mut Vec<usize>,
) -> Yield {
    here.push(number);
    let result = at(child, rules, approved, here);
    here.pop();
    result
}

fn each(
    children: &[Tree],
    rules: &Rules,
    approved: &BTreeSet<Said>,
    here: &mut Vec<usize>,
    settled: impl Fn(&[Value]) -> bool,
) -> Vec<Yield> {
    let mut yields: Vec<Yield> = Vec::new();
    for (number, child) in children.iter().enumerate() {
        if settled(&values(&yields)) {
            break;
        }
        yields.push(below(child, number, rules, approved, here));
    }
    yields
}

fn values(yields: &[Yield]) -> Vec<Value> {
    yields.iter().map(|it| it.value).collect()
}

fn flatten(yields: Vec<Yield>) -> Vec<Said> {
    yields.into_iter().flat_map(|it| it.active).collect()
}

/// What counts below `Any` and `Threshold`: up to an `ask` the first n least strict children, else all of them.
fn first_least_strict(n: usize, value: Value, yields: Vec<Yield>) -> Vec<Said> {
    if value > Value::Ask {
        return flatten(yields);
    }
    let mut order: Vec<usize> = (0..yields.len()).collect();
    order.sort_by_key(|index| yields.get(*index).map(|it| it.value));
    let chosen: BTreeSet<usize> = order.into_iter().take(n).collect();
    let kept = yields.into_iter().enumerate().filter(|(index, _)| chosen.contains(index));
    flatten(kept.map(|(_, it)| it).collect())
}

/// A combinator's own verdict.
fn own(value: Value, here: &[usize], approved: &BTreeSet<Said>) -> Yield {
    let said = said(here, 0, value, approved);
    let value = said.value;
    Yield { value, active: if value > Value::Pass { vec![said] } else { Vec::new() } }
}

fn said(here: &[usize], nth: usize, value: Value, approved: &BTreeSet<Said>) -> Said {
    let said = Said { at: here.to_vec(), nth, value };
    if approved.contains(&said) { Said { value: Value::Pass, ..said } } else { said }
}

impl Tree {
    /// A leaf with one verdict.
    #[must_use]
    pub fn leaf(value: Value) -> Self {
        Self::Leaf(vec![value])
    }

    /// The same tree as a graph for the fast evaluator.
    ///
    /// # Errors
    /// When the tree is invalid.
    pub fn graph(&self) -> Result<Graph, GraphError> {
        Graph::new(self.node(&mut Vec::new()))
    }

    fn node(&self, here: &mut Vec<usize>) -> Node {
        let many = |children: &[Tree], here: &mut Vec<usize>| -> Vec<Node> {
            children.iter().enumerate().map(|(number, child)| child.node_below(number, here)).collect()
        };
        match self {
            Self::Leaf(values) => {
                let name = here.iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
                let values = values.clone();
                let guard = guard_fn(format!("leaf {name}"), move |_, context| {
                    context.report(values.iter().map(|value| Verdict::of(*value, "said", "do otherwise")))
                });
                guard.into()
            }
            Self::All(children, short) => {
                let all = All::new(many(children, here));
                if *short == ShortCircuit::On { all.short_circuit().into() } else { all.into() }
            }
            Self::Any(children) => Any::new(many(children, here)).into(),
            Self::Threshold(n, children, short) => {
                let threshold = Threshold::new(*n, many(children, here));
                if *short == ShortCircuit::On { threshold.short_circuit().into() } else { threshold.into() }
            }
            Self::Not(child) => Not::new(child.node_below(0, here), "negated", "do otherwise").into(),
            Self::When(condition, then, otherwise) => {
                let condition = *condition;
                let when = When::fallible(move |_, _| match condition {
                    Condition::True => Ok(true),
                    Condition::False => Ok(false),
                    Condition::Faulty => Err("it is faulty".to_owned()),
                })
                .then(then.node_below(0, here));
                match otherwise {
                    Some(otherwise) => when.otherwise(otherwise.node_below(1, here)).into(),
                    None => when.into(),
                }
            }
            Self::Escalate(primary, fallback, needs_human) => {
                let escalate = Escalate::new(primary.node_below(0, here), fallback.node_below(1, here));
                if *needs_human { escalate.override_needs_human().into() } else { escalate.into() }
            }
        }
    }

    fn node_below(&self, number: usize, here: &mut Vec<usize>) -> Node {
        here.push(number);
        let node = self.node(here);
        here.pop();
        node
    }
}
