//! Which process started a hook, determined by its ancestors. The agent is a shell under another name, as the
//! kernel sees it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::sandbox::{Run, Sandbox};

/// A program named after an agent, which runs shell commands as its own or as tool calls.
fn agent(sandbox: &Sandbox) -> String {
    named(sandbox, "claude")
}

/// A shell by that name.
fn named(sandbox: &Sandbox, name: &str) -> String {
    let program = sandbox.home().join(name);
    fs::copy("/bin/bash", &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program.display().to_string()
}

fn events(sandbox: &Sandbox) {
    for (name, session, command) in
        [("own", "s1", "$X deploy"), ("forged", "s1", "make test"), ("new", "s9", "ls")]
    {
        let event = json!({"hook_event_name": "PreToolUse", "session_id": session, "cwd": sandbox.project(),
                           "permission_mode": "bypassPermissions", "tool_name": "Bash",
                           "tool_input": {"command": command}});
        sandbox.write(&format!("{name}.json"), &event.to_string());
    }
}

pub fn as_agent(sandbox: &Sandbox, script: &str) -> Run {
    let lictor = env!("CARGO_BIN_EXE_lictor");
    let script = format!("HOOK='{lictor} hook claude-code PreToolUse'\nLICTOR={lictor}\n{script}\ntrue");
    sandbox.program(&agent(sandbox), &["-c", &script], "")
}

#[test]
fn an_event_that_a_tool_call_makes_up_does_not_count() {
    let sandbox = Sandbox::new();
    events(&sandbox);
    let run = as_agent(
        &sandbox,
        "$HOOK < own.json 2>/dev/null; echo own $?
         bash -c \"cat forged.json | $HOOK; echo forged \\$?\" 2>&1
         bash -c \"$HOOK < new.json; echo new \\$?\" 2>&1
         $HOOK < forged.json; echo again $?",
    );
    assert!(run.stdout.contains("own 2"), "asked and nobody there: {run:?}");
    assert!(run.stdout.contains("forged 2") && run.stdout.contains("new 2"), "{run:?}");
    assert!(run.stdout.contains("again 0"), "the agent's own event passes: {run:?}");
    let faults = sandbox.lictor(&["doctor"]).stdout;
    assert!(faults.contains("fault"), "what was refused is told: {faults}");
}

#[test]
fn what_plugins_run_in_stands_for_the_agent_that_started_it() {
    let sandbox = Sandbox::new();
    events(&sandbox);
    let node = named(&sandbox, "node");
    let host = lictor_agents::Agent::ALL.into_iter().find_map(lictor_agents::Agent::plugin_host).unwrap();
    sandbox.write(host, "$HOOK < own.json 2>/dev/null; echo own $?\n");
    sandbox.write("other.js", "$HOOK < new.json 2>/dev/null; echo other $?\n");
    let run = as_agent(
        &sandbox,
        &format!(
            "export HOOK; {node} {host}
             bash -c \"$LICTOR approve --all --yes\" 2>&1; echo approve $?
             {node} other.js"
        ),
    );
    assert!(run.stdout.contains("own 2"), "asked and nobody there: {run:?}");
    assert!(run.stdout.contains("is for people") && run.stdout.contains("approve 2"), "{run:?}");
    assert!(run.stdout.contains("other 2"), "another script is a tool call's: {run:?}");
}

/// An effective command line for each command that is for people.
const PEOPLE: &[(&str, &str)] = &[
    ("allow", "--yes"),
    ("approve", "--all --yes"),
    ("audit archive", ""),
    ("audit checkpoint", ""),
    ("audit rotate-key", ""),
    ("deny", "x"),
    ("export", ""),
    ("import", "x.yaml --yes"),
    ("init", "--uninstall --yes"),
    ("mcp pins", "accept"),
    ("mcp serve", "--name x -- true"),
    ("run", "true"),
    ("serve", ""),
    ("session refresh", ""),
    ("session reset", "s1"),
    ("tools", "forget x"),
    ("trust", "--yes"),
    ("ui", "--no-open"),
    ("uninstall", "--yes"),
    ("verdict clear", "--plan-hash a --id b"),
    ("verdict lower", "--plan-hash a --id b --level LOW --reason c"),
    ("verdict purge", "--plan-hash a"),
    ("verdict waive", "--plan-hash a --id b --reason c"),
    ("wrong", "1"),
];

#[test]
fn commands_for_people_refuse_under_a_governed_agent() {
    let sandbox = Sandbox::new();
    events(&sandbox);
    // `rpc` is for programs that people run: under an agent it answers for sessions of its own alone.
    let known: Vec<&str> = PEOPLE.iter().map(|(words, _)| *words).chain(["rpc"]).collect();
    let missing: Vec<&str> =
        lictor_agents::commands::for_people().filter(|words| !known.contains(words)).collect();
    assert!(missing.is_empty(), "say how they are typed: {missing:?}");
    let tries: String = PEOPLE
        .iter()
        .map(|(words, args)| format!("bash -c \"$LICTOR {words} {args}\" 2>&1; echo \"{words}\" code $?\n"))
        .collect();
    let run = as_agent(&sandbox, &format!("$HOOK < own.json 2>/dev/null\n{tries}"));
    for (words, _) in PEOPLE {
        assert!(run.stdout.contains(&format!("{words} code 2")), "{words}: {run:?}");
    }
    assert_eq!(run.stdout.matches("is for people").count(), PEOPLE.len(), "{run:?}");
    // A person at a terminal, and an agent that this store does not govern, may.
    let approved = sandbox.lictor(&["approve", "--all", "--yes"]);
    assert!(approved.code == 0 && approved.stdout.contains("approved"), "{approved:?}");
    let other = Sandbox::new();
    let run = as_agent(&other, "bash -c \"$LICTOR approvals\"; echo code $?");
    assert!(run.stdout.contains("code 0"), "{run:?}");
}

#[test]
fn nobody_answers_their_own_question_through_rpc() {
    let sandbox = Sandbox::new();
    events(&sandbox);
    let calls = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "approvals"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "resolve", "params": {"id": 1, "answers": ["yes"]}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "reset", "params": {"session": {"agent": "claude-code", "id": "s1"}}}),
    ];
    let calls: String = calls.iter().map(|call| format!("{call}\n")).collect();
    sandbox.write("calls.jsonl", &calls);
    let run = as_agent(&sandbox, "$HOOK < own.json 2>/dev/null; bash -c \"$LICTOR rpc < calls.jsonl\" 2>&1");
    let answers: Vec<serde_json::Value> =
        run.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for id in [2, 3] {
        let answer = answers.iter().find(|answer| answer["id"] == id).unwrap_or_else(|| panic!("{run:?}"));
        assert!(answer["error"].is_object(), "{answer}");
    }
    assert_eq!(
        sandbox.lictor(&["approvals", "--json"]).json().as_array().map(Vec::len),
        Some(1),
        "it still waits"
    );
}
