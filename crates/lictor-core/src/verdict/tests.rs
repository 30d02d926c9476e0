use serde_json::json;

use super::*;

#[test]
fn a_block_without_words_is_given_some() {
    for verdict in [Verdict::block("", " "), Verdict::error("\n", "")] {
        assert!(!verdict.reason().trim().is_empty() && !verdict.fix().trim().is_empty());
    }
    assert!(!Verdict::warn("").reason().is_empty() && !Verdict::ask(" ").reason().trim().is_empty());
}

#[test]
fn a_stored_block_without_words_cannot_come_back() {
    let back: Verdict = serde_json::from_value(json!({"value": "block"})).unwrap();
    assert_eq!(back, Verdict::block("", ""));
    let back: Verdict = serde_json::from_value(json!({"value": "ask", "reason": ""})).unwrap();
    assert_eq!(back, Verdict::ask(""));
}

#[test]
fn every_verdict_survives_being_written_down() {
    let verdicts = [
        Verdict::pass(),
        Verdict::pass_because("fine"),
        Verdict::pass().by_rule("r"),
        Verdict::warn("w").with_fix("f"),
        Verdict::ask("a").with_evidence(json!({"count": 3})),
        Verdict::block("b", "f").by_rule("r"),
        Verdict::error("e", "f"),
    ];
    for verdict in verdicts {
        let json = serde_json::to_value(&verdict).unwrap();
        assert_eq!(serde_json::from_value::<Verdict>(json.clone()).unwrap(), verdict, "{json}");
    }
    assert_eq!(serde_json::to_value(Verdict::pass()).unwrap(), json!({"value": "pass"}));
    assert_eq!(
        serde_json::to_value(Verdict::block("b", "f")).unwrap(),
        json!({"value": "block", "reason": "b", "fix": "f"})
    );
}
