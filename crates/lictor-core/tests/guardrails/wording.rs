use lictor_core::feedback::{Advice, Feedback, Said, Severity, deadline, duration, render};
use serde_json::Value;

const CASES: &str = include_str!("../cases/guardrails/wording.json");

fn cases(key: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(CASES).unwrap();
    all[key].as_array().unwrap().clone()
}

fn millis(seconds: &Value) -> i64 {
    (seconds.as_f64().unwrap() * 1000.0) as i64
}

#[test]
fn blocks_are_rendered_and_cannot_be_forged() {
    for case in cases("rendering") {
        let feedback: Feedback = serde_json::from_value(case["feedback"].clone()).unwrap();
        let provider = case["name"].as_str().unwrap().to_owned();
        let advice = Advice { provider, by_file: false, said: Said::Feedback(feedback) };
        assert_eq!(render(&[advice]), case["text"].as_str().unwrap(), "{}", case["id"]);
    }
}

#[test]
fn a_block_is_bounded() {
    let advice = Advice {
        provider: "x".into(),
        by_file: false,
        said: Said::Feedback(Feedback::say("<".repeat(1_000_000))),
    };
    assert!(render(&[advice]).chars().count() < 5_000);
}

#[test]
fn a_deadline_is_told_in_three_degrees() {
    for case in cases("deadlines") {
        let (total, elapsed) = (millis(&case["total"]), millis(&case["elapsed"]));
        let warn_below = millis(&case["warn_below"]).unsigned_abs();
        let said = deadline(elapsed, total - elapsed, warn_below);
        let severity = if case["severity"] == "info" { Severity::Info } else { Severity::Warning };
        let took = case["took"].as_str().unwrap();
        let summary = match case["left"].as_str() {
            Some(left) => {
                format!("The work so far took {took}. You have {left} remaining to complete the task.")
            }
            None => format!("The work took {took}. The time deadline has been reached."),
        };
        assert_eq!((&said.summary, said.severity), (&summary, severity), "{}", case["id"]);
        assert_eq!(said.suggestions.len() as u64, case["suggestions"].as_u64().unwrap(), "{}", case["id"]);
    }
}

#[test]
fn durations_are_told_in_words() {
    for case in cases("durations") {
        let texts = case["text"].as_array().unwrap();
        for (seconds, text) in case["seconds"].as_array().unwrap().iter().zip(texts) {
            assert_eq!(duration(millis(seconds)), text.as_str().unwrap(), "{}", case["id"]);
        }
    }
}
