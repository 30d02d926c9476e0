use serde_json::Value;

use crate::sandbox::Sandbox;

#[test]
fn exit_codes_say_what_was_decided() {
    let sandbox = Sandbox::new();
    for (command, code) in [("ls", 0), ("rm -rf ~", 2), ("$CMD --now", 3)] {
        assert_eq!(sandbox.lictor(&["eval", "bash", command]).code, code, "{command}");
        assert_eq!(sandbox.lictor(&["eval", command]).code, code, "{command}");
    }
    let nothing = sandbox.lictor(&["eval", "bash"]);
    assert!(nothing.code == 64 && nothing.stderr.contains("nothing to judge after `bash`"), "{nothing:?}");
    assert_eq!(sandbox.lictor(&["eval", "--nope"]).code, 64);
    assert_eq!(sandbox.lictor(&["nonsense"]).code, 64);
}

#[test]
fn json_holds_everything_that_led_to_the_decision() {
    let sandbox = Sandbox::new();
    let answer = sandbox.lictor(&["eval", "bash", "git push --force", "--json"]).json();
    assert_eq!(answer["decision"], "block");
    for field in ["reason", "fix", "verdicts", "violations", "risk", "trace", "action", "policy"] {
        assert!(!answer[field].is_null(), "{field} is missing in {answer}");
    }
}

/// The same file by every kind of action that can reach it.
#[test]
fn reading_writing_and_commands_are_judged_alike() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "version: 1\nboundaries: {red_line_files: [plan.txt]}\n");
    sandbox.write("plan.txt", "x");
    sandbox.write("notes.txt", "x");
    for (kind, stopped, passed) in [
        ("read", "plan.txt", "notes.txt"),
        ("write", "plan.txt", "notes.txt"),
        ("bash", "cat plan.txt", "cat notes.txt"),
    ] {
        let code = |what: &str| sandbox.lictor(&["eval", kind, what]).code;
        assert_eq!((code(stopped), code(passed)), (2, 0), "{kind}");
    }
}

#[test]
fn eval_is_dry() {
    let sandbox = Sandbox::new();
    sandbox.claude_bash("ls");
    assert_eq!(sandbox.lictor(&["eval", "bash", "ls", "--agent", "claude-code", "--session", "s1"]).code, 0);
    let state = sandbox.lictor(&["session", "show", "s1", "--json"]).json();
    assert_eq!(state["state"]["action_count"], 1);
}

#[test]
fn a_batch_is_answered_line_by_line_in_order() {
    let sandbox = Sandbox::new();
    let lines = concat!(
        r#"{"kind":"bash","payload":{"command":"ls"},"id":1}"#,
        "\n\n",
        r#"{"kind":"bash","payload":{"command":"rm -rf /"},"id":2}"#,
        "\nnot json\n",
        r#"{"kind":"read","payload":{"path":"a.txt"},"id":"x"}"#,
        "\n"
    );
    let run = sandbox.lictor_with(&["eval", "--batch", "-"], lines);
    assert_eq!(run.code, 64, "a bad line is a usage error: {run:?}");
    let answers: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let decisions: Vec<&str> = answers.iter().map(|answer| answer["decision"].as_str().unwrap()).collect();
    assert_eq!(decisions, ["pass", "block", "block", "pass"]);
    assert_eq!((&answers[0]["line_id"], &answers[3]["line_id"]), (&Value::from(1), &Value::from("x")));
    assert!(answers[2]["reason"].as_str().unwrap().starts_with("line 4:"), "{}", answers[2]);
}
