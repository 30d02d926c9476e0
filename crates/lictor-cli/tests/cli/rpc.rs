//! `lictor rpc` from programs in other languages, and under bad input.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};

fn example(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/any-language");
    fs::read_to_string(folder.join(file)).unwrap()
}

/// A sandbox with the example's policy and one of its programs, and what that printed.
fn run(program: &str, file: &str) -> (Sandbox, Run) {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", &example("governance.yaml"));
    sandbox.write(file, &example(file));
    let binaries = Path::new(env!("CARGO_BIN_EXE_lictor")).parent().unwrap().display().to_string();
    let run = sandbox.program("sh", &["-c", &format!("PATH={binaries}:$PATH {program} {file}")], "");
    (sandbox, run)
}

fn calls(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn call(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn answers(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_shell_script_is_governed_without_dependencies() {
    let (_, run) = run("sh", "agent.sh");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        run.stdout,
        "research: pass\nafterwards: governed\nmay it stop? incomplete\nand now? complete\n"
    );
}

#[test]
fn javascript_is_governed_without_dependencies() {
    if Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: node is not installed");
        return;
    }
    let (sandbox, run) = run("node", "agent.mjs");
    assert_eq!(run.code, 0, "{run:?}");
    for said in [
        "refused: only pages are published",
        "asked: a page is about to be published\npublished notes.md",
        "refused: a person said no: not on a Friday",
        "invalid_params: correct the parameters",
        "3 actions, 120 tokens",
    ] {
        assert!(run.stdout.contains(said), "{said}: {run:?}");
    }
    // What was done through rpc is on record like everything else.
    let kinds: Vec<Value> = sandbox
        .lictor(&["audit", "query", "--session", "node", "--json"])
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].clone())
        .collect();
    let count = |kind: &str| kinds.iter().filter(|known| **known == kind).count();
    assert_eq!((count("evaluated"), count("resolved"), count("happened")), (3, 2, 1), "{kinds:?}");
}

#[test]
fn bad_lines_get_an_error_each_and_the_rest_is_answered() {
    let sandbox = Sandbox::new();
    let good = call(1, "evaluate", json!({"action": {"kind": "bash", "payload": {"command": "ls"}}}));
    let long = format!("\"{}\"", "x".repeat(17 * 1024 * 1024));
    let bad: [(&str, i64); 8] = [
        ("{", -32700),
        ("\u{0}", -32700),
        (&long, -32600),
        ("7", -32600),
        ("{\"jsonrpc\": \"1.0\", \"id\": 1, \"method\": \"evaluate\"}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"evaluate\"}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"evaluate\", \"params\": [1]}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"judge\"}", -32601),
    ];
    let mut input = String::new();
    for (line, _) in &bad {
        input += &format!("{line}\n{good}\n\n");
    }
    let run = sandbox.lictor_with(&["rpc"], &input);
    let answers = answers(&run);
    assert_eq!((run.code, answers.len()), (0, 2 * bad.len()), "{}", run.stderr);
    for (pair, (line, code)) in answers.chunks(2).zip(bad) {
        let shown: String = line.chars().take(80).collect();
        assert_eq!(pair[0]["error"]["code"], code, "{shown}: {}", pair[0]);
        assert!(pair[0]["error"]["data"]["fix"].as_str().is_some_and(|fix| !fix.is_empty()));
        assert_eq!(pair[1]["result"]["decision"], "pass", "{shown}");
    }
}

#[test]
fn calls_without_an_id_are_carried_out_and_several_may_come_at_once() {
    let sandbox = Sandbox::new();
    let action = json!({"action": {"kind": "bash", "payload": {"command": "ls"}, "session_id": "s"}});
    let told = json!({"jsonrpc": "2.0", "method": "evaluate", "params": action});
    let both = json!([told, call(1, "session", json!({"session_id": "s"})), told]);
    let run = sandbox.lictor_with(&["rpc"], &calls(&[told.clone(), both, json!([told])]));
    let answers = answers(&run);
    assert_eq!(answers.len(), 1, "{run:?}");
    assert_eq!(answers[0][0]["result"]["state"]["action_count"], 2);
    assert_eq!(sandbox.lictor(&["session", "show", "s", "--json"]).json()["state"]["action_count"], 4);
}

#[test]
fn findings_the_gate_and_questions_work_as_in_the_commands() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", &example("governance.yaml"));
    sandbox.write("src/users.py", "a\nb\n");
    assert_eq!(sandbox.program("git", &["add", "src"], "").code, 0);
    let publish = json!({"kind": "submit_task", "task_type": "publish", "payload": {"page": "x.md"}, "session_id": "s"});
    let finding = json!({"plan": "p1", "level": "HIGH", "title": "SQL injection", "agent": "reviewer",
                         "evidence": ["src/users.py:2:unescaped"]});
    let run = sandbox.lictor_with(
        &["rpc"],
        &calls(&[
            call(1, "gate", json!({"event": "pre-commit"})),
            call(2, "record", json!({"finding": finding})),
            call(3, "gate", json!({"event": "pre-commit"})),
            call(4, "evaluate", json!({"action": publish, "unattended": true})),
            call(5, "approvals", json!({})),
            call(6, "record", json!({"finding": {"plan": "no blanks", "level": "HIGH", "title": "x"}})),
        ]),
    );
    let answers = answers(&run);
    assert_eq!(answers[0]["result"]["outcome"], "ok", "{run:?}");
    assert_eq!(
        (&answers[1]["result"]["level"], &answers[1]["result"]["open"]),
        (&json!("HIGH"), &json!(true))
    );
    assert_eq!(answers[2]["result"]["outcome"], "blocked");
    assert_eq!(answers[3]["result"]["decision"], "block");
    assert_eq!(answers[4]["result"][0]["action"]["task_type"], "publish");
    assert_eq!(answers[5]["error"]["data"]["kind"], "invalid_params");
    let listed = sandbox.lictor(&["approvals", "--json"]).json();
    assert_eq!(listed[0]["id"], answers[4]["result"][0]["id"]);
}
