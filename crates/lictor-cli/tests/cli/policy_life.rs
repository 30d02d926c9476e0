//! The life of a policy: why a rule did not fire, what was wrong, what a change would mean, watching before enforcing.

use std::fs;

use serde_json::json;

use crate::sandbox::Sandbox;

#[test]
fn why_not_names_the_rule_that_came_close() {
    let sandbox = Sandbox::new();
    let run = sandbox.lictor(&["why-not", "bash", "rm -rf build"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout.contains("delete.everything")
            && run.stdout.contains("the place is not one that it protects"),
        "{run:?}"
    );
    let json = sandbox.lictor(&["why-not", "bash", "ls", "--json"]).json();
    assert_eq!(json["decision"], "pass");
}

#[test]
fn a_wrong_decision_becomes_a_failing_test() {
    let sandbox = Sandbox::new();
    let answer = sandbox.lictor(&["eval", "bash", "git reset --hard", "--json"]).json();
    let id = answer["id"].to_string();
    let run = sandbox.lictor(&["wrong", &id, "--reason", "this repository is a sandbox"]);
    assert_eq!(run.code, 0, "{run:?}");
    let text = fs::read_to_string(sandbox.project().join("policy_tests/wrong.yaml")).unwrap();
    assert!(text.contains("git reset --hard") && text.contains("expect: pass"), "{text}");
    let test = sandbox.lictor(&["test"]);
    assert_eq!(test.code, 1, "the policy has not changed: {test:?}");
    assert!(test.stdout.contains("expected pass, got block"), "{test:?}");
    let again = sandbox.lictor(&["wrong", &id]);
    assert!(again.stderr.contains("already has a test"), "{again:?}");
    assert!(
        sandbox.lictor(&["audit", "query", "--kind", "decision.wrong"]).stdout.contains("decision.wrong")
    );
}

#[test]
fn replay_shows_what_a_changed_policy_would_have_said() {
    let sandbox = Sandbox::new();
    for command in ["cargo build", "make deploy", "rm -rf ~"] {
        sandbox.claude_bash(command);
    }
    let same = sandbox.lictor(&["replay", "--json"]).json();
    assert_eq!(
        (&same["unchanged"], same["newly_stopped"].as_array().unwrap().len()),
        (&3.into(), 0),
        "{same}"
    );
    sandbox.write("new.yaml", "version: 1\nbash_safety: {blocked_patterns: ['make deploy']}\n");
    let run = sandbox.lictor(&["replay", "--policy", "new.yaml"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("newly stopped: 1") && run.stdout.contains("make deploy"), "{run:?}");
    assert!(run.stdout.contains("unchanged: 2"), "{run:?}");
}

#[test]
fn replay_reads_transcripts() {
    let sandbox = Sandbox::new();
    let call = |id: &str, command: &str| {
        json!({"type": "assistant", "sessionId": "s9", "cwd": sandbox.project(), "message": {"content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]}})
    };
    let lines = [
        json!({"type": "user", "message": {"content": "please tidy up"}}),
        call("t1", "ls"),
        json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]}}),
        call("t2", "rm -rf ~"),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect::<String>() + "not json\n";
    sandbox.write("session.jsonl", &text);
    let summary = sandbox.lictor(&["replay", "--transcript", "session.jsonl", "--json"]).json();
    assert_eq!(summary["unchanged"], 1, "{summary}");
    assert_eq!(summary["newly_stopped"][0]["action"], "bash rm -rf ~", "{summary}");
}

#[test]
fn observe_mode_judges_and_records_but_lets_go() {
    let sandbox = Sandbox::new();
    let user = sandbox.home().join(".config/lictor");
    fs::create_dir_all(&user).unwrap();
    fs::write(user.join("governance.yaml"), "version: 1\nmode: observe\n").unwrap();
    let run = sandbox.claude_bash("rm -rf ~");
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
    let report = sandbox.lictor(&["audit", "report"]);
    assert_eq!(report.code, 0, "{report:?}");
    assert!(
        report.stdout.contains("delete.everything") && report.stdout.contains("1 would have been stopped"),
        "{report:?}"
    );
    fs::write(user.join("governance.yaml"), "version: 1\n").unwrap();
    assert_eq!(sandbox.claude_bash("rm -rf ~").code, 2, "and then it bites");

    sandbox.write("governance.yaml", "version: 1\nmode: observe\n");
    assert_eq!(sandbox.claude_bash("rm -rf ~").code, 2, "a repository cannot switch enforcement off");
}
