//! A scripted agent asks, a person answers in a second process.

use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};
use crate::terminal::Terminal;

/// A command that asks by default: its program is unknown before it runs.
const ASKS: &str = "$DEPLOY --to staging";

/// A Bash call of an unattended agent.
fn unattended(sandbox: &Sandbox, command: &str) -> Run {
    sandbox.claude(
        "PreToolUse",
        json!({"permission_mode": "bypassPermissions", "tool_name": "Bash", "tool_input": {"command": command}}),
    )
}

fn waiting(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.lictor(&["approvals", "--json"]).json().as_array().unwrap().clone()
}

#[test]
fn a_yes_counts_for_exactly_one_action_once() {
    let sandbox = Sandbox::new();
    let first = unattended(&sandbox, ASKS);
    assert_eq!(first.code, 2, "{first:?}");
    assert!(first.stderr.contains("lictor approve"), "the way on is missing: {first:?}");

    let pending = waiting(&sandbox);
    assert_eq!(pending.len(), 1, "{pending:?}");
    let id = pending[0]["id"].as_str().unwrap().to_owned();
    assert!(!first.stderr.contains(&id), "the agent has no use for the id: {first:?}");
    assert_eq!(pending[0]["action"]["payload"]["command"], ASKS);

    assert_eq!(unattended(&sandbox, ASKS).code, 2, "asking again does not help");
    assert_eq!(waiting(&sandbox).len(), 1, "the same question is asked once");

    let yes = sandbox.lictor(&["approve", &id, "--yes"]);
    assert_eq!(yes.code, 0, "{yes:?}");
    assert_eq!(unattended(&sandbox, "$DEPLOY --to production").code, 2, "another action");
    assert_eq!(unattended(&sandbox, ASKS).code, 0, "the approved one passes");
    assert_eq!(unattended(&sandbox, ASKS).code, 2, "once");

    let log = sandbox.lictor(&["audit", "export"]).stdout;
    for kind in ["approval.requested", "approval.granted", "grant.used"] {
        assert!(log.contains(kind), "{kind} is not in the log");
    }
}

#[test]
fn a_no_is_final_and_is_told() {
    let sandbox = Sandbox::new();
    unattended(&sandbox, ASKS);
    let id = waiting(&sandbox)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(sandbox.lictor(&["deny", &id, "--reason", "staging is frozen"]).code, 0);
    let again = unattended(&sandbox, ASKS);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("staging is frozen"), "{again:?}");
    assert!(waiting(&sandbox).is_empty());
    let late = sandbox.lictor(&["approve", &id, "--yes"]);
    assert_eq!(late.code, 1, "{late:?}");
    assert!(late.stderr.contains("does not wait any more"), "{late:?}");
}

#[test]
fn where_a_person_sits_the_agent_asks_them() {
    let sandbox = Sandbox::new();
    let run = sandbox.claude_bash(ASKS);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.json()["hookSpecificOutput"]["permissionDecision"], "ask", "{run:?}");
}

#[test]
fn the_agent_cannot_approve_for_itself() {
    let sandbox = Sandbox::new();
    for command in [
        "lictor approve --all --yes",
        "lictor approve 3f2a --yes",
        "/usr/local/bin/lictor deny x",
        "sudo lictor trust --yes",
        "env LICTOR_STATE_DIR=/tmp/x lictor approve a --yes",
        "bash -c 'lictor approve a --yes'",
        "echo y | lictor approve",
    ] {
        let run = unattended(&sandbox, command);
        assert_eq!(run.code, 2, "{command}: {run:?}");
    }
    assert!(waiting(&sandbox).is_empty(), "nothing of this may be approved later");
    for command in ["lictor approvals", "lictor explain", "lictor check"] {
        assert_eq!(unattended(&sandbox, command).code, 0, "{command}");
    }
}

#[test]
fn a_person_is_told_once_that_something_waits() {
    let sandbox = Sandbox::new();
    let told = sandbox.home().join("told");
    let user = sandbox.home().join(".config/lictor");
    std::fs::create_dir_all(&user).unwrap();
    let line =
        format!("version: 1\nnotify: {{command: [sh, -c, 'cat >> {}; echo >> {0}']}}\n", told.display());
    std::fs::write(user.join("governance.yaml"), line).unwrap();
    unattended(&sandbox, ASKS);
    let mut text = String::new();
    for _ in 0..100_000 {
        text = std::fs::read_to_string(&told).unwrap_or_default();
        if text.ends_with('\n') {
            break;
        }
        std::thread::yield_now();
    }
    let body: Value = serde_json::from_str(text.trim()).unwrap();
    assert_eq!(body["id"], waiting(&sandbox)[0]["id"]);
    assert_eq!(body["action"], format!("bash {ASKS}"));
    unattended(&sandbox, ASKS);
    unattended(&sandbox, "rm -rf ~");
    assert_eq!(std::fs::read_to_string(&told).unwrap().lines().count(), 1, "the same question is told once");
}

#[test]
fn the_wizard_asks_on_a_terminal() {
    let sandbox = Sandbox::new();
    let Some(terminal) = Terminal::open(&sandbox) else { return };
    unattended(&sandbox, ASKS);
    terminal.run("lictor approve");
    let screen = terminal.wait_for("allow this?");
    assert!(screen.contains("$DEPLOY --to staging"), "{screen}");
    terminal.run("maybe");
    terminal.wait_for("please answer");
    terminal.run("y");
    terminal.wait_for("approved");
    assert_eq!(unattended(&sandbox, ASKS).code, 0);
}

#[test]
fn the_wizard_can_say_yes_for_the_session() {
    let sandbox = Sandbox::new();
    let Some(terminal) = Terminal::open(&sandbox) else { return };
    unattended(&sandbox, ASKS);
    terminal.run("lictor approve");
    terminal.wait_for("for this [s]ession");
    terminal.run("s");
    terminal.wait_for("for this session, until");
    for _ in 0..2 {
        assert_eq!(unattended(&sandbox, ASKS).code, 0);
    }
}

#[test]
fn a_question_can_be_left_to_the_agents_own_prompt() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "ask_when_unattended: ask\n");
    assert_eq!(unattended(&sandbox, ASKS).code, 2, "not for a repository to say");
    let user = sandbox.home().join(".config/lictor");
    std::fs::create_dir_all(&user).unwrap();
    std::fs::write(user.join("governance.yaml"), "ask_when_unattended: ask\n").unwrap();
    let run = unattended(&sandbox, ASKS);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    assert_eq!(run.json()["hookSpecificOutput"]["permissionDecision"], "ask", "{run:?}");
    let block = unattended(&sandbox, "rm -rf ~");
    assert_eq!(block.code, 2, "a block is a block: {block:?}");
    // An agent whose hooks cannot ask has no prompt to leave it to.
    let event = json!({"session_id": "s2", "cwd": sandbox.project(), "hook_event_name": "PreToolUse",
                       "tool_name": "Bash", "tool_input": {"command": ASKS}});
    let codex = sandbox.lictor_with(&["hook", "codex", "PreToolUse"], &event.to_string());
    assert!(!codex.stdout.contains("\"ask\""), "{codex:?}");
    assert!(codex.code == 2 || codex.stdout.contains("deny"), "{codex:?}");
    std::fs::write(user.join("governance.yaml"), "ask_when_unattended: block\n").unwrap();
    assert_eq!(unattended(&sandbox, ASKS).code, 2);
}

/// Two calls of one tool, and one with a path: the answers can be distinguished.
#[test]
fn an_answer_shows_what_it_is_about() {
    let sandbox = Sandbox::new();
    let calls = [json!({"x": 1}), json!({"x": 2}), json!({"path": "notes/a.txt"})];
    for input in &calls {
        sandbox.claude(
            "PreToolUse",
            json!({"permission_mode": "bypassPermissions", "tool_name": "mcp__a__b", "tool_input": input}),
        );
    }
    let log = sandbox.lictor(&["log"]).stdout;
    assert!(log.contains("tool mcp__a__b notes/a.txt"), "{log}");
    let id = waiting(&sandbox)[0]["id"].as_str().unwrap().to_owned();
    let denied = sandbox.lictor(&["deny", &id]).stdout;
    assert!(denied.contains("mcp__a__b") && denied.contains("x: 1"), "{denied}");
    let approved = sandbox.lictor(&["approve", "--all", "--yes"]).stdout;
    for part in ["tool mcp__a__b", "x: 2", "notes/a.txt"] {
        assert!(approved.contains(part), "{part}: {approved}");
    }
}

/// A point about a part is not repeated for the whole.
#[test]
fn one_fact_is_one_point() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "version: 1\nboundaries: {red_line_files: [key.txt]}\n");
    unattended(&sandbox, ASKS);
    let asked = waiting(&sandbox)[0]["asked"].to_string();
    let shown = sandbox.lictor(&["approvals"]).stdout;
    assert!(asked.contains("\"opaque\"") && asked.contains("opaque.code"), "{asked}");
    assert!(shown.contains("[opaque.code]") && !shown.contains("[opaque]"), "{shown}");
}
