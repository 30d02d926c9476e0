//! From a stopped decision to an exception, through hooks: every kind of rule, the smallest change, and its undo.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};

/// The result of a Claude Code hook for a call.
fn called(sandbox: &Sandbox, session: &str, call: &Value) -> Run {
    let mut fields = json!({"session_id": session});
    fields.as_object_mut().unwrap().extend(call.as_object().unwrap().clone());
    sandbox.claude("PreToolUse", fields)
}

fn passes(run: &Run) -> bool {
    run.code == 0 && !run.stdout.contains("\"ask\"") && !run.stdout.contains("\"deny\"")
}

fn bash(command: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": command}})
}

fn tool(name: &str, input: Value) -> Value {
    json!({"tool_name": name, "tool_input": input})
}

fn file(sandbox: &Sandbox, tool_name: &str, path: &str) -> Value {
    tool(tool_name, json!({"file_path": sandbox.project().join(path), "content": "x"}))
}

const POLICY: &str = "\
version: 1
boundaries: {allowed_dirs: [src, docs], red_line_files: [src/red.txt, 'docs/*.key']}
network:
  allow: [crates.io]
  deny: [bad.example]
known_tools: {blocked: [mcp__acme__danger]}
bash_safety:
  blocked_patterns: ['make deploy']  # by hand
";

/// Rules with prerequisites, for all agents and for one agent.
const SEQUENCES: &str = "\
version: 1
tools:
  - require_first:
      bash(\"git push\"): [bash(\"pytest\")]
      mcp__acme__write_table(table: $t): [mcp__acme__read_table(table: $t)]
    read_before_write: true
  - for: {agent: claude-code}
    require_first: {delete file: [bash(\"git status\")]}
known_tools: {known: [mcp__acme__write_table, mcp__acme__read_table]}
";

fn governed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", POLICY);
    sandbox.write("src/red.txt", "x");
    sandbox.write("src/.env", "KEY=value\n");
    sandbox.write("vendor.txt", "x");
    sandbox
}

fn policies(sandbox: &Sandbox) -> Vec<Option<String>> {
    let own: PathBuf = sandbox.home().join(".config/lictor/governance.yaml");
    [own, sandbox.project().join("governance.yaml")]
        .iter()
        .map(|file| fs::read_to_string(file).ok())
        .collect()
}

/// Every kind of stopped call, and a similar one that must stay stopped.
#[test]
fn every_kind_of_stop_has_its_smallest_exception_and_a_way_back() {
    let sandbox = governed();
    let before = policies(&sandbox);
    let cases = [
        (bash("git push --force origin dev"), bash("git push --force origin main")),
        (bash("make deploy now"), bash("make deploy later")),
        (bash("cat vendor.txt"), bash("cat other.txt")),
        (file(&sandbox, "Write", "vendor.txt"), file(&sandbox, "Write", "other.txt")),
        (file(&sandbox, "Write", "/srv/app.conf"), file(&sandbox, "Write", "/srv/other.conf")),
        (file(&sandbox, "Read", "src/red.txt"), file(&sandbox, "Read", "docs/a.key")),
        (file(&sandbox, "Read", "src/.env"), file(&sandbox, "Read", "src/.env.local")),
        (bash("cat src/.env"), bash("cat src/.env.local")),
        (bash("curl https://example.com/x"), bash("curl https://example.org/x")),
        (bash("curl https://bad.example/x"), bash("curl https://worse.example/x")),
        (
            tool("WebFetch", json!({"url": "https://example.com/x", "prompt": "x"})),
            bash("curl https://example.org/x"),
        ),
        (tool("mcp__acme__lookup", json!({"q": "x"})), tool("mcp__acme__other", json!({"q": "x"}))),
        (tool("mcp__acme__danger", json!({"q": "x"})), tool("mcp__acme__other", json!({"q": "x"}))),
        (
            tool("mcp__postgres__query", json!({"sql": "DROP TABLE users"})),
            tool("mcp__mysql__query", json!({"sql": "DROP TABLE users"})),
        ),
    ];
    each_has_its_exception(&sandbox, &before, &cases);
}

/// Prerequisites have exceptions too, in the file that defines them.
#[test]
fn a_rule_about_the_past_is_lifted_for_one_command_file_or_value() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", SEQUENCES);
    sandbox.write("notes.txt", "x");
    sandbox.write("other.txt", "x");
    let before = policies(&sandbox);
    let table = |name: &str| tool("mcp__acme__write_table", json!({"table": name}));
    let cases = [
        (bash("git push --tags"), bash("git push --all")),
        (bash("cd src && git push origin dev"), bash("git push origin dev && git push origin main")),
        (table("drafts"), table("users")),
        (file(&sandbox, "Write", "notes.txt"), file(&sandbox, "Write", "other.txt")),
        (bash("rm notes.txt"), bash("rm other.txt")),
    ];
    each_has_its_exception(&sandbox, &before, &cases);
}

fn each_has_its_exception(sandbox: &Sandbox, before: &[Option<String>], cases: &[(Value, Value)]) {
    for (number, (call, beside)) in cases.iter().enumerate() {
        let stopped = called(sandbox, &format!("a{number}"), call);
        assert!(!passes(&stopped), "{call}: {stopped:?}");
        let id = sandbox.lictor(&["log", "-n", "1", "--json"]).json()["id"].to_string();
        let preview = sandbox.lictor(&["allow", &id]);
        assert_eq!(preview.code, 3, "{call}: {preview:?}");
        assert_eq!(policies(sandbox), before, "{call}: a preview changes nothing");
        let allowed = sandbox.lictor(&["allow", &id, "--yes"]);
        assert_eq!(allowed.code, 0, "{call}: {allowed:?}");
        let after = called(sandbox, &format!("b{number}"), call);
        assert!(passes(&after), "{call}: {after:?}\n{}", allowed.stdout);
        let other = called(sandbox, &format!("b{number}"), beside);
        assert!(!passes(&other), "{call} lets {beside} through:\n{}", allowed.stdout);
        assert_eq!(sandbox.lictor(&["check"]).code, 0);
        let undone = sandbox.lictor(&["allow", &id, "--undo"]);
        assert_eq!(undone.code, 0, "{call}: {undone:?}");
        assert_eq!(policies(sandbox), before, "{call}: {}", undone.stdout);
        let again = called(sandbox, &format!("c{number}"), call);
        assert!(!passes(&again), "{call}: {again:?}");
    }
}

#[test]
fn where_no_exception_helps_the_way_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "governance.yaml",
        "version: 1\nboundaries: {red_line_files: ['**/*.key']}\nbudget: {max_actions: 4}\n\
         policies: [{name: bulk, on: {verb: delete, object: file}, requires_confirmation: true}]\n",
    );
    for (call, said) in [
        (bash("cat a.key"), "narrow `**/*.key`"),
        (bash("rm notes.txt"), "lictor approve"),
        (bash("rm governance.yaml"), "protects what governs the agent"),
    ] {
        assert!(!passes(&called(&sandbox, "s1", &call)), "{call}");
        let run = sandbox.lictor(&["allow", "--yes"]);
        assert!(run.code == 1 && run.stderr.contains(said), "{call}: {run:?}");
    }
}

/// Each kind of rule that no exception lifts, with its answer or its location.
#[test]
fn what_no_exception_lifts_is_named_with_its_file_and_line() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "governance.yaml",
        "version: 1\n\
         budget: {max_actions: 2}\n\
         sandbox: {forbid: {imports: [socket]}}\n\
         policies:\n  - {name: no-del, on: {verb: delete, object: file}, effect: block}\n\
         guards:\n  calm: {expr: '!payload.command.contains(\"deploy\")', reason: not now, fix: wait}\n\
         policy: {all: [calm]}\n",
    );
    let cases = [
        ("s1", bash("rm src/a.py"), "change `no-del` (governance.yaml:5), or do this yourself"),
        ("s2", bash("make deploy"), "change `calm` (governance.yaml:7), or do this yourself"),
        (
            "s3",
            bash("python -c 'import socket'"),
            "change `sandbox` (governance.yaml:3), or do this yourself",
        ),
        ("s4", bash("eval \"$(cat x)\""), "`lictor approve` answers it"),
    ];
    for (session, call, said) in &cases {
        assert!(!passes(&called(&sandbox, session, call)), "{call}");
        let run = sandbox.lictor(&["allow", "--yes"]);
        assert!(run.code == 1 && run.stderr.contains(said), "{call}: {run:?}");
        assert_eq!(run.stderr.contains("approve"), said.contains("approve"), "{call}: {run:?}");
    }
    // A limit that one session has used up is not used up in another.
    for _ in 0..2 {
        assert!(passes(&called(&sandbox, "s5", &bash("ls"))));
    }
    assert!(!passes(&called(&sandbox, "s5", &bash("ls"))));
    let run = sandbox.lictor(&["allow", "--yes"]);
    let said = "raise `budget.max_actions` (governance.yaml:2), or begin a new session";
    assert!(run.code == 1 && run.stderr.contains(said), "{run:?}");
}

#[test]
fn an_entry_that_stood_for_more_says_so() {
    let sandbox = governed();
    called(&sandbox, "s1", &file(&sandbox, "Read", "src/red.txt"));
    let preview = sandbox.lictor(&["allow"]);
    let said = "reading, writing and deleting `src/red.txt` pass this rule";
    let words: Vec<&str> = preview.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains(said), "{preview:?}");
    let json = sandbox.lictor(&["allow", "--json"]).json();
    assert!(json["wider"][0].as_str().unwrap().contains(said), "{json}");
}

#[test]
fn the_policy_is_sound_after_an_exception_for_a_command() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", SEQUENCES);
    called(&sandbox, "s1", &bash("git push origin dev"));
    assert_eq!(sandbox.lictor(&["allow", "--yes"]).code, 0);
    let checked = sandbox.lictor(&["check"]);
    assert!(checked.code == 0 && !checked.stdout.contains("on the PATH"), "{checked:?}");
}

/// Exceptions for project files are exported with project-relative paths.
#[test]
fn exceptions_for_files_are_exported_or_named() {
    let sandbox = governed();
    called(&sandbox, "s1", &file(&sandbox, "Read", "src/.env"));
    assert_eq!(sandbox.lictor(&["allow", "--yes"]).code, 0);
    let own = sandbox.home().join(".config/lictor/governance.yaml");
    let before = fs::read_to_string(&own).unwrap();
    fs::write(&own, format!("{before}  - {{rule: secret.read, file: /srv/.env}}\n")).unwrap();
    let exported = sandbox.lictor(&["export"]);
    assert!(exported.stdout.contains("file: \"src/.env\""), "{exported:?}");
    assert!(!exported.stdout.contains("/srv/.env"), "{exported:?}");
    assert!(exported.stderr.contains("secret.read for /srv/.env"), "{exported:?}");
    assert!(
        exported.stdout.lines().any(|line| line.starts_with("at: ") && line.ends_with('Z')),
        "{exported:?}"
    );
    // Imported by a person without these decisions.
    let other = governed();
    other.write("shared.yaml", &exported.stdout);
    assert!(!passes(&called(&other, "s1", &file(&other, "Read", "src/.env"))));
    let taken = other.lictor(&["import", "shared.yaml", "--yes"]);
    assert_eq!(taken.code, 0, "{taken:?}");
    assert!(passes(&called(&other, "s2", &file(&other, "Read", "src/.env"))), "{taken:?}");
}

/// A file that was changed by hand since keeps what was written there.
#[test]
fn what_was_changed_since_stays_when_an_exception_is_taken_back() {
    let sandbox = governed();
    called(&sandbox, "s1", &file(&sandbox, "Read", "src/red.txt"));
    assert_eq!(sandbox.lictor(&["allow", "--yes"]).code, 0);
    let changed = fs::read_to_string(sandbox.project().join("governance.yaml")).unwrap();
    assert!(changed.contains("# - src/red.txt  # lictor allow 2"), "{changed}");
    sandbox.write("governance.yaml", &format!("{changed}budget: {{max_actions: 99}}\n"));
    assert_eq!(sandbox.lictor(&["allow", "2", "--undo"]).code, 0);
    let back = fs::read_to_string(sandbox.project().join("governance.yaml")).unwrap();
    assert!(back.contains("- src/red.txt\n") && back.contains("max_actions: 99"), "{back}");
    assert!(!passes(&called(&sandbox, "s2", &file(&sandbox, "Read", "src/red.txt"))));
    // Without a number it is the newest remaining exception.
    assert_eq!(sandbox.lictor(&["allow", "2", "--yes"]).code, 0);
    let undone = sandbox.lictor(&["allow", "--undo"]);
    assert!(undone.code == 0 && undone.stdout.contains("exception for decision 2"), "{undone:?}");
    let none = sandbox.lictor(&["allow", "--undo"]);
    assert!(none.code == 1 && none.stderr.contains("no policy file holds an exception"), "{none:?}");
}
