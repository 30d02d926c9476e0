//! Injected faults. A law that no fault can violate proves nothing.

use lictor_core::decision::Value;
use lictor_core::graph::reference::{RULES, Rules};

use super::algebra::{LAWS, Law, by_rules};

/// A fault, and a law that must notice it.
struct Mutant {
    name: &'static str,
    breaks: &'static str,
    rules: Rules,
}

fn smallest(values: &[Value]) -> Value {
    values.iter().copied().min().unwrap_or(Value::Pass)
}

fn sorted(values: &[Value]) -> Vec<Value> {
    let mut sorted = values.to_vec();
    sorted.sort();
    sorted
}

/// The values with errors taken for passes.
fn hopeful(values: &[Value]) -> Vec<Value> {
    values.iter().map(|value| if *value == Value::Error { Value::Pass } else { *value }).collect()
}

fn mutants() -> Vec<Mutant> {
    let mutant = |name, breaks, rules| Mutant { name, breaks, rules };
    vec![
        mutant("all is any", "1 lattice", Rules { all: smallest, ..RULES }),
        mutant(
            "all drops the last child",
            "1 lattice",
            Rules {
                all: |values| {
                    values
                        .split_last()
                        .map_or(Value::Pass, |(last, rest)| rest.iter().copied().max().unwrap_or(*last))
                },
                ..RULES
            },
        ),
        mutant(
            "not keeps a warning",
            "2 de morgan",
            Rules { not: |value| if value == Value::Warn { value } else { (RULES.not)(value) }, ..RULES },
        ),
        mutant(
            "not blocks a question",
            "3 not",
            Rules {
                not: |value| if value == Value::Ask { Value::Block } else { (RULES.not)(value) },
                ..RULES
            },
        ),
        mutant(
            "one too few is enough",
            "4 threshold",
            Rules {
                nth: |n, values| sorted(values).get(n.saturating_sub(2)).copied().unwrap_or(Value::Error),
                ..RULES
            },
        ),
        mutant(
            "a warning is better than a pass below any",
            "5 monotone",
            Rules {
                nth: |n, values| {
                    let mut values = values.to_vec();
                    values
                        .sort_by_key(|value| if *value == Value::Pass { 1 } else { 2 * (*value as u8) - 1 });
                    if values.contains(&Value::Warn) {
                        Value::Pass
                    } else {
                        values.get(n - 1).copied().unwrap_or(Value::Error)
                    }
                },
                any_stops_at: |_| false,
                ..RULES
            },
        ),
        mutant(
            "an override is invisible",
            "6 escalate",
            Rules { escalate: |a, b| if a == Value::Block { b } else { a }, ..RULES },
        ),
        mutant(
            "a fault is gone around",
            "7 fault soundness",
            Rules { escalate: |a, b| if a >= Value::Error { b.max(Value::Warn) } else { a }, ..RULES },
        ),
        mutant(
            "an error is skipped",
            "7 fault soundness",
            Rules {
                all: |values| {
                    values.iter().copied().filter(|value| *value != Value::Error).max().unwrap_or(Value::Pass)
                },
                ..RULES
            },
        ),
        mutant(
            "all stops at an error",
            "8 short circuit neutrality",
            Rules { all_stops_at: |value| value >= Value::Error, ..RULES },
        ),
        mutant(
            "any stops at a warning",
            "9 order",
            Rules { any_stops_at: |value| value <= Value::Warn, ..RULES },
        ),
        mutant(
            "the last child decides",
            "15 policy growth",
            Rules { all: |values| values.last().copied().unwrap_or(Value::Pass), ..RULES },
        ),
    ]
}

fn law(name: &str) -> Law {
    LAWS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("no law {name}")).1
}

#[test]
fn every_planted_fault_breaks_its_law() {
    for Mutant { name, breaks, rules } in mutants() {
        let found = law(breaks)(&by_rules(rules));
        assert!(found.is_err(), "`{name}` goes unnoticed by law {breaks}");
    }
}

#[test]
fn every_law_has_a_planted_fault() {
    for (name, _) in LAWS {
        assert!(mutants().iter().any(|mutant| mutant.breaks == *name), "law {name} has no negative control");
    }
}

/// Law 16: treating an error as a pass in any one rule is detected by some law.
#[test]
fn error_taken_for_a_pass_in_any_one_rule_is_noticed() {
    let hopes = [
        ("all", Rules { all: |values| (RULES.all)(&hopeful(values)), ..RULES }),
        ("nth", Rules { nth: |n, values| (RULES.nth)(n, &hopeful(values)), ..RULES }),
        (
            "not of error",
            Rules {
                not: |value| if value == Value::Error { Value::Pass } else { (RULES.not)(value) },
                ..RULES
            },
        ),
        (
            "not of ask",
            Rules {
                not: |value| if value == Value::Ask { Value::Pass } else { (RULES.not)(value) },
                ..RULES
            },
        ),
        (
            "primary error",
            Rules {
                escalate: |a, b| if a == Value::Error { Value::Pass } else { (RULES.escalate)(a, b) },
                ..RULES
            },
        ),
        (
            "fallback error",
            Rules {
                escalate: |a, b| {
                    if (a, b) == (Value::Block, Value::Error) { Value::Pass } else { (RULES.escalate)(a, b) }
                },
                ..RULES
            },
        ),
        ("faulty condition", Rules { faulty: Value::Pass, ..RULES }),
    ];
    for (name, rules) in hopes {
        let noticed = LAWS.iter().any(|(_, law)| law(&by_rules(rules)).is_err()) || !keeps_the_tables(&rules);
        assert!(noticed, "an error taken for a pass in `{name}` goes unnoticed");
    }
}

fn keeps_the_tables(rules: &Rules) -> bool {
    crate::trees::cases(include_str!("../../cases/tables.jsonl")).iter().all(|(_, case)| {
        let tree = crate::trees::parse(&case["tree"]);
        by_rules(*rules)(&tree) == crate::trees::value(case["value"].as_str().unwrap())
    })
}
