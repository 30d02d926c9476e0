//! A tool without a description asks once; the approval is remembered for the tool and its server definition.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};
use crate::terminal::Terminal;

const TOOL: &str = "mcp__acme__frobnicate";

fn with_server(command: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    configure(&sandbox, command);
    sandbox
}

fn configure(sandbox: &Sandbox, command: &str) {
    sandbox.write(".mcp.json", &json!({"mcpServers": {"acme": {"command": command}}}).to_string());
}

/// A call of the tool by an unattended agent.
fn calls(sandbox: &Sandbox, input: Value) -> Run {
    sandbox.claude(
        "PreToolUse",
        json!({"permission_mode": "bypassPermissions", "tool_name": TOOL, "tool_input": input}),
    )
}

fn waiting(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.lictor(&["approvals", "--json"]).json().as_array().unwrap().clone()
}

/// The tool asks, and a person remembers it.
fn remembered(sandbox: &Sandbox) -> Value {
    assert_eq!(calls(sandbox, json!({"q": "a"})).code, 2, "nobody described it");
    let id = waiting(sandbox)[0]["id"].as_str().unwrap().to_owned();
    let said = sandbox.lictor(&["approve", &id, "--remember", "--yes", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    said.json()
}

fn listed(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.lictor(&["tools", "--json"]).json()["tools"].as_array().unwrap().clone()
}

#[test]
fn a_tool_nobody_described_asks_once_and_its_arguments_are_still_judged() {
    let sandbox = with_server("acme-server");
    assert_eq!(remembered(&sandbox)["approved"][0]["remembered"], true);
    assert_eq!(calls(&sandbox, json!({"q": "a"})).code, 0, "what was asked about");
    assert_eq!(calls(&sandbox, json!({"q": "something else"})).code, 0, "the tool is known now");
    let secret = calls(&sandbox, json!({"path": sandbox.home().join(".ssh/id_rsa")}));
    assert_eq!(secret.code, 2, "what it is called with is judged as before: {secret:?}");
    let other = sandbox.claude(
        "PreToolUse",
        json!({"permission_mode": "bypassPermissions", "tool_name": "mcp__acme__other", "tool_input": {}}),
    );
    assert_eq!(other.code, 2, "another tool of the same server is asked about: {other:?}");
    let log = sandbox.lictor(&["audit", "export"]).stdout;
    assert!(log.contains("exception.added"), "that it is remembered is on record");
}

#[test]
fn another_server_behind_the_same_name_is_asked_about_again() {
    let sandbox = with_server("acme-server");
    remembered(&sandbox);
    assert_eq!(listed(&sandbox)[0]["current"], true);
    configure(&sandbox, "another-server");
    let run = calls(&sandbox, json!({"q": "b"}));
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("configured in another way"), "{run:?}");
    assert_eq!(listed(&sandbox)[0]["current"], false);
    configure(&sandbox, "acme-server");
    assert_eq!(calls(&sandbox, json!({"q": "b"})).code, 0);
}

#[test]
fn what_is_forgotten_asks_again_and_the_file_is_as_it_was() {
    let sandbox = with_server("acme-server");
    let user = sandbox.home().join(".config/lictor");
    fs::create_dir_all(&user).unwrap();
    let file = user.join("governance.yaml");
    let before = "version: 1\nknown_tools:\n  blocked: [mcp__bad__*]\n";
    fs::write(&file, before).unwrap();
    remembered(&sandbox);
    let list = sandbox.lictor(&["tools"]).stdout;
    assert!(list.contains(TOOL) && list.contains("as it was then"), "{list}");
    let wrong = sandbox.lictor(&["tools", "forget", "mcp__acme__frobnicat"]);
    assert_eq!(wrong.code, 1, "{wrong:?}");
    assert!(wrong.stderr.contains(&format!("did you mean `{TOOL}`?")), "{wrong:?}");
    let forgot = sandbox.lictor(&["tools", "forget", TOOL, "--json"]);
    assert_eq!((forgot.code, &forgot.json()["forgotten"]), (0, &json!(TOOL)), "{forgot:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert!(listed(&sandbox).is_empty());
    assert_eq!(calls(&sandbox, json!({"q": "c"})).code, 2, "stricter counts at once");
}

#[test]
fn only_what_nobody_described_can_be_remembered() {
    let sandbox = with_server("acme-server");
    sandbox.claude(
        "PreToolUse",
        json!({"permission_mode": "bypassPermissions", "tool_name": "Bash", "tool_input": {"command": "$DEPLOY x"}}),
    );
    let id = waiting(&sandbox)[0]["id"].as_str().unwrap().to_owned();
    let refused = sandbox.lictor(&["approve", &id, "--remember", "--yes"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("cannot be remembered"), "{refused:?}");
    assert_eq!(waiting(&sandbox).len(), 1, "nothing was said yes to");
}

#[test]
fn a_repository_cannot_remember() {
    let sandbox = with_server("acme-server");
    sandbox
        .write("governance.yaml", &format!("version: 1\nknown_tools: {{remembered: [{{tool: {TOOL}}}]}}\n"));
    assert_eq!(calls(&sandbox, json!({"q": "a"})).code, 2);
}

#[test]
fn a_person_at_a_terminal_is_offered_it() {
    let sandbox = with_server("acme-server");
    calls(&sandbox, json!({"q": "a"}));
    let Some(terminal) = Terminal::open(&sandbox) else { return };
    terminal.run("lictor approve");
    terminal.wait_for("[r]emember this tool");
    terminal.run("r");
    terminal.wait_for("remembered; undo: lictor tools forget");
    assert_eq!(calls(&sandbox, json!({"q": "z"})).code, 0);
}

#[test]
fn allow_of_an_unknown_tool_remembers_it_too() {
    let sandbox = with_server("acme-server");
    calls(&sandbox, json!({"q": "a"}));
    let allowed = sandbox.lictor(&["allow", "--yes"]);
    assert_eq!(allowed.code, 0, "{allowed:?}");
    assert_eq!(listed(&sandbox)[0]["tool"], TOOL);
    assert_eq!(sandbox.lictor(&["session", "refresh"]).code, 0);
    assert_eq!(calls(&sandbox, json!({"q": "b"})).code, 0);
}

#[test]
fn what_is_remembered_can_be_passed_on() {
    let sandbox = with_server("acme-server");
    remembered(&sandbox);
    let exported = sandbox.lictor(&["export"]).stdout;
    let other = with_server("acme-server");
    other.write("shared.yaml", &exported);
    let taken = other.lictor(&["import", "shared.yaml", "--yes"]);
    assert_eq!(taken.code, 0, "{taken:?}");
    assert!(taken.stdout.contains(&format!("+ tool: {TOOL}")), "{taken:?}");
    assert_eq!(calls(&other, json!({"q": "b"})).code, 0, "the same server there");
    let again = other.lictor(&["import", "shared.yaml", "--yes"]);
    assert!(again.stdout.contains("it is there already"), "{again:?}");
    let elsewhere = with_server("another-server");
    elsewhere.write("shared.yaml", &exported);
    elsewhere.lictor(&["import", "shared.yaml", "--yes"]);
    assert_eq!(calls(&elsewhere, json!({"q": "b"})).code, 2, "another server there");
}

#[test]
fn what_a_remembered_tool_answers_is_not_asked_again() {
    let sandbox = with_server("acme-server");
    for input in ["a", "b", "c"] {
        assert_eq!(calls(&sandbox, json!({"q": input})).code, 2);
    }
    let Some(terminal) = Terminal::open(&sandbox) else { return };
    terminal.run("lictor approve; echo ended-$?");
    terminal.wait_for("[1/3]");
    terminal.run("r");
    let screen = terminal.wait_for("ended-0");
    assert!(!screen.contains("[2/3]"), "{screen}");
    assert!(waiting(&sandbox).is_empty());
    assert_eq!(calls(&sandbox, json!({"q": "b"})).code, 0);
}
