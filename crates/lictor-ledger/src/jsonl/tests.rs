use super::{read, read_lenient, write};
use crate::level::Level;

const TEXT: &str = r#"
{"level": "high", "title": "a", "evidence": ["x.py:3:note: here"], "rationale": "why"}

{"level": "LOW", "title": "b", "agent": "other", "evidence": [{"file": "y.py", "line": 1, "column": 2}], "id": "k1"}
"#;

#[test]
fn lines_become_claims() {
    let claims = read(TEXT, "me").unwrap();
    let [a, b] = claims.as_slice() else { panic!("two claims") };
    assert_eq!((a.level(), a.agent(), a.rationale()), (Level::High, "me", "why"));
    assert_eq!((a.evidence()[0].line, a.evidence()[0].note.as_str()), (Some(3), "note: here"));
    assert_eq!((b.agent(), b.id().map(crate::FindingId::as_str)), ("other", Some("k1")));
    // A reviewer's claims are its own, whatever agent they name.
    let (claims, problems) = read_lenient(TEXT, "me");
    assert_eq!((claims[1].agent(), problems.len()), ("me", 0));
}

#[test]
fn a_bad_line_is_named() {
    for (line, said) in [
        (r#"{"level":"INFO","title":"t"}"#, "line 2: not a finding: `INFO` is not a level"),
        (r#"{"level":"LOW"}"#, "not a finding: `title` is missing (column 15)"),
        (r#"{"level":"LOW","title":""}"#, "a finding needs a title"),
        (r#"{"level":"LOW","title":"t","titel":"t"}"#, "`titel` is not known; known are `level`, `title`,"),
        (r#"{"level":"LOW","title":"t","evidence":"x"}"#, "the text \"x\" stands where a list is wanted"),
        (r#"{"level":"LOW","title":"t","evidence":["a:99999999999"]}"#, "line number that is too large"),
        ("[1]", "the number `1` stands where"),
        ("nonsense", "not a finding: it is not JSON from here on (column 2)"),
    ] {
        let text = format!("{{\"level\":\"LOW\",\"title\":\"fine\"}}\n{line}\n");
        let error = read(&text, "me").unwrap_err().to_string();
        assert!(error.contains(said) && error.starts_with("line 2"), "{line}: {error}");
        let (claims, problems) = read_lenient(&text, "me");
        assert_eq!((claims.len(), problems.len()), (1, 1), "{line}");
    }
}

#[test]
fn what_is_written_is_read() {
    use crate::finding::{Disposition, Finding};
    let claims = read(TEXT, "me").unwrap();
    let findings = claims
        .iter()
        .enumerate()
        .map(|(number, claim)| Finding {
            id: format!("id{number}").parse().unwrap(),
            level: claim.level(),
            title: claim.title().to_owned(),
            agent: claim.agent().to_owned(),
            evidence: claim.evidence().to_vec(),
            rationale: claim.rationale().to_owned(),
            created_at: Default::default(),
            updated_at: Default::default(),
            disposition: Disposition::Open,
        })
        .collect();
    let verdict =
        crate::PlanVerdict::new("p".parse().unwrap(), findings, Default::default(), Default::default());
    let again = read(&write(&[verdict]), "nobody").unwrap();
    assert_eq!(again[0].evidence(), claims[0].evidence());
    assert_eq!((again[1].agent(), again[1].level()), ("other", Level::Low));
}
