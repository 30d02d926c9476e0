use super::super::{Preset, Reviewer, State};
use super::read;
use crate::level::Level;
use crate::process::{Ended, Output};

fn clippy(stdout: &str, code: i32) -> (State, Vec<crate::Claim>) {
    let reviewer = Reviewer {
        agent: false,
        name: "clippy".to_owned(),
        command: Vec::new(),
        reads: Vec::new(),
        preset: Some(Preset::Clippy),
        format: None,
        timeout: None,
        globs: Vec::new(),
        level: None,
    };
    let output =
        Output { ended: Ended::Code(code), stdout: stdout.as_bytes().to_vec(), stderr: "x\nlast".to_owned() };
    read(&reviewer, &output, std::path::Path::new("/r"))
}

const WARNING: &str = r#"{"reason":"compiler-message","message":{"level":"warning","message":"needless","code":{"code":"clippy::needless"},"rendered":"warning: needless","spans":[{"file_name":"src/a.rs","line_start":3,"column_start":5,"is_primary":true,"label":"here"},{"file_name":"src/b.rs","line_start":1,"column_start":1,"is_primary":false}]}}"#;
const ERROR: &str = r#"{"reason":"compiler-message","message":{"level":"error","message":"mismatched types","code":{"code":"E0308"},"spans":[]}}"#;
const SUMMARY: &str = r#"{"reason":"compiler-message","message":{"level":"error","message":"aborting due to 1 previous error","code":null,"spans":[]}}"#;
const ARTIFACT: &str = r#"{"reason":"compiler-artifact","target":{}}"#;

#[test]
fn clippy_warnings_are_medium_and_errors_high() {
    let text = [ARTIFACT, WARNING, WARNING, ERROR, SUMMARY].join("\n");
    let (state, claims) = clippy(&text, 101);
    assert_eq!(state, State::Findings { count: 2 });
    let shown: Vec<_> = claims.iter().map(|claim| (claim.level(), claim.title(), claim.agent())).collect();
    assert_eq!(
        shown,
        [
            (Level::Medium, "clippy::needless: needless", "clippy"),
            (Level::High, "E0308: mismatched types", "clippy")
        ]
    );
    assert_eq!(claims[0].evidence()[0].to_string(), "src/a.rs:3:5");
}

#[test]
fn a_build_that_breaks_without_a_message_is_not_clean() {
    assert_eq!(clippy(ARTIFACT, 0).0, State::Clean);
    let State::Error { why } = clippy("", 101).0 else { panic!("must not be clean") };
    assert_eq!(why, "it ended with 101 and reported nothing; it said: last");
    assert!(matches!(clippy("{\"odd\":1}", 0).0, State::Error { .. }));
}
