use serde_json::json;

use super::*;

#[test]
fn both_forms_of_an_answer_are_read() {
    let short = answer(br#"{"passed": false, "message": "not tracked"}"#).unwrap();
    assert_eq!((short.passed, short.message.as_deref(), short.decision), (false, Some("not tracked"), None));
    let full = answer(
        br#"{"decision": "warn", "reason": "large", "fix": "split it", "risk": 0.25, "annotations": {"files": 12},
             "tags": ["bulk"], "evidence": {"count": 12}}"#,
    )
    .unwrap();
    assert_eq!((full.passed, full.decision), (true, Some(Decision::Warn)));
    assert_eq!(full.remarks.risk.in_thousandths(), 250);
    assert_eq!(full.remarks.annotations.get("files"), Some(&json!(12)));
    assert_eq!((full.remarks.tags, full.evidence), (vec!["bulk".to_owned()], Some(json!({"count": 12}))));
}

#[test]
fn what_is_not_an_answer_is_an_error() {
    for bad in [
        "",
        "yes",
        "{}",
        r#"{"message": "no decision"}"#,
        r#"{"passed": "true"}"#,
        r#"{"passed": true, "decision": "block"}"#,
        r#"{"decision": "allow"}"#,
        r#"{"passed": true, "risk": -1}"#,
        r#"{"passed": true, "risk": 1e999}"#,
        r#"{"passed": true, "pased": true}"#,
        r#"{"passed": true} {"passed": true}"#,
    ] {
        assert!(answer(bad.as_bytes()).is_err(), "{bad}");
    }
    let many: Vec<String> = (0..=MAX_REMARKS).map(|number| number.to_string()).collect();
    assert!(answer(json!({"passed": true, "tags": many}).to_string().as_bytes()).is_err());
}
