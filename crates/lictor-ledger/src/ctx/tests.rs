use super::*;

const FILE: &str = r#"{"plan_hash": "abc123", "level": "HIGH", "summary": "2 finding(s): 1 high, 1 low", "findings": [
  {"id": "0123456789ab", "level": "HIGH", "title": "SQL injection in users.py", "agent": "security-reviewer",
   "evidence": [{"file": "src/users.py", "line": 42, "note": "unescaped input"}, {"file": ""}],
   "rationale": "req.form values flow into raw SQL", "created_at": 1700000000.5},
  {"level": "LOW", "title": "style", "evidence": [{"file": "src/users.py"}]}],
  "created_at": 1700000000.5, "updated_at": 1700000001.5}"#;

#[test]
fn a_verdict_file_becomes_claims() {
    assert!(is_verdict(FILE) && !is_verdict(r#"{"runs": []}"#) && !is_verdict("{}"));
    let VerdictFile { plan, claims } = read(FILE).unwrap();
    assert_eq!((plan.as_str(), claims.len()), ("abc123", 2));
    let first = claims.first().unwrap();
    assert_eq!(first.id().map(|id| id.as_str().to_owned()), Some("0123456789ab".to_owned()));
    assert_eq!((first.agent(), first.evidence().len()), ("security-reviewer", 1));
    assert_eq!(
        first.evidence().first().map(|place| (place.line, place.note.as_str())),
        Some((Some(42), "unescaped input"))
    );
}

#[test]
fn what_is_wrong_is_named() {
    for (text, word) in [
        ("{", "not a verdict"),
        (r#"{"plan_hash": "a b", "findings": []}"#, "plan_hash"),
        (r#"{"plan_hash": "a", "findings": [{"level": "HUGE", "title": "x"}]}"#, "not a verdict"),
        (r#"{"plan_hash": "a", "findings": [{"level": "LOW", "title": ""}]}"#, "finding number 1"),
    ] {
        let problem = read(text).unwrap_err();
        assert!(problem.contains(word), "{text}: {problem}");
    }
}
