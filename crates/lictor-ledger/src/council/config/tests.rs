use super::{Council, CouncilError, Format, Patience, ScopeFiles, Trigger};

fn council(json: serde_json::Value) -> Result<Council, serde_json::Error> {
    serde_json::from_value(json)
}

#[test]
fn a_council_as_it_is_written() {
    let council = council(serde_json::json!({
        "on": ["pre-commit", "pre-push", "session-end", {"file-save": "**/*.md"}, {"file-save": ["src/**", "*.rs"]}],
        "guardrail": true,
        "scope": "full",
        "reviewers": [{"name": "a", "command": ["x"], "format": "exit-code", "timeout": "90s", "globs": ["*.py"]}],
        "budget": {"time": "10m", "max_files": 50},
    }))
    .unwrap();
    assert!(council.meets(&Trigger::PreCommit, None));
    assert!(!council.meets(&Trigger::SessionStart, None));
    let saved = Trigger::FileSave(super::Globs(Vec::new()));
    assert!(council.meets(&saved, Some("README.md")) && council.meets(&saved, Some("src/x/y.c")));
    assert!(!council.meets(&saved, Some("lib/x.c")) && !council.meets(&saved, None));
    assert_eq!(council.scope.files, ScopeFiles::Full);
    assert_eq!(council.reviewers[0].format, Some(Format::ExitCode));
    assert_eq!(council.reviewers[0].patience().as_secs(), 90);
    assert_eq!(council.check("c"), Ok(()));
}

#[test]
fn typos_are_refused() {
    let reviewers = serde_json::json!([{"name": "a", "command": ["x"]}]);
    for wrong in [
        serde_json::json!({"reviewers": reviewers, "gaurdrail": true}),
        serde_json::json!({"reviewers": reviewers, "guardrail": "false"}),
        serde_json::json!({"reviewers": reviewers, "on": ["precommit"]}),
        serde_json::json!({"reviewers": reviewers, "on": "pre-commit"}),
        serde_json::json!({"reviewers": reviewers, "scope": "stagd"}),
        serde_json::json!({"reviewers": [{"name": "a", "command": "x"}]}),
        serde_json::json!({"reviewers": [{"name": "a", "command": ["x"], "format": "xml"}]}),
        serde_json::json!({"reviewers": [{"name": "a", "command": ["x"], "timeout": "5"}]}),
        serde_json::json!({"reviewers": reviewers, "budget": {"max_file": 1}}),
        serde_json::json!({}),
    ] {
        assert!(council(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn what_the_shape_cannot_say_is_checked() {
    let reviewers = serde_json::json!([{"name": "a", "command": ["x"]}, {"name": "a", "preset": "ruff"}, {"name": "b"},
        {"name": "c", "command": ["x"], "preset": "clippy"}]);
    let wrong = council(serde_json::json!({ "reviewers": reviewers })).unwrap().check("c").unwrap_err();
    assert_eq!(wrong.len(), 3, "{wrong:?}");
    let empty = council(serde_json::json!({ "reviewers": [] })).unwrap().check("c").unwrap_err();
    assert_eq!(empty, [CouncilError::Empty("c".to_owned())]);
}

#[test]
fn lengths_of_time() {
    for (text, millis) in
        [("500ms", 500), ("30s", 30_000), ("5m", 300_000), ("1h", 3_600_000), ("30d", 2_592_000_000)]
    {
        assert_eq!(text.parse::<Patience>().unwrap().0.as_millis(), millis);
    }
    for wrong in ["", "5", "s", "5 s", "-5s", "0s", "5w", "99999999999999999999s", "999999999999999999h"] {
        assert!(wrong.parse::<Patience>().is_err(), "{wrong}");
    }
}
