//! Every row of the truth tables, and what counts behind a value, on both evaluators.

use lictor_core::decision::Value;
use lictor_core::graph::reference::{RULES, evaluate};
use proptest::prelude::*;

use crate::trees::{Shapes, active, any_tree, cases, judge, parse, path, value};

#[test]
fn every_row_of_the_tables_holds() {
    let cases = cases(include_str!("../cases/tables.jsonl"));
    assert_eq!(cases.len(), 25 + 25 + 5 + 25 + 15 + 14);
    for (id, case) in cases {
        let (tree, wanted) = (parse(&case["tree"]), value(case["value"].as_str().unwrap()));
        assert_eq!(judge(&tree).value, wanted, "{id} (fast)");
        assert_eq!(evaluate(&tree, &RULES).value, wanted, "{id} (reference)");
    }
}

#[test]
fn what_counts_is_what_stands_behind_the_value() {
    for (id, case) in cases(include_str!("../cases/active.jsonl")) {
        let tree = parse(&case["tree"]);
        let wanted: Vec<(String, Value)> = serde_json::from_value(case["active"].clone()).unwrap();
        assert_eq!(active(&judge(&tree)), wanted, "{id} (fast)");
        let said = evaluate(&tree, &RULES).active;
        let said: Vec<_> = said.into_iter().map(|said| (path(&tree, &said.at), said.value)).collect();
        assert_eq!(said, wanted, "{id} (reference)");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_evaluators_agree_on_every_tree(tree in any_tree(Shapes::All)) {
        let (fast, slow) = (judge(&tree), evaluate(&tree, &RULES));
        prop_assert_eq!(fast.value, slow.value);
        let said: Vec<_> =
            slow.active.into_iter().map(|said| (path(&tree, &said.at), said.value)).collect();
        prop_assert_eq!(active(&fast), said);
    }

    #[test]
    fn the_strictest_verdict_that_counts_is_the_decision(tree in any_tree(Shapes::All)) {
        let judged = judge(&tree);
        let strictest = active(&judged).into_iter().map(|(_, value)| value).max().unwrap_or(Value::Pass);
        prop_assert_eq!(strictest.settle(), judged.value.settle());
    }
}
