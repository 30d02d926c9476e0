//! Agents as reviewers, and verdicts that come from elsewhere.

use crate::sandbox::{Run, Sandbox};

const COUNCIL: &str = "version: 1
councils:
  ship-it:
    on: [pre-commit]
    guardrail: true
    reviewers: [{name: security-reviewer, agent: true}]
";

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", COUNCIL);
    sandbox.write("src/users.py", "import db\n\ndef find(name):\n    return db.run('select ' + name)\n");
    assert_eq!(sandbox.program("git", &["add", "."], "").code, 0);
    sandbox
}

fn report(sandbox: &Sandbox, plan: &str, token: &str, how: &[&str], input: &str) -> Run {
    let args =
        ["council", "report", "--plan-hash", plan, "--reviewer", "security-reviewer", "--token", token];
    sandbox.lictor_with(&[&args[..], how].concat(), input)
}

#[test]
fn an_agent_reviews_by_token_and_nobody_in_its_name() {
    let sandbox = project();
    let gate = || sandbox.lictor(&["verdict", "gate", "--event", "pre-commit"]);
    assert_eq!(gate().code, 2, "nobody has looked");
    let handed = sandbox.lictor(&["council", "plan", "ship-it", "--json"]).json();
    let plan = handed["plan_hash"].as_str().unwrap().to_owned();
    let token = handed["invited"][0]["token"].as_str().unwrap().to_owned();
    assert_eq!(handed["invited"][0]["files"], serde_json::json!(["governance.yaml", "src/users.py"]));
    let told = sandbox.lictor(&["council", "plan", "ship-it"]).stdout;
    assert!(
        told.contains("lictor council report") && told.contains("reviewer: security-reviewer  (agent)"),
        "{told}"
    );

    // The plan was printed again: the first token is no longer valid, and a guess never was.
    for wrong in [token.as_str(), "0123456789abcdef0123456789abcdef"] {
        let refused = report(&sandbox, &plan, wrong, &["--clean"], "");
        assert_ne!(refused.code, 0, "{refused:?}");
        assert!(refused.stderr.contains("not the one it was given"), "{refused:?}");
    }
    assert_eq!(gate().code, 2);
    let handed = sandbox.lictor(&["council", "plan", "ship-it", "--json"]).json();
    let token = handed["invited"][0]["token"].as_str().unwrap().to_owned();
    let found = r#"{"level": "HIGH", "title": "SQL injection", "agent": "somebody else", "evidence": ["src/users.py:4:unescaped"]}"#;
    let run = report(&sandbox, &plan, &token, &["--findings", "-"], found);
    assert_eq!(run.code, 0, "{run:?}");
    let again = report(&sandbox, &plan, &token, &["--clean"], "");
    assert!(again.code != 0 && again.stderr.contains("has been used"), "{again:?}");
    let shown = sandbox.lictor(&["verdict", "show", "--plan-hash", &plan, "--json"]).json();
    assert_eq!(shown["findings"][0]["agent"], "security-reviewer", "{shown}");
    let blocked = gate();
    assert_eq!(blocked.code, 2, "{blocked:?}");
    assert!(
        blocked.stderr.contains("SQL injection") || blocked.stdout.contains("SQL injection"),
        "{blocked:?}"
    );

    // Fixed and reviewed again: a clean report lets the commit pass.
    sandbox.write("src/users.py", "import db\n\ndef find(name):\n    return db.run('select ?', name)\n");
    sandbox.program("git", &["add", "."], "");
    assert_eq!(gate().code, 2, "another tree, another review");
    let handed = sandbox.lictor(&["council", "plan", "ship-it", "--json"]).json();
    let (plan, token) =
        (handed["plan_hash"].as_str().unwrap(), handed["invited"][0]["token"].as_str().unwrap());
    let run = report(&sandbox, plan, token, &["--clean"], "");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(gate().code, 0, "{:?}", gate());
    let history = sandbox.lictor(&["council", "history", "--json"]).json();
    assert_eq!(
        (history.as_array().unwrap().len(), &history[0]["state"]),
        (2, &serde_json::json!("attested"))
    );
    assert_eq!(sandbox.lictor(&["audit", "verify"]).code, 0);
}

#[test]
fn findings_without_a_council_block_unless_a_person_has_said_otherwise() {
    let sandbox = Sandbox::new();
    sandbox.write("src/users.py", "x\n");
    sandbox.program("git", &["add", "."], "");
    let args = ["verdict", "record", "--plan-hash", "p", "--level", "HIGH", "--title", "t", "--agent", "sec"];
    assert_eq!(sandbox.lictor(&[&args[..], &["--evidence", "src/users.py:1"]].concat()).code, 0);
    let gate = || sandbox.lictor(&["verdict", "gate", "--event", "pre-commit"]);
    assert_eq!(gate().code, 2);
    // A repository cannot set this.
    sandbox.write("governance.yaml", "version: 1\nfindings_without_council: note\n");
    assert_eq!(gate().code, 2);
    let own = sandbox.home().join(".config/lictor/governance.yaml");
    sandbox.write_at(&own, "version: 1\nfindings_without_council: note\n");
    let noted = gate();
    assert_eq!(noted.code, 0, "{noted:?}");
}

#[test]
fn verdict_files_of_ctx_are_read_one_by_one_or_a_directory() {
    let sandbox = Sandbox::new();
    let file = |plan: &str, level: &str| {
        format!(
            r#"{{"plan_hash": "{plan}", "level": "{level}", "summary": "s", "created_at": 1.5, "updated_at": 2.5, "findings": [
            {{"id": "0123456789ab", "level": "{level}", "title": "t", "agent": "sec", "evidence": [{{"file": "a.py", "line": 3, "note": "n"}}], "rationale": "r", "created_at": 1.5}}]}}"#
        )
    };
    sandbox.write("old/one.verdict.json", &file("plan-one", "HIGH"));
    sandbox.write("old/two.verdict.json", &file("plan-two", "LOW"));
    sandbox.write("old/notes.txt", "not a verdict");
    let run = sandbox.lictor(&["verdict", "import", "old"]);
    assert_eq!((run.code, run.stdout.lines().count()), (0, 2), "{run:?}");
    let shown = sandbox.lictor(&["verdict", "show", "--plan-hash", "plan-one", "--json"]).json();
    assert_eq!((&shown["level"], &shown["findings"][0]["id"]), (&"HIGH".into(), &"0123456789ab".into()));
    let single = sandbox.lictor(&["verdict", "import", "old/two.verdict.json", "--json"]).json();
    assert_eq!(single[0]["plan_hash"], "plan-two");
    sandbox.write("old/bad.verdict.json", r#"{"plan_hash": "x", "findings": [{"level": "HUGE"}]}"#);
    let refused = sandbox.lictor(&["verdict", "import", "old"]);
    assert!(refused.code == 64 && refused.stderr.contains("nothing was recorded"), "{refused:?}");
}
