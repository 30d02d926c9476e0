use std::collections::BTreeMap;

use lictor_core::facts::Facts;
use lictor_core::history::{History, Pattern, What};
use lictor_core::tools::{Need, RequireFirst, Sequence};
use lictor_core::{Action, Decision, Graph, SessionState, Timestamp, Verdict};
use serde_json::Value;

use crate::session::{Session, call};

const CASES: &str = include_str!("../cases/guardrails/sequence.json");

fn pattern(text: &str) -> Pattern {
    let mut words = text.split(' ');
    let mut pattern = Pattern::of(What::Name(words.next().unwrap().to_owned()));
    for (field, value) in words.filter_map(|word| word.split_once('=')) {
        pattern.with.push((field.to_owned(), value.to_owned()));
    }
    pattern
}

fn lists(value: &Value) -> BTreeMap<String, Vec<String>> {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

fn rules(case: &Value, key: &str) -> Vec<RequireFirst> {
    let undone = lists(&case["invalidate"]);
    let rule = |(gated, needs): (String, Vec<String>)| RequireFirst {
        gated: pattern(&gated),
        needs: needs
            .iter()
            .map(|need| Need {
                what: pattern(need),
                within: case["expire"][need].as_u64(),
                undone_by: undone
                    .iter()
                    .filter(|(_, targets)| targets.contains(need))
                    .map(|(by, _)| pattern(by))
                    .collect(),
            })
            .collect(),
        same_line: false,
    };
    lists(&case[key]).into_iter().map(rule).collect()
}

/// Everything that the rules have against a call.
fn objections(graph: &Graph, action: &Action, state: &SessionState, now: Timestamp) -> Vec<String> {
    let judged = graph.judge(action, &Facts::none(), state, now);
    let blocks = judged.verdicts.iter().map(|given| &given.verdict).filter(|verdict| !verdict.passed());
    blocks.map(Verdict::reason).map(str::to_owned).collect()
}

#[test]
fn vectors() {
    for case in crate::cases(CASES) {
        let id = case["id"].as_str().unwrap();
        let mut history = History::default();
        let all = rules(&case, "rules").into_iter().chain(rules(&case, "also")).collect();
        let sequence = match (Sequence::new("tools", all, &mut history), case["refused"].as_str()) {
            (Err(problems), Some(refused)) => {
                assert_eq!(problems[0].to_string(), refused, "{id}");
                continue;
            }
            (Ok(sequence), None) => sequence,
            (other, refused) => panic!("{id}: {other:?} instead of {refused:?}"),
        };
        let graph = Graph::new(sequence).unwrap();
        let mut session = Session::default();
        let mut under_way: BTreeMap<&str, String> = BTreeMap::new();
        for step in case["steps"].as_array().unwrap() {
            let Some(words) = step.as_array() else {
                session = Session::default();
                continue;
            };
            let words: Vec<&str> = words.iter().map(|word| word.as_str().unwrap()).collect();
            let (name, expected) = (words[0], words[1]);
            let action = call(name);
            if expected == "ends badly" {
                session.end(&action, &Facts::none(), &under_way[name], false);
                continue;
            }
            let found = objections(&graph, &action, &session.state, session.now);
            let decision = if found.is_empty() { Decision::Pass } else { Decision::Block };
            let call_id = session.judge(&action, &Facts::none(), &history, decision);
            match expected {
                "deny" => assert_eq!(found, words[2..], "{id}: {name}"),
                "begins" => {
                    under_way.insert(name, call_id);
                }
                _ => {
                    assert!(found.is_empty(), "{id}: {name}: {found:?}");
                    session.end(&action, &Facts::none(), &call_id, expected == "allow");
                }
            }
        }
    }
}
