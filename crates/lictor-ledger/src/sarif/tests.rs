use super::{export, import, uri};
use crate::evidence::Evidence;
use crate::finding::{Claim, Disposition, Finding, Ruling};
use crate::level::Level;
use crate::verdict::PlanVerdict;

fn finding(level: Level, title: &str, evidence: &[&str]) -> Finding {
    Finding {
        id: format!("id-{}", title.len()).parse().unwrap(),
        level,
        title: title.to_owned(),
        agent: "security-reviewer".to_owned(),
        evidence: evidence.iter().map(|spec| Evidence::parse(spec).unwrap()).collect(),
        rationale: "first line\nsecond line".to_owned(),
        created_at: Default::default(),
        updated_at: Default::default(),
        disposition: Disposition::Open,
    }
}

fn verdict(findings: Vec<Finding>) -> PlanVerdict {
    PlanVerdict::new("p".parse().unwrap(), findings, Default::default(), Default::default())
}

#[test]
fn what_goes_out_comes_back() {
    let findings = vec![
        finding(Level::Critical, "a: \"quoted\" – ünïcode", &["src/a b/ü#?.py:3:7:note", "x.py"]),
        finding(Level::High, "bb", &[]),
        finding(Level::Medium, "ccc", &["x.py:1"]),
        finding(Level::Low, "dddd", &["%41.py:2"]),
    ];
    let text = export(&[verdict(findings.clone())]).to_string();
    let mut claims = import(&text, None, None).unwrap();
    claims.sort_by_key(|claim| std::cmp::Reverse(claim.level()));
    assert_eq!(claims.len(), 4);
    for (claim, finding) in claims.iter().zip(&findings) {
        assert_eq!(
            (claim.level(), claim.title(), claim.agent()),
            (finding.level, &*finding.title, &*finding.agent)
        );
        assert_eq!(claim.evidence(), finding.evidence);
        assert_eq!(claim.rationale(), finding.rationale);
        assert_eq!(claim.id(), Some(&finding.id));
    }
}

#[test]
fn waived_findings_are_suppressed_and_fixed_ones_are_gone() {
    let ruling =
        Ruling { by: "ann".to_owned(), reason: "a test".to_owned(), at: Default::default(), until: None };
    let mut waived = finding(Level::High, "w", &[]);
    waived.disposition = Disposition::AcceptedRisk(ruling.clone());
    let mut fixed = finding(Level::High, "fx", &[]);
    fixed.disposition = Disposition::Fixed(ruling);
    let log = export(&[verdict(vec![waived, fixed])]);
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["suppressions"][0]["justification"], "a test (accepted-risk, ann)");
    assert_eq!(import(&log.to_string(), None, None).unwrap(), []);
}

#[test]
fn no_findings_are_a_clean_run() {
    let log = export(&[]);
    assert_eq!(log["runs"][0]["results"], serde_json::json!([]));
    assert_eq!(import(&log.to_string(), None, None).unwrap(), []);
}

fn log(results: &str) -> String {
    format!(
        r#"{{"version":"2.1.0","runs":[{{"tool":{{"driver":{{"name":"tool","rules":[
            {{"id":"R1","messageStrings":{{"m":{{"text":"use of {{0}}"}}}},"defaultConfiguration":{{"level":"error"}}}},
            {{"id":"R2","properties":{{"security-severity":"9.1"}}}}]}}}},
            "originalUriBaseIds":{{"ROOT":{{"uri":"file:///home/me/repo/"}},"SRC":{{"uri":"src/","uriBaseId":"ROOT"}},
            "LOOP":{{"uri":"x/","uriBaseId":"LOOP"}}}},
            "results":{results}}}]}}"#
    )
}

fn one(result: &str) -> Option<Claim> {
    import(&log(&format!("[{result}]")), None, Some(std::path::Path::new("/home/me/repo"))).unwrap().pop()
}

#[test]
fn levels_come_from_severity_then_result_then_rule() {
    for (result, level) in [
        (r#"{"message":{"text":"m"}}"#, Some(Level::Medium)),
        (r#"{"message":{"text":"m"},"level":"error"}"#, Some(Level::High)),
        (r#"{"message":{"text":"m"},"level":"note"}"#, Some(Level::Low)),
        (r#"{"message":{"text":"m"},"ruleId":"R1"}"#, Some(Level::High)),
        (r#"{"message":{"text":"m"},"ruleIndex":0}"#, Some(Level::High)),
        (r#"{"message":{"text":"m"},"ruleId":"R1","level":"warning"}"#, Some(Level::Medium)),
        (r#"{"message":{"text":"m"},"ruleId":"R2"}"#, Some(Level::Critical)),
        (r#"{"message":{"text":"m"},"properties":{"security-severity":3.9}}"#, Some(Level::Low)),
        (r#"{"message":{"text":"m"},"level":"none"}"#, None),
        (r#"{"message":{"text":"m"},"kind":"pass"}"#, None),
        (r#"{"message":{"text":"m"},"baselineState":"absent"}"#, None),
        (r#"{"message":{"text":"m"},"suppressions":[{"kind":"inSource"}]}"#, None),
        (
            r#"{"message":{"text":"m"},"suppressions":[{"kind":"external","status":"rejected"}]}"#,
            Some(Level::Medium),
        ),
    ] {
        assert_eq!(one(result).map(|claim| claim.level()), level, "{result}");
    }
}

#[test]
fn titles_and_places_of_other_tools() {
    let place = |location: &str| {
        let result = format!(
            r#"{{"ruleId":"R1","message":{{"id":"m","arguments":["eval"]}},"locations":[{{"physicalLocation":{location}}}]}}"#
        );
        let claim = one(&result).unwrap();
        assert_eq!((claim.title(), claim.agent()), ("R1: use of eval", "tool"));
        claim.evidence().first().map(ToString::to_string).unwrap_or_default()
    };
    let region = r#""region":{"startLine":3,"startColumn":4}"#;
    assert_eq!(place(&format!(r#"{{"artifactLocation":{{"uri":"a%20b.py"}},{region}}}"#)), "a b.py:3:4");
    assert_eq!(place(r#"{"artifactLocation":{"uri":"x.py","uriBaseId":"SRC"}}"#), "src/x.py");
    assert_eq!(place(r#"{"artifactLocation":{"uri":"x.py","uriBaseId":"UNKNOWN"}}"#), "x.py");
    assert_eq!(place(r#"{"artifactLocation":{"uri":"x.py","uriBaseId":"LOOP"}}"#), "x.py");
    assert_eq!(place(r#"{"artifactLocation":{"uri":"file:///home/me/repo/lib/y.py"}}"#), "lib/y.py");
    assert_eq!(place(r#"{"artifactLocation":{"uri":"file:///elsewhere/y.py"}}"#), "/elsewhere/y.py");
    assert_eq!(place(r#"{"artifactLocation":{"uri":"file:///C:/x/y.py"}}"#), "C:/x/y.py");
    assert_eq!(place("{}"), "");
}

#[test]
fn what_is_no_review_is_an_error() {
    for (text, said) in [
        ("", "not a SARIF log"),
        ("{}", "not a SARIF log"),
        (r#"{"version":"2.0.0","runs":[]}"#, "version 2.0.0 is not supported"),
        (r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}}}]}"#, "it did not run"),
        (r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":null}]}"#, "it did not run"),
        (
            r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[],"invocations":[{"executionSuccessful":false}]}]}"#,
            "not successful",
        ),
        (&log(r#"[{"message":{}}]"#), "result 1 of `tool`: a finding needs a title"),
    ] {
        let error = import(text, None, None).unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[test]
fn a_percent_sign_that_starts_no_code_stays() {
    for (uri, path) in [("100%", "100%"), ("%zz%41", "%zzA"), ("a%2", "a%2"), ("%25", "%")] {
        assert_eq!(uri::decode(uri), path);
    }
}
