//! Laws 1–8 and 15: about values alone.

use lictor_core::decision::Value;
use lictor_core::graph::reference::{Condition, RULES, Rules, ShortCircuit, Tree, evaluate};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::trees::{Shapes, any_tree, any_value, children_mut, judge, leaves, with_leaf, with_short_circuit};

/// Anything that gives a tree a value.
pub(super) type Evaluator<'a> = &'a dyn Fn(&Tree) -> Value;
/// A law: holds, or the counterexample.
pub(super) type Law = fn(Evaluator<'_>) -> Result<(), String>;

pub(super) const LAWS: &[(&str, Law)] = &[
    ("1 lattice", lattice),
    ("2 de morgan", de_morgan),
    ("3 not", not),
    ("4 threshold", threshold),
    ("5 monotone", monotone),
    ("6 escalate", escalate),
    ("7 fault soundness", fault_soundness),
    ("8 short circuit neutrality", short_circuit_neutrality),
    ("9 order", order),
    ("15 policy growth", policy_growth),
];

pub(super) fn fast(tree: &Tree) -> Value {
    judge(tree).value
}

pub(super) fn by_rules(rules: Rules) -> impl Fn(&Tree) -> Value {
    move |tree| evaluate(tree, &rules).value
}

fn hold(law: &str, holds: bool, what: impl std::fmt::Debug) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{law}: {what:?}")) }
}

fn leaf(value: Value) -> Tree {
    Tree::leaf(value)
}

fn all(children: impl IntoIterator<Item = Tree>) -> Tree {
    Tree::All(children.into_iter().collect(), ShortCircuit::Off)
}

fn any_of(children: impl IntoIterator<Item = Tree>) -> Tree {
    Tree::Any(children.into_iter().collect())
}

fn n_of(n: usize, children: impl IntoIterator<Item = Tree>) -> Tree {
    Tree::Threshold(n, children.into_iter().collect(), ShortCircuit::Off)
}

fn inverse(tree: Tree) -> Tree {
    Tree::Not(Box::new(tree))
}

fn escalated(primary: Tree, fallback: Tree) -> Tree {
    Tree::Escalate(Box::new(primary), Box::new(fallback), false)
}

/// All lists of so many values.
fn lists(length: u32) -> impl Iterator<Item = Vec<Value>> {
    (0..5_usize.pow(length))
        .map(move |number| (0..length).map(|place| Value::ALL[number / 5_usize.pow(place) % 5]).collect())
}

fn triples() -> impl Iterator<Item = [Tree; 3]> {
    lists(3).map(|values| [leaf(values[0]), leaf(values[1]), leaf(values[2])])
}

fn lattice(eval: Evaluator<'_>) -> Result<(), String> {
    let operators: [fn(Vec<Tree>) -> Tree; 2] = [all, any_of];
    for [a, b, c] in triples() {
        let (x, y, z) = (|| a.clone(), || b.clone(), || c.clone());
        for (this, other) in [(operators[0], operators[1]), (operators[1], operators[0])] {
            let same = |left: Tree, right: Tree| eval(&left) == eval(&right);
            let laws = [
                (
                    "associative",
                    same(this(vec![this(vec![x(), y()]), z()]), this(vec![x(), this(vec![y(), z()])])),
                ),
                ("flat", same(this(vec![this(vec![x(), y()]), z()]), this(vec![x(), y(), z()]))),
                ("commutative", same(this(vec![x(), y()]), this(vec![y(), x()]))),
                ("idempotent", same(this(vec![x(), x()]), x())),
                ("absorptive", same(this(vec![x(), other(vec![x(), y()])]), x())),
                (
                    "distributive",
                    same(
                        this(vec![x(), other(vec![y(), z()])]),
                        other(vec![this(vec![x(), y()]), this(vec![x(), z()])]),
                    ),
                ),
            ];
            for (law, holds) in laws {
                hold(law, holds, (&a, &b, &c))?;
            }
        }
        let with = |operator: fn(Vec<Tree>) -> Tree, value| eval(&operator(vec![x(), leaf(value)]));
        hold("unit of all", with(operators[0], Value::Pass) == eval(&a), &a)?;
        hold("unit of any", with(operators[1], Value::Block) == eval(&a), &a)?;
        hold("absorber of all", with(operators[0], Value::Block) == Value::Block, &a)?;
        hold("absorber of any", with(operators[1], Value::Pass) == Value::Pass, &a)?;
    }
    Ok(())
}

fn de_morgan(eval: Evaluator<'_>) -> Result<(), String> {
    for length in 1..=4 {
        for values in lists(length) {
            let plain = || values.iter().copied().map(leaf);
            let inverted = || values.iter().copied().map(leaf).map(inverse);
            hold("not all", eval(&inverse(all(plain()))) == eval(&any_of(inverted())), &values)?;
            hold("not any", eval(&inverse(any_of(plain()))) == eval(&all(inverted())), &values)?;
            let m = values.len();
            for n in 1..=m {
                let (left, right) = (inverse(n_of(n, plain())), n_of(m - n + 1, inverted()));
                hold("not threshold", eval(&left) == eval(&right), (n, &values))?;
            }
        }
    }
    for [a, b, _] in triples() {
        for condition in [Condition::True, Condition::False, Condition::Faulty] {
            let when = |a: Tree, b: Tree| Tree::When(condition, Box::new(a), Some(Box::new(b)));
            let left = inverse(when(a.clone(), b.clone()));
            let right = when(inverse(a.clone()), inverse(b.clone()));
            hold("not when", eval(&left) == eval(&right), (condition, &a, &b))?;
        }
    }
    Ok(())
}

fn not(eval: Evaluator<'_>) -> Result<(), String> {
    let not = |value| eval(&inverse(leaf(value)));
    for a in Value::ALL {
        for b in Value::ALL {
            hold("antitone", a > b || not(a) >= not(b), (a, b))?;
        }
        hold("not three times is not", not(not(not(a))) == not(a), a)?;
        hold("allows only a certain block", !not(a).settle().allows() || a == Value::Block, a)?;
        hold("twice is never laxer", not(not(a)) >= a || a == Value::Warn, a)?;
        hold("twice keeps what is allowed", a != Value::Warn || not(not(a)) == Value::Pass, a)?;
    }
    Ok(())
}

fn threshold(eval: Evaluator<'_>) -> Result<(), String> {
    for length in 1..=4 {
        for values in lists(length) {
            let of = |n: usize| eval(&n_of(n, values.iter().copied().map(leaf)));
            let mut sorted = values.clone();
            sorted.sort_by_key(|value| std::cmp::Reverse(*value));
            let m = values.len();
            hold("one is any", of(1) == eval(&any_of(values.iter().copied().map(leaf))), &values)?;
            hold("m is all", of(m) == eval(&all(values.iter().copied().map(leaf))), &values)?;
            let allowing = values.iter().filter(|value| value.settle().allows()).count();
            for n in 1..=m {
                hold("symmetric", of(n) == eval(&n_of(n, sorted.iter().copied().map(leaf))), (n, &values))?;
                hold("non-decreasing", n == m || of(n) <= of(n + 1), (n, &values))?;
                hold("quorum", of(n).settle().allows() == (allowing >= n), (n, &values))?;
            }
        }
    }
    Ok(())
}

fn escalate(eval: Evaluator<'_>) -> Result<(), String> {
    let of = |a, b| eval(&escalated(leaf(a), leaf(b)));
    for values in lists(3) {
        let (a, b, c) = (values[0], values[1], values[2]);
        let (low, high) = (eval(&any_of([leaf(a), leaf(b)])), eval(&all([leaf(a), leaf(b)])));
        hold("between any and all", low <= of(a, b) && of(a, b) <= high, (a, b))?;
        let left = eval(&escalated(escalated(leaf(a), leaf(b)), leaf(c)));
        let right = eval(&escalated(leaf(a), escalated(leaf(b), leaf(c))));
        hold("associative", left == right, &values)?;
        hold("monotone in the fallback", b > c || of(a, b) <= of(a, c), &values)?;
        hold("an override is visible", of(Value::Block, b) >= Value::Warn, b)?;
        hold("a fault is not gone around", of(Value::Error, b) == Value::Error, b)?;
        let considered = a <= b && b <= Value::Ask;
        hold("monotone in the primary up to ask", !considered || of(a, c) <= of(b, c), &values)?;
    }
    Ok(())
}

/// Runs a checker on random inputs, the same ones every time.
fn random<S: Strategy>(
    cases: u32,
    strategy: S,
    check: impl Fn(S::Value) -> Result<(), TestCaseError>,
) -> Result<(), String> {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let rng = proptest::test_runner::TestRng::deterministic_rng(config.rng_algorithm);
    TestRunner::new_with_rng(config, rng).run(&strategy, check).map_err(|error| error.to_string())
}

fn monotone(eval: Evaluator<'_>) -> Result<(), String> {
    random(1500, any_tree(Shapes::Monotone), |tree| {
        for index in 0..leaves(&tree) {
            let by_value = Value::ALL.map(|value| eval(&with_leaf(&tree, index, value)));
            prop_assert!(by_value.is_sorted(), "leaf {index}: {by_value:?}");
        }
        Ok(())
    })
}

fn fault_soundness(eval: Evaluator<'_>) -> Result<(), String> {
    random(1500, any_tree(Shapes::All), |tree| {
        for index in 0..leaves(&tree) {
            let faulty = eval(&with_leaf(&tree, index, Value::Error)).settle();
            for value in Value::ALL {
                let answered = eval(&with_leaf(&tree, index, value)).settle();
                prop_assert!(
                    faulty >= answered,
                    "leaf {index}: error gives {faulty}, {value} gives {answered}"
                );
            }
        }
        Ok(())
    })
}

fn short_circuit_neutrality(eval: Evaluator<'_>) -> Result<(), String> {
    random(1500, any_tree(Shapes::All), |tree| {
        let (off, on) =
            (with_short_circuit(&tree, ShortCircuit::Off), with_short_circuit(&tree, ShortCircuit::On));
        prop_assert_eq!(eval(&off), eval(&on));
        Ok(())
    })
}

fn order(eval: Evaluator<'_>) -> Result<(), String> {
    fn reversed(tree: &Tree) -> Tree {
        let mut tree = tree.clone();
        if let Tree::All(children, _) | Tree::Any(children) | Tree::Threshold(_, children, _) = &mut tree {
            children.reverse();
        }
        for child in children_mut(&mut tree) {
            *child = reversed(child);
        }
        tree
    }
    random(1500, any_tree(Shapes::All), |tree| {
        prop_assert_eq!(eval(&tree), eval(&reversed(&tree)));
        Ok(())
    })
}

fn policy_growth(eval: Evaluator<'_>) -> Result<(), String> {
    /// Adds a child to the n-th `All` that is neither below a `Not` nor below the primary of an `Escalate`.
    fn grow(tree: &mut Tree, n: &mut usize, child: &Tree) {
        if let Tree::All(children, _) = tree {
            if *n == 0 {
                children.push(child.clone());
            }
            *n = n.wrapping_sub(1);
        }
        match tree {
            Tree::Not(_) => {}
            Tree::Escalate(_, fallback, _) => grow(fallback, n, child),
            tree => children_mut(tree).into_iter().for_each(|below| grow(below, n, child)),
        }
    }
    random(1500, (any_tree(Shapes::All), any_value(), 0_usize..4), |(tree, value, at)| {
        let before = eval(&tree).settle();
        let mut grown = tree.clone();
        grow(&mut grown, &mut at.clone(), &leaf(value));
        let after = eval(&grown).settle();
        prop_assert!(before.allows() || !after.allows(), "{before} became {after} by {grown:?}");
        Ok(())
    })
}

#[test]
fn the_fast_evaluator_keeps_every_law() {
    for (name, law) in LAWS {
        law(&fast).unwrap_or_else(|counterexample| panic!("law {name}: {counterexample}"));
    }
}

#[test]
fn the_reference_keeps_every_law() {
    for (name, law) in LAWS {
        law(&by_rules(RULES)).unwrap_or_else(|counterexample| panic!("law {name}: {counterexample}"));
    }
}

/// Growth below a `Not` can turn a block into a pass: this is why lints warn of boundaries there.
#[test]
fn growth_below_not_is_not_safe() {
    assert_eq!(fast(&inverse(all([leaf(Value::Pass)]))), Value::Block);
    assert_eq!(fast(&inverse(all([leaf(Value::Pass), leaf(Value::Block)]))), Value::Pass);
}

/// The one step where raising the primary relaxes the outcome; documented behaviour.
#[test]
fn escalate_is_not_monotone_from_ask_to_block() {
    assert_eq!(fast(&escalated(leaf(Value::Ask), leaf(Value::Pass))), Value::Ask);
    assert_eq!(fast(&escalated(leaf(Value::Block), leaf(Value::Pass))), Value::Warn);
}
