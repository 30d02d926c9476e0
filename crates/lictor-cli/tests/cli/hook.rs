use serde_json::json;

use crate::sandbox::Sandbox;

#[test]
fn a_catastrophe_is_blocked_recorded_and_explained() {
    let sandbox = Sandbox::new();
    let run = sandbox.claude_bash("rm -rf /");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.contains("would delete the whole file system"), "{run:?}");
    assert!(run.stderr.contains("rm -rf build"), "the way on is missing: {run:?}");

    let tail = sandbox.lictor(&["audit", "query", "--kind", "evaluated", "--json"]).json();
    assert_eq!(tail["body"]["evaluation"]["decision"], "block");
    assert_eq!(tail["body"]["action"]["payload"]["command"], "rm -rf /");
    let explained = sandbox.lictor(&["explain"]);
    assert_eq!(explained.code, 0, "{explained:?}");
    assert!(explained.stdout.contains("delete.everything"), "{explained:?}");
}

#[test]
fn a_pass_is_silence_and_is_recorded() {
    let sandbox = Sandbox::new();
    let run = sandbox.claude_bash("cargo build");
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
    let state = sandbox.lictor(&["session", "show", "s1", "--json"]).json();
    assert_eq!(state["state"]["action_count"], 1);
    assert_eq!(state["state"]["pass_count"], 1);
}

#[test]
fn what_is_not_an_event_is_blocked() {
    let sandbox = Sandbox::new();
    let inputs = ["", "{", "null", "[]", "42", "\u{0}", r#"{"hook_event_name":"PreToolUse"}"#];
    for input in inputs {
        let run = sandbox.lictor_with(&["hook", "claude-code", "PreToolUse"], input);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{input:?}: {run:?}");
        assert!(!run.stderr.trim().is_empty(), "{input:?}");
    }
    for args in [&["hook"][..], &["hook", "nobody"], &["hook", ""]] {
        assert_eq!(sandbox.lictor_with(args, "{}").code, 2, "{args:?}");
    }
}

#[test]
fn a_store_that_cannot_be_used_blocks() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.claude_bash("ls").code, 0);
    let state = sandbox.home().join(".local/state/lictor");
    let store = std::fs::read_dir(state).unwrap().next().unwrap().unwrap().path().join("lictor.db");
    std::fs::write(&store, "not a database at all, but long enough to be looked at as one").unwrap();
    let run = sandbox.claude_bash("ls");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("lictor.db") && run.stderr.contains("lictor doctor"), "{run:?}");
}

#[test]
fn what_happens_after_a_block_is_recorded_as_a_bypass() {
    let sandbox = Sandbox::new();
    let call = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "rm -rf ~"}});
    assert_eq!(sandbox.claude("PreToolUse", call.clone()).code, 2);
    let mut done = call;
    done["tool_response"] = json!({"stdout": "", "stderr": "", "interrupted": false});
    assert_eq!(sandbox.claude("PostToolUse", done).code, 0);
    let never = json!({"tool_name": "Bash", "tool_use_id": "t2", "tool_input": {"command": "ls"},
                       "tool_response": {"stdout": "", "interrupted": false}});
    assert_eq!(sandbox.claude("PostToolUse", never).code, 0);
    let state = sandbox.lictor(&["session", "show", "s1", "--json"]).json();
    assert_eq!(state["state"]["bypass_count"], 1, "{state}");
    assert_eq!(state["state"]["ungoverned_count"], 1, "{state}");
}
