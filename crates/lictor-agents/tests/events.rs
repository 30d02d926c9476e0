//! Events that are easy to get wrong, and the laws that hold for any bytes at all.

#![expect(clippy::unwrap_used, reason = "a broken fixture should stop the test")]

use std::fs;
use std::path::Path;

use lictor_agents::{
    Agent, EventKind, HookContext, HookEnv, MAX_INPUT, Moment, Rendered, parse, render, slots, twin_digest,
};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: Value,
    agent: String,
    event: Option<String>,
    send: Option<Value>,
    text: Option<String>,
    is: String,
    tool: Option<String>,
    #[serde(rename = "in")]
    cwd: Option<String>,
    #[serde(default)]
    payload: Map<String, Value>,
}

fn cases() -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/events.yaml");
    serde_saphyr::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn odd_events_are_read_as_the_table_says() {
    for case in cases() {
        let bytes = case.text.unwrap_or_else(|| case.send.unwrap().to_string());
        let agent: Agent = case.agent.parse().unwrap();
        match parse(agent, case.event.as_deref(), bytes.as_bytes(), &HookEnv::default()) {
            Ok(event) => {
                let action = event.action().unwrap();
                assert_eq!(action.kind.as_str(), case.is, "{}", case.id);
                assert_eq!(case.tool.as_ref().unwrap_or(&action.tool), &action.tool, "{}", case.id);
                assert_eq!(case.cwd.as_ref().unwrap_or(&action.cwd), &action.cwd, "{}", case.id);
                for (name, value) in &case.payload {
                    assert_eq!(action.payload.get(name), Some(value), "{} {name}", case.id);
                }
            }
            Err(error) => {
                let silent = render(&error.slot, &error.reply()) == Rendered::default();
                assert_eq!(if silent { "silence" } else { "block" }, case.is, "{}: {error}", case.id);
            }
        }
    }
}

/// Who called a hook that was installed for another agent, and what the same call looks like from both.
#[test]
fn the_real_caller_is_found() {
    let cursor = json!({"hook_event_name": "PreToolUse", "cursor_version": "3", "conversation_id": "c",
        "workspace_roots": ["/w"], "tool_name": "Shell", "tool_input": {"command": "git push -f", "cwd": ""}});
    let vscode = json!({"hook_event_name": "PreToolUse", "timestamp": "2026-01-01T00:00:00Z", "session_id": "s",
        "cwd": "/w", "tool_name": "run_in_terminal", "tool_input": {"command": "git push -f"}, "tool_use_id": "t"});
    let copilot = json!({"hook_event_name": "PreToolUse", "timestamp": "2026-01-01T00:00:00Z", "session_id": "s",
        "cwd": "/w", "tool_name": "Bash", "tool_input": {"command": "git push -f"}});
    let copilot_stop = json!({"hook_event_name": "Stop", "timestamp": "2026-01-01T00:00:00Z", "session_id": "s",
        "cwd": "/w", "stop_reason": "end_turn"});
    let vscode_stop = json!({"hook_event_name": "Stop", "timestamp": "2026-01-01T00:00:00Z", "session_id": "s",
        "cwd": "/w", "stop_hook_active": false});
    let claude = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w", "tool_use_id": "toolu_1",
        "tool_name": "Bash", "tool_input": {"command": "git push -f"}});
    let rows = [
        (Agent::ClaudeCode, "PreToolUse", &cursor, Agent::Cursor),
        (Agent::ClaudeCode, "PreToolUse", &vscode, Agent::VsCode),
        (Agent::ClaudeCode, "PreToolUse", &copilot, Agent::CopilotCli),
        (Agent::ClaudeCode, "PreToolUse", &claude, Agent::ClaudeCode),
        (Agent::ClaudeCode, "Stop", &copilot_stop, Agent::CopilotCli),
        (Agent::ClaudeCode, "Stop", &vscode_stop, Agent::VsCode),
        (Agent::CopilotCli, "preToolUse", &vscode, Agent::VsCode),
        (Agent::CopilotCli, "agentStop", &vscode_stop, Agent::VsCode),
        (Agent::CopilotCli, "Stop", &copilot_stop, Agent::CopilotCli),
        (Agent::VsCode, "PreToolUse", &copilot, Agent::CopilotCli),
    ];
    for (installed, event, payload, caller) in rows {
        let event =
            parse(installed, Some(event), payload.to_string().as_bytes(), &HookEnv::default()).unwrap();
        assert_eq!(event.slot.agent(), caller, "{installed} {payload}");
        assert_eq!(event.slot.through(), installed);
        assert_eq!(event.actor.agent, caller.name());
    }
}

#[test]
fn one_call_seen_through_two_hooks_has_one_twin_digest() {
    let native = json!({"hook_event_name": "beforeShellExecution", "cursor_version": "3", "conversation_id": "c",
        "workspace_roots": ["/w"], "command": "git push -f", "cwd": "/w", "sandbox": false});
    let foreign = json!({"hook_event_name": "PreToolUse", "cursor_version": "3", "conversation_id": "c",
        "workspace_roots": ["/w"], "tool_name": "Bash", "tool_use_id": "x",
        "tool_input": {"command": "git push -f", "cwd": "/w", "timeout": 5}});
    let digest = |agent, payload: &Value| {
        let event = parse(agent, None, payload.to_string().as_bytes(), &HookEnv::default()).unwrap();
        twin_digest(event.action().unwrap())
    };
    assert_eq!(digest(Agent::Cursor, &native), digest(Agent::ClaudeCode, &foreign));
    let create = json!({"hook_event_name": "preToolUse", "cursor_version": "3", "conversation_id": "c",
        "workspace_roots": ["/w"], "tool_name": "MCP:create_issue", "tool_input": {"id": 1}});
    let named = json!({"hook_event_name": "beforeMCPExecution", "cursor_version": "3", "conversation_id": "c",
        "workspace_roots": ["/w"], "tool_name": "create_issue", "tool_input": "{\"id\": 1}", "mcp_server_name": "x"});
    let mut close = create.clone();
    close["tool_name"] = "MCP:close_issue".into();
    assert_eq!(digest(Agent::Cursor, &create), digest(Agent::Cursor, &named));
    assert_ne!(digest(Agent::Cursor, &create), digest(Agent::Cursor, &close));
    let mut other = native.clone();
    other["command"] = "git push".into();
    assert_ne!(digest(Agent::Cursor, &native), digest(Agent::Cursor, &other));
    other = native.clone();
    other["conversation_id"] = "d".into();
    assert_ne!(digest(Agent::Cursor, &native), digest(Agent::Cursor, &other));
}

#[test]
fn a_session_that_another_one_started_is_its_child() {
    let created = json!({"hook": "event", "cwd": "/w", "event": {"type": "session.created",
        "properties": {"info": {"id": "ses_2", "parentID": "ses_1"}}}});
    let event = parse(Agent::OpenCode, None, created.to_string().as_bytes(), &HookEnv::default()).unwrap();
    assert_eq!(event.session.unwrap().id, "ses_1");
    let EventKind::SubagentStart { child, .. } = event.kind else { panic!("{:?}", event.kind) };
    assert_eq!(child.to_string(), "opencode:ses_2");
}

/// Cursor refuses on exit code 2 whichever answer it would read from a hook of Claude Code's.
#[test]
fn cursor_is_refused_by_exit_code_when_it_runs_the_hooks_of_another() {
    let payload = json!({"hook_event_name": "preToolUse", "cursor_version": "3", "conversation_id": "c",
        "workspace_roots": ["/w"], "tool_name": "Shell", "tool_input": {"command": 7}});
    let error =
        parse(Agent::ClaudeCode, Some("PreToolUse"), payload.to_string().as_bytes(), &HookEnv::default());
    let error = error.unwrap_err();
    let answer = render(&error.slot, &error.reply());
    assert_eq!((answer.exit, answer.stdout.as_str()), (2, ""));
}

#[test]
fn too_long_and_too_deep_are_refused_in_time() {
    let long = vec![b' '; MAX_INPUT + 1];
    let deep = format!("{{\"tool_input\": {}1{}}}", "[".repeat(200_000), "]".repeat(200_000));
    for bytes in [long.as_slice(), deep.as_bytes()] {
        let error = parse(Agent::ClaudeCode, Some("PreToolUse"), bytes, &HookEnv::default()).unwrap_err();
        assert_eq!(render(&error.slot, &error.reply()).exit, 2);
    }
    let id = "x".repeat(300);
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": id, "tool_name": "Bash", "tool_input": {"command": "ls"}});
    assert!(parse(Agent::ClaudeCode, None, payload.to_string().as_bytes(), &HookEnv::default()).is_err());
}

fn agents() -> impl Strategy<Value = Agent> {
    proptest::sample::select(Agent::ALL.to_vec())
}

/// JSON of any shape, with the words that the agents use.
fn values() -> impl Strategy<Value = Value> {
    let word = proptest::sample::select(vec![
        "PreToolUse",
        "Bash",
        "ls",
        "",
        "preToolUse",
        "bash",
        "Shell",
        "s",
        "{}",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        word.prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let key = proptest::sample::select(vec![
            "hook_event_name",
            "tool_name",
            "tool_input",
            "command",
            "file_path",
            "path",
            "edits",
            "session_id",
            "cwd",
            "toolName",
            "toolArgs",
            "sessionId",
            "timestamp",
            "toolCall",
            "args",
            "name",
            "hook",
            "input",
            "output",
            "sessionID",
            "agent_action_name",
            "tool_info",
            "cursor_version",
            "conversation_id",
            "agent_id",
            "prompt",
        ]);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key.prop_map(str::to_owned), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// What must hold for whatever comes in: either it is understood, or the answer stops what can be stopped.
fn understood_or_stopped(agent: Agent, hint: Option<&str>, bytes: &[u8]) {
    let Err(error) = parse(agent, hint, bytes, &HookEnv::default()) else { return };
    let answer = render(&error.slot, &error.reply());
    let hinted = hint.and_then(|name| slots(agent).find(|slot| slot.event_name() == name));
    // After a tool ran and when a prompt comes, an agent that runs another's hooks may not be stoppable.
    let late = [Moment::PostTool, Moment::Prompt, Moment::SubagentStart, Moment::Compaction, Moment::Other];
    let may_pass = |slot: &HookContext| !slot.can_block() || late.contains(&slot.moment());
    if !may_pass(&error.slot) || hinted.is_some_and(|slot| !may_pass(&slot)) {
        assert_ne!(answer, Rendered::default(), "{agent} {hint:?} {error}");
    }
    assert!(answer.exit == 0 || answer.exit == 2);
    assert!(answer.stdout.is_empty() || serde_json::from_str::<Map<String, Value>>(&answer.stdout).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_understood_or_stopped(agent in agents(), bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        understood_or_stopped(agent, None, &bytes);
        for slot in slots(agent) {
            understood_or_stopped(agent, Some(slot.event_name()), &bytes);
        }
    }

    #[test]
    fn any_json_is_understood_or_stopped(agent in agents(), value in values()) {
        let bytes = value.to_string();
        understood_or_stopped(agent, None, bytes.as_bytes());
        for slot in slots(agent).filter(|slot| slot.moment() != Moment::Other) {
            understood_or_stopped(agent, Some(slot.event_name()), bytes.as_bytes());
        }
    }
}

/// Every recorded payload with one value, at any depth, put in place of another.
#[test]
fn a_damaged_payload_is_understood_or_stopped() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/payloads");
    let mut tried = 0;
    for agent in Agent::ALL {
        for file in fs::read_dir(directory.join(agent.name())).unwrap().map(|entry| entry.unwrap().path()) {
            let Ok(text) = fs::read_to_string(&file) else { continue };
            let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
            let hint = stem.split('-').next().unwrap();
            let payload: Value = serde_json::from_str(&text).unwrap();
            for pointer in pointers(&payload, String::new()) {
                for value in [Value::Null, json!(7), json!([]), json!({}), json!("x"), json!(true)] {
                    let mut damaged = payload.clone();
                    *damaged.pointer_mut(&pointer).unwrap() = value;
                    understood_or_stopped(agent, Some(hint), damaged.to_string().as_bytes());
                    tried += 1;
                }
            }
            for cut in (0..text.len()).step_by(37) {
                understood_or_stopped(agent, Some(hint), &text.as_bytes()[..cut]);
            }
        }
    }
    assert!(tried > 5_000, "{tried}");
}

fn pointers(value: &Value, at: String) -> Vec<String> {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value)).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    let mut all: Vec<String> =
        inner.into_iter().flat_map(|(key, value)| pointers(value, format!("{at}/{key}"))).collect();
    all.push(at);
    all
}
