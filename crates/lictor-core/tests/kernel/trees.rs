//! Trees as data and at random.

use lictor_core::decision::Value;
use lictor_core::graph::reference::{Condition, ShortCircuit, Tree};
use lictor_core::{Action, Facts, Judged, SessionState, Timestamp};
use proptest::prelude::*;
use serde_json::Value as Json;

/// A tree written as JSON: `"warn"`, `{"all": […]}`, `{"threshold": [2, […]]}`, `{"when": ["true", a, b]}`, ….
pub(crate) fn parse(json: &Json) -> Tree {
    if let Some(name) = json.as_str() {
        return Tree::leaf(value(name));
    }
    let (kind, body) = json.as_object().and_then(|map| map.iter().next()).expect("a combinator");
    let one = |index: usize| Box::new(parse(&body[index]));
    let many = |json: &Json| json.as_array().expect("a list").iter().map(parse).collect::<Vec<_>>();
    match kind.as_str() {
        "all" => Tree::All(many(body), ShortCircuit::Off),
        "any" => Tree::Any(many(body)),
        "not" => Tree::Not(Box::new(parse(body))),
        "threshold" => {
            let at_least = usize::try_from(body[0].as_u64().expect("a number")).expect("small");
            Tree::Threshold(at_least, many(&body[1]), ShortCircuit::Off)
        }
        "when" => {
            let condition = match body[0].as_str().expect("a word") {
                "true" => Condition::True,
                "false" => Condition::False,
                _ => Condition::Faulty,
            };
            Tree::When(condition, one(1), body.get(2).map(|json| Box::new(parse(json))))
        }
        "escalate" => Tree::Escalate(one(0), one(1), false),
        "escalate_with_human" => Tree::Escalate(one(0), one(1), true),
        other => panic!("unknown combinator {other}"),
    }
}

pub(crate) fn value(name: &str) -> Value {
    serde_json::from_value(Json::String(name.to_owned())).expect("one of the five values")
}

/// One JSON value a line, each with an `id`.
pub(crate) fn cases(lines: &str) -> Vec<(String, Json)> {
    let cases: Vec<(String, Json)> = lines
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str::<Json>(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .map(|case| (case["id"].as_str().expect("an id").to_owned(), case))
        .collect();
    let mut ids: Vec<&str> = cases.iter().map(|(id, _)| id.as_str()).collect();
    ids.sort_unstable();
    ids.windows(2).for_each(|pair| assert_ne!(pair[0], pair[1], "an id stands twice"));
    cases
}

/// The result of the fast evaluator.
pub(crate) fn judge(tree: &Tree) -> Judged {
    let graph = tree.graph().unwrap_or_else(|error| panic!("{error}: {tree:?}"));
    graph.judge(&Action::bash("ls"), &Facts::none(), &SessionState::default(), Timestamp(0))
}

pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    prop::sample::select(Value::ALL.to_vec())
}

/// Which combinators a random tree may have.
#[derive(Clone, Copy)]
pub(crate) enum Shapes {
    All,
    /// Without `Not` and `Escalate`.
    Monotone,
}

pub(crate) fn any_tree(shapes: Shapes) -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        6 => any_value().prop_map(Tree::leaf),
        1 => prop::collection::vec(any_value(), 0..4).prop_map(Tree::Leaf),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let many = prop::collection::vec(inner.clone(), 1..5);
        let short = prop_oneof![Just(ShortCircuit::Off), Just(ShortCircuit::On)];
        let condition = prop_oneof![
            4 => Just(Condition::True),
            4 => Just(Condition::False),
            1 => Just(Condition::Faulty)
        ];
        let boxed = inner.clone().prop_map(Box::new);
        let monotone = prop_oneof![
            (many.clone(), short.clone()).prop_map(|(children, short)| Tree::All(children, short)),
            many.clone().prop_map(Tree::Any),
            (many, any::<prop::sample::Index>(), short)
                .prop_map(|(children, n, short)| Tree::Threshold(n.index(children.len()) + 1, children, short)),
            (condition, boxed.clone(), boxed.clone())
                .prop_map(|(condition, then, otherwise)| Tree::When(condition, then, Some(otherwise))),
        ];
        match shapes {
            Shapes::Monotone => monotone.boxed(),
            Shapes::All => prop_oneof![
                4 => monotone,
                1 => boxed.clone().prop_map(Tree::Not),
                1 => (boxed.clone(), boxed, any::<bool>()).prop_map(|(a, b, human)| Tree::Escalate(a, b, human)),
            ]
            .boxed(),
        }
    })
}

/// The tree with every leaf of it replaced in turn, given by a function of its number.
pub(crate) fn leaves(tree: &Tree) -> usize {
    match tree {
        Tree::Leaf(_) => 1,
        Tree::All(children, _) | Tree::Any(children) | Tree::Threshold(_, children, _) => {
            children.iter().map(leaves).sum()
        }
        Tree::Not(child) => leaves(child),
        Tree::When(_, then, otherwise) => leaves(then) + otherwise.as_deref().map_or(0, leaves),
        Tree::Escalate(primary, fallback, _) => leaves(primary) + leaves(fallback),
    }
}

/// The same tree with leaf number `index` (from the left) saying `value`.
pub(crate) fn with_leaf(tree: &Tree, index: usize, value: Value) -> Tree {
    let mut tree = tree.clone();
    let mut index = index;
    replace(&mut tree, &mut index, value);
    tree
}

fn replace(tree: &mut Tree, index: &mut usize, value: Value) {
    for child in match tree {
        Tree::Leaf(values) => {
            if *index == 0 {
                *values = vec![value];
            }
            *index = index.wrapping_sub(1);
            return;
        }
        tree => children_mut(tree),
    } {
        replace(child, index, value);
    }
}

pub(crate) fn children_mut(tree: &mut Tree) -> Vec<&mut Tree> {
    match tree {
        Tree::Leaf(_) => Vec::new(),
        Tree::All(children, _) | Tree::Any(children) | Tree::Threshold(_, children, _) => {
            children.iter_mut().collect()
        }
        Tree::Not(child) => vec![&mut **child],
        Tree::When(_, then, otherwise) => {
            std::iter::once(&mut **then).chain(otherwise.as_deref_mut()).collect()
        }
        Tree::Escalate(primary, fallback, _) => vec![&mut **primary, &mut **fallback],
    }
}

/// The same tree with all short circuits on or off.
pub(crate) fn with_short_circuit(tree: &Tree, wanted: ShortCircuit) -> Tree {
    fn set(tree: &mut Tree, wanted: ShortCircuit) {
        if let Tree::All(_, short) | Tree::Threshold(_, _, short) = tree {
            *short = wanted;
        }
        children_mut(tree).into_iter().for_each(|child| set(child, wanted));
    }
    let mut tree = tree.clone();
    set(&mut tree, wanted);
    tree
}

/// The path that the fast evaluator gives the node at these child numbers.
pub(crate) fn path(tree: &Tree, at: &[usize]) -> String {
    let mut path = String::new();
    let mut tree = tree.clone();
    for &number in at {
        path += &match &tree {
            Tree::Leaf(_) => panic!("a leaf has no children"),
            Tree::All(..) => format!("/all[{number}]"),
            Tree::Any(_) => format!("/any[{number}]"),
            Tree::Threshold(..) => format!("/threshold[{number}]"),
            Tree::Not(_) => "/not".to_owned(),
            Tree::When(..) => ["/when/then", "/when/otherwise"][number].to_owned(),
            Tree::Escalate(..) => ["/escalate/primary", "/escalate/fallback"][number].to_owned(),
        };
        tree = children_mut(&mut tree).swap_remove(number).clone();
    }
    if path.is_empty() { "/".to_owned() } else { path }
}

/// The verdicts that count, as the fast evaluator has them: path and value.
pub(crate) fn active(judged: &Judged) -> Vec<(String, Value)> {
    let active = judged.verdicts.iter().filter(|given| given.counts());
    active.map(|given| (given.path().to_owned(), given.verdict.value())).collect()
}
