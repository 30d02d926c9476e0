//! The model against tables. If a row differs from the reference implementation, it states why.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails by panicking")]

use lictor_ledger::council::Globs;
use lictor_ledger::verdict::Tally;
use lictor_ledger::{Claim, Evidence, Level, PlanHash};
use serde::Deserialize;
use serde::de::DeserializeOwned;

fn cases<T: DeserializeOwned>(name: &str, at_least: usize) -> Vec<T> {
    let path = format!("{}/tests/cases/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let cases: Vec<T> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() >= at_least, "{path} has lost cases");
    cases
}

#[derive(Deserialize)]
struct EvidenceCase {
    id: String,
    spec: String,
    #[serde(default)]
    error: bool,
    #[serde(default)]
    file: String,
    line: Option<u32>,
    column: Option<u32>,
    #[serde(default)]
    note: String,
    #[serde(default)]
    kept: bool,
}

#[test]
fn evidence() {
    for case in cases::<EvidenceCase>("evidence", 48) {
        let parsed = Evidence::parse(&case.spec);
        assert_eq!(parsed.is_err(), case.error, "{}", case.id);
        let Ok(parsed) = parsed else { continue };
        let expected =
            Evidence { file: case.file, line: case.line, column: case.column, note: case.note, bound: None };
        assert_eq!(parsed, expected, "{}", case.id);
        let claim = Claim::new(Level::Low, "t", "").unwrap().with_evidence([parsed]).unwrap();
        assert_eq!(claim.evidence().len(), usize::from(case.kept), "{}", case.id);
    }
}

#[derive(Deserialize)]
struct SummaryCase {
    id: String,
    levels: Vec<Level>,
    level: Level,
    summary: String,
}

#[test]
fn summaries() {
    for case in cases::<SummaryCase>("summaries", 8) {
        let tally = Tally::of(case.levels);
        assert_eq!((tally.level(), tally.summary()), (case.level, case.summary), "{}", case.id);
    }
}

#[derive(Deserialize)]
struct TokenCase {
    id: String,
    token: String,
    accepted: bool,
}

#[test]
fn plan_tokens() {
    for case in cases::<TokenCase>("plan_tokens", 18) {
        assert_eq!(case.token.parse::<PlanHash>().is_ok(), case.accepted, "{}", case.id);
    }
}

#[derive(Deserialize)]
struct IdentityCase {
    id: String,
    first: Vec<String>,
    second: Vec<String>,
    same: bool,
}

#[test]
fn identities() {
    let claim = |words: &[String]| {
        let [level, agent, title, evidence @ ..] = words else { panic!("three words are needed") };
        let evidence = evidence.iter().map(|spec| Evidence::parse(spec).unwrap());
        Claim::new(level.parse().unwrap(), title, agent).unwrap().with_evidence(evidence).unwrap()
    };
    for case in cases::<IdentityCase>("identities", 11) {
        let (first, second) = (claim(&case.first), claim(&case.second));
        assert_eq!(first.identity() == second.identity(), case.same, "{}", case.id);
    }
}

#[derive(Deserialize)]
struct GlobCase {
    id: String,
    glob: String,
    path: String,
    #[serde(rename = "match")]
    fits: bool,
}

#[test]
fn globs() {
    for case in cases::<GlobCase>("globs", 70) {
        assert_eq!(Globs(vec![case.glob]).fit(&case.path), case.fits, "{}", case.id);
    }
}

#[test]
fn levels_ignore_case_and_nothing_else() {
    assert_eq!("high".parse(), Ok(Level::High));
    for wrong in ["INFO", " HIGH", "HIGH ", "", "NONE"] {
        let error = wrong.parse::<Level>().unwrap_err();
        assert!(error.to_string().contains("LOW, MEDIUM, HIGH or CRITICAL"), "{wrong:?}");
    }
}

proptest::proptest! {
    /// Parsing and writing any text gives the same text, except for leading zeros.
    #[test]
    fn nothing_of_a_spec_is_lost(spec in "(C:[/\\\\])?[a-z:/ 0-9²é]{0,24}") {
        let Ok(parsed) = Evidence::parse(&spec) else { return Ok(()) };
        let mut again = parsed.file.clone();
        if let Some(line) = parsed.line {
            again += &format!(":{line}");
            if let Some(column) = parsed.column {
                again += &format!(":{column}");
            }
            if !parsed.note.is_empty() || parsed.column.is_some() {
                again += &format!(":{}", parsed.note);
            }
        }
        let reparsed = Evidence::parse(&again).unwrap();
        proptest::prop_assert_eq!(reparsed, parsed);
    }
}
