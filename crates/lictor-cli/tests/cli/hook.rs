use serde_json::json;

use crate::sandbox::Sandbox;

#[test]
fn a_catastrophe_is_blocked_recorded_and_explained() {
    let sandbox = Sandbox::new();
    let run = sandbox.claude_bash("rm -rf /");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("would delete the whole file system"), "{run:?}");
    assert!(run.stderr.contains("delete by name only what has to go"), "the way on is missing: {run:?}");

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
        assert_eq!(run.code, 2, "{input:?}: {run:?}");
        assert!(!run.stderr.trim().is_empty(), "{input:?}");
    }
    for args in [&["hook"][..], &["hook", "nobody"], &["hook", ""]] {
        assert_eq!(sandbox.lictor_with(args, "{}").code, 2, "{args:?}");
    }
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

#[test]
fn a_fault_refuses_in_the_form_that_the_event_obeys_and_keeps_an_agent_from_stopping_once() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "version: 1\nno_such_key: 1\n");
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    assert_eq!(sandbox.claude("PreToolUse", call.clone()).code, 2);
    // Claude Code does not look at the exit code here.
    let asked = sandbox.claude("PermissionRequest", call);
    assert_eq!(asked.code, 0, "{asked:?}");
    assert_eq!(asked.json()["hookSpecificOutput"]["decision"]["behavior"], "deny", "{asked:?}");
    for event in ["Stop", "SubagentStop"] {
        let told = sandbox.claude(event, json!({"agent_id": "a7", "stop_hook_active": false}));
        assert!(told.code == 2 || told.json()["decision"] == "block", "{event}: {told:?}");
        let released = sandbox.claude(event, json!({"agent_id": "a7", "stop_hook_active": true}));
        assert_eq!((released.code, released.stdout.as_str()), (0, ""), "{event}: {released:?}");
    }
    let nonsense = sandbox.lictor_with(&["hook", "claude-code", "Stop"], "{");
    assert!(nonsense.code == 2 || nonsense.json()["decision"] == "block", "{nonsense:?}");
    let faults = std::fs::read_to_string(sandbox.state().join("faults.jsonl")).unwrap();
    assert_eq!(faults.lines().count(), 7, "{faults}");
    assert!(faults.lines().all(|line| line.contains("PreToolUse")
        || line.contains("PermissionRequest")
        || line.contains("Stop")));
}

#[test]
fn an_input_that_never_ends_is_answered_in_time() {
    let sandbox = Sandbox::new();
    // The shortest deadline there is: Codex gives this event three seconds.
    let mut child = sandbox.start(&["hook", "codex", "SessionEnd"]);
    let kept_open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(kept_open);
    assert_eq!((output.status.code(), output.stdout), (Some(0), Vec::new()));
}

#[test]
fn a_remark_that_cannot_be_made_before_is_made_after() {
    let sandbox = Sandbox::new();
    let policy = "version: 1\nguards:\n  gap: {expr: 'action.kind != \"bash\"', decision: warn, reason: mind the gap, fix: step over it}\npolicy: {all: [gap]}\n";
    sandbox.write("governance.yaml", policy);
    // Cursor cannot be told anything before a command runs.
    let base = json!({"conversation_id": "c1", "generation_id": "g", "model": "m", "cursor_version": "3.9.2",
                      "workspace_roots": [sandbox.project()]});
    let send = |event: &str, fields: serde_json::Value| {
        let mut payload = base.clone();
        payload["hook_event_name"] = event.into();
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        sandbox.lictor_with(&["hook", "cursor", event], &payload.to_string())
    };
    let before =
        send("beforeShellExecution", json!({"command": "ls", "cwd": sandbox.project(), "sandbox": false}));
    assert_eq!((before.code, before.stdout.as_str()), (0, ""), "{before:?}");
    let done = json!({"tool_name": "Shell", "tool_input": {"command": "ls"}, "tool_output": "{\"exitCode\":0}",
                      "tool_use_id": "t1", "cwd": sandbox.project(), "duration": 5});
    let after = send("postToolUse", done.clone());
    let told = after.json()["additional_context"].as_str().unwrap_or_default().to_owned();
    assert!(told.contains("mind the gap"), "{after:?}");
    assert_eq!(send("postToolUse", done).stdout, "", "once is enough");
}

/// Cursor and VS Code run Claude Code's hooks besides their own: the second look must not count again.
#[test]
fn one_call_seen_through_two_hooks_counts_once() {
    let sandbox = Sandbox::new();
    let cwd = sandbox.project();
    let cursor = |event: &str, fields: serde_json::Value| {
        let mut payload = json!({"conversation_id": "c1", "generation_id": "g", "model": "m", "cursor_version": "3.9.2",
                                 "workspace_roots": [cwd], "hook_event_name": event});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        payload.to_string()
    };
    let native =
        cursor("beforeShellExecution", json!({"command": "cargo build", "cwd": cwd, "sandbox": false}));
    let foreign = cursor(
        "PreToolUse",
        json!({"tool_name": "Shell", "tool_input": {"command": "cargo build"}, "cwd": cwd}),
    );
    assert_eq!(sandbox.lictor_with(&["hook", "cursor", "beforeShellExecution"], &native).code, 0);
    assert_eq!(sandbox.lictor_with(&["hook", "claude-code", "PreToolUse"], &foreign).code, 0);
    let state = sandbox.lictor(&["session", "show", "c1", "--json"]).json();
    assert_eq!(state["state"]["action_count"], 1, "{state}");

    let vscode = json!({"timestamp": "2026-11-15T09:12:44.123Z", "cwd": cwd, "session_id": "v1", "hook_event_name": "PreToolUse",
                        "tool_use_id": "t9", "tool_name": "run_in_terminal", "tool_input": {"command": "cargo build"}});
    for through in [["hook", "copilot-cli", "preToolUse"], ["hook", "claude-code", "PreToolUse"]] {
        assert_eq!(sandbox.lictor_with(&through, &vscode.to_string()).code, 0);
    }
    let state = sandbox.lictor(&["session", "show", "v1", "--json"]).json();
    assert_eq!(state["state"]["action_count"], 1, "{state}");
}

/// `cd` does not bypass a policy: that of the session's first directory still applies, and one at the new place
/// applies too.
#[test]
fn a_session_keeps_the_policy_that_it_began_with() {
    let sandbox = Sandbox::new();
    let forbid = |program: &str| format!("version: 1\nbash_safety:\n  blocked_programs: [{program}]\n");
    sandbox.write("governance.yaml", &forbid("make"));
    for elsewhere in ["free", "strict"] {
        let directory = sandbox.home().join(elsewhere);
        std::fs::create_dir(&directory).unwrap();
        let made = sandbox.program("git", &["init", "-q", directory.to_str().unwrap()], "");
        assert_eq!(made.code, 0, "{made:?}");
    }
    std::fs::write(sandbox.home().join("strict/governance.yaml"), forbid("cargo")).unwrap();
    let bash = |session: &str, directory: &str, command: &str| {
        let fields = json!({"session_id": session, "cwd": sandbox.home().join(directory), "tool_name": "Bash",
                            "tool_input": {"command": command}});
        sandbox.claude("PreToolUse", fields).code
    };
    assert_eq!(bash("a", "project", "make"), 2);
    assert_eq!(bash("a", "free", "make"), 2, "the policy was left behind");
    assert_eq!(bash("a", "free", "cargo build"), 0);
    assert_eq!(bash("a", "strict", "cargo build"), 2, "the policy of the place was not heard");
    assert_eq!(bash("a", "strict", "make"), 2);
    assert_eq!(bash("b", "free", "make"), 0, "another session began elsewhere");
    let state = sandbox.lictor(&["session", "show", "a", "--json"]).json();
    assert_eq!(state["state"]["block_count"], 3, "one record for one session: {state}");
}

/// A question of another project's policy is asked if the agent can ask; otherwise the message suggests a session
/// there.
#[test]
fn a_question_of_another_projects_policy_can_be_answered() {
    let sandbox = Sandbox::new();
    let other = sandbox.home().join("other");
    let made = sandbox.program("git", &["init", "-q", other.to_str().unwrap()], "");
    assert_eq!(made.code, 0, "{made:?}");
    sandbox.write_at(&other.join("governance.yaml"), "version: 1\nextends: [read-only]\n");
    sandbox.claude_bash("ls");
    let fields = json!({"cwd": other, "tool_name": "Bash", "tool_input": {"command": "mytool --frob"}});
    let asked = sandbox.claude("PreToolUse", fields).json()["hookSpecificOutput"].clone();
    assert_eq!(asked["permissionDecision"], "ask", "{asked}");
    assert!(asked["permissionDecisionReason"].as_str().unwrap().contains("(the policy of `"), "{asked}");
    let call = |cwd: &std::path::Path, command: &str| {
        let event = json!({"session_id": "c1", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "Bash",
                           "tool_input": {"command": command}, "model": "m", "permission_mode": "default",
                           "transcript_path": null, "turn_id": "t", "tool_use_id": command});
        sandbox.lictor_with(&["hook", "codex", "PreToolUse"], &event.to_string())
    };
    call(&sandbox.project(), "ls");
    let told = call(&other, "mytool --frob");
    let said = format!("{}{}", told.stdout, told.stderr);
    assert!(said.contains("begin a session in"), "{told:?}");
}

#[test]
fn every_session_is_listed_however_it_began() {
    let sandbox = Sandbox::new();
    sandbox.claude_bash("ls");
    sandbox.claude("SubagentStart", json!({"agent_id": "a1", "agent_type": "explore"}));
    sandbox.claude("SessionStart", json!({"agent_id": "a2", "agent_type": "explore", "source": "fork"}));
    let kinds = sandbox.lictor(&["audit", "query", "--kind", "session.forked"]).stdout;
    assert_eq!(kinds.lines().count(), 1, "{kinds}");
    let list = sandbox.lictor(&["session", "list"]).stdout;
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().last()).collect();
    assert_eq!(names.len(), 3, "{list}");
    assert_eq!(names.last(), Some(&"claude-code:s1"), "newest first: {list}");
    for name in names {
        let show = sandbox.lictor(&["session", "show", name]);
        assert_eq!(show.code, 0, "{show:?}");
    }
}
