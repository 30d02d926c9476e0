//! Decides whether literals can hold together: whether each tested value has a solution.

use std::collections::{BTreeMap, BTreeSet};

use super::automaton::{Language, is_empty};
use super::literal::{Constant, Literal, Test};
use crate::program::TextTest;

/// Whether the literals cannot all hold. `false` if unknown.
pub(super) fn is_impossible(literals: &[Literal]) -> bool {
    if literals.iter().any(|it| matches!(it.test, Test::Is(value) if value != it.wanted)) {
        return true;
    }
    // A field that is missing is not read.
    let missing: BTreeSet<&str> = literals
        .iter()
        .filter(|it| matches!(it.test, Test::Has) && !it.wanted)
        .map(|it| it.term.as_str())
        .collect();
    let is_there = |it: &Literal| match it.test {
        Test::Has => it.wanted,
        Test::There | Test::Map => true,
        _ => false,
    };
    if literals.iter().any(|it| is_there(it) && missing.contains(it.term.as_str())) {
        return true;
    }
    let mut terms: BTreeMap<&str, Vec<&Literal>> = BTreeMap::new();
    for it in literals {
        terms.entry(&it.term).or_default().push(it);
    }
    terms.values().any(|tests| no_value(tests))
}

/// What kind of value a term may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    Bool,
    Number,
    Text,
    /// Maps, lists.
    Other,
}

const KINDS: [Kind; 5] = [Kind::Null, Kind::Bool, Kind::Number, Kind::Text, Kind::Other];

fn kind(constant: &Constant) -> Kind {
    match constant {
        Constant::Null => Kind::Null,
        Constant::Bool(_) => Kind::Bool,
        Constant::Number(_) => Kind::Number,
        Constant::Text(_) => Kind::Text,
    }
}

fn no_value(tests: &[&Literal]) -> bool {
    let held = |wanted: bool| tests.iter().any(|it| matches!(it.test, Test::Holds) && it.wanted == wanted);
    if held(true) && held(false) {
        return true;
    }
    KINDS.into_iter().all(|kind| tests.iter().any(|it| !admits(it, kind)) || none_left(tests, kind))
}

/// Whether a value of this kind can give the required outcome. Comparing values of different kinds is an error;
/// only `null` can be compared with everything.
fn admits(it: &Literal, of: Kind) -> bool {
    match &it.test {
        Test::Holds | Test::Is(_) | Test::There | Test::Has => true,
        Test::Map => of == Kind::Other,
        Test::Equal(Constant::Null) => it.wanted == (of == Kind::Null),
        Test::Equal(constant) => of == kind(constant) || (!it.wanted && of == Kind::Null),
        Test::In(constants) if it.wanted => constants.iter().any(|constant| kind(constant) == of),
        Test::In(constants) => {
            of == Kind::Null
                || constants.iter().all(|constant| matches!(constant, Constant::Null) || kind(constant) == of)
        }
        Test::Less(constant) | Test::LessOrEqual(constant) => kind(constant) == of,
        Test::Text(..) | Test::Matches(_) => of == Kind::Text,
    }
}

fn none_left(tests: &[&Literal], of: Kind) -> bool {
    match of {
        Kind::Null => ![Constant::Null].iter().any(|value| tests.iter().all(|it| comes_out(it, value))),
        Kind::Bool => ![true, false]
            .into_iter()
            .any(|value| tests.iter().all(|it| comes_out(it, &Constant::Bool(value)))),
        Kind::Number => no_number(tests),
        Kind::Text => no_text(tests),
        Kind::Other => false,
    }
}

/// Whether a test of a null, a bool or a number has the required outcome.
fn comes_out(it: &Literal, value: &Constant) -> bool {
    let order = |constant: &Constant| match (value, constant) {
        (Constant::Number(a), Constant::Number(b)) => a.partial_cmp(b),
        (Constant::Bool(a), Constant::Bool(b)) => Some(a.cmp(b)),
        _ => None,
    };
    match &it.test {
        Test::Equal(constant) => (value == constant) == it.wanted,
        Test::In(constants) => constants.contains(value) == it.wanted,
        Test::Less(constant) => order(constant).is_some_and(|order| order.is_lt() == it.wanted),
        Test::LessOrEqual(constant) => order(constant).is_some_and(|order| order.is_le() == it.wanted),
        _ => true,
    }
}

/// The outcome of every number test depends only on the order relative to the literal numbers. Trying these, one
/// between each two, and one beyond each end therefore covers all numbers.
fn no_number(tests: &[&Literal]) -> bool {
    let whole = tests.iter().any(|it| it.whole);
    let mut written: Vec<f64> = Vec::new();
    let mut note = |constant: &Constant| {
        if let Constant::Number(number) = constant {
            written.push(*number);
        }
    };
    for it in tests {
        match &it.test {
            Test::Equal(constant) | Test::Less(constant) | Test::LessOrEqual(constant) => note(constant),
            Test::In(constants) => constants.iter().for_each(&mut note),
            _ => {}
        }
    }
    written.sort_by(f64::total_cmp);
    let mut tried: Vec<f64> = vec![0.0, f64::MIN, f64::MAX, f64::NEG_INFINITY, f64::INFINITY];
    for (index, number) in written.iter().enumerate() {
        let next = written.get(index + 1).copied().unwrap_or(number + 2.0);
        let between = [number + (next - number) / 2.0, (number + 1.0).floor(), (next - 1.0).ceil()];
        tried.extend([*number, number - 1.0, (number - 1.0).ceil()]);
        tried.extend(between);
    }
    tried.retain(|number| !whole || number.fract() == 0.0);
    !tried.iter().any(|number| tests.iter().all(|it| comes_out(it, &Constant::Number(*number))))
}

fn no_text(tests: &[&Literal]) -> bool {
    let escaped = regex_syntax::escape;
    let mut languages = Vec::new();
    for it in tests {
        let pattern = match &it.test {
            Test::Equal(Constant::Text(text)) => format!(r"\A(?:{})\z", escaped(text)),
            Test::In(constants) => {
                let texts = constants.iter().filter_map(|constant| match constant {
                    Constant::Text(text) => Some(escaped(text)),
                    _ => None,
                });
                format!(r"\A(?:{})\z", texts.collect::<Vec<_>>().join("|"))
            }
            Test::Text(TextTest::StartsWith, part) => format!(r"\A(?:{})", escaped(part)),
            Test::Text(TextTest::EndsWith, part) => format!(r"(?:{})\z", escaped(part)),
            Test::Text(TextTest::Contains, part) => escaped(part),
            Test::Matches(pattern) => pattern.clone(),
            // The ordering of texts is not analysed.
            _ => continue,
        };
        // A pattern that cannot be simulated gives no constraint.
        languages.extend(Language::new(&pattern, it.wanted));
    }
    is_empty(&languages)
}
