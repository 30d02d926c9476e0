//! The person stays outside: their answers there count for calls that wait inside, and nothing inside can answer
//! for them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{can_run, world};
use crate::sandbox::Sandbox;

/// Asked about by a rule of the base.
const ASKED: &str = "npm publish";

/// How this agent is told of a refusal: its hooks end well.
const REFUSED: &str = r#""permissionDecision":"deny""#;

fn waiting(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.lictor(&["approvals", "--json"]).json().as_array().unwrap().clone()
}

/// A sandbox with an agent without a prompt, so that its calls wait for the person.
fn asking() -> Sandbox {
    let sandbox = world();
    let policy = sandbox.home().join(".config/lictor/governance.yaml");
    sandbox.write_at(&policy, "version: 1\napprovals: {wait: 50s}\n");
    sandbox.write(
        "event.json",
        &serde_json::json!({"hook_event_name": "PreToolUse", "session_id": "p1", "cwd": sandbox.project(),
            "turn_id": "t", "permission_mode": "default", "transcript_path": null, "model": "m",
            "tool_name": "Bash", "tool_use_id": "u1", "tool_input": {"command": ASKED}})
        .to_string(),
    );
    sandbox
}

#[test]
fn what_the_person_answers_outside_counts_for_the_call_that_waits_inside() {
    can_run();
    let answers: [(&[&str], bool); 2] =
        [(&["approve", "--yes"], false), (&["deny", "--reason", "not now"], true)];
    for (answer, refused) in answers {
        let sandbox = asking();
        let lictor = env!("CARGO_BIN_EXE_lictor");
        let script = format!("{lictor} hook codex PreToolUse < event.json; echo ended $?");
        let mut child = sandbox.start(&["run", "--", "sh", "-c", &script]);
        let begun = Instant::now();
        let pending = loop {
            let pending = waiting(&sandbox);
            if !pending.is_empty() {
                break pending;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", child.try_wait());
            thread::sleep(Duration::from_millis(50));
        };
        let id = pending[0]["id"].as_str().unwrap().to_owned();
        // Everything that people do with the record works beside the run, on the same store.
        for args in [&["session", "show", "codex:p1", "--json"][..], &["log", "--json"], &["audit", "verify"]]
        {
            let run = sandbox.lictor(args);
            assert_eq!(run.code, 0, "{args:?}: {run:?}");
        }
        let said = sandbox.lictor(&[answer, &[&id]].concat());
        assert_eq!(said.code, 0, "{said:?}");
        let mut out = String::new();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        while reader.read_line(&mut out).unwrap() > 0 {}
        assert!(out.ends_with("ended 0\n"), "{answer:?}: {out}");
        assert_eq!(out.contains(REFUSED), refused, "{answer:?}: {out}");
        assert!(child.wait().unwrap().success());
        assert!(waiting(&sandbox).is_empty());
    }
}

/// Every way to the guardian and to the store that a process inside has.
#[test]
fn nothing_inside_can_answer_for_the_person() {
    can_run();
    let sandbox = asking();
    // The question is there before the run begins.
    let event = std::fs::read_to_string(sandbox.project().join("event.json")).unwrap();
    let policy = sandbox.home().join(".config/lictor/governance.yaml");
    sandbox.write_at(&policy, "version: 1\n");
    let is_refused =
        || sandbox.lictor_with(&["hook", "codex", "PreToolUse"], &event).stdout.contains(REFUSED);
    assert!(is_refused());
    let id = waiting(&sandbox)[0]["id"].as_str().unwrap().to_owned();
    let lictor = env!("CARGO_BIN_EXE_lictor");
    let python = r#"
import json, os, socket, sys
state = os.readlink("/dev/lictor")
print("only", sorted(os.listdir(state)))
def say(message):
    s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(state + "/agent.sock")
    s.sendall(json.dumps(message).encode() + b"\n")
    print(s.makefile().readline().strip())
call = lambda args: {"jsonrpc": "2.0", "id": 1, "method": "call", "params": {"args": args, "cwd": os.getcwd()}}
for args in [["approve", ID, "--yes"], ["--yes", "approve", ID], ["deny", ID], ["allow", ID], ["rpc"], ["serve"],
             ["approvals", "--yes", "approve"], ["hook", "approve", ID], ["session", "refresh"], ["trust", "--yes"]]:
    say(call(args))
for method in ["approve", "resolve", "deny", "evaluate"]:
    say({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"id": ID}})
"#;
    sandbox.write("ask.py", &python.replace("ID", &format!("'{id}'")));
    let script = format!(
        "python3 ask.py; {lictor} approve {id} --yes; setsid {lictor} approve {id} --yes; \
         cp {lictor} z; ./z approve {id} --yes; LICTOR_STATE_DIR=$PWD/s ./z approve {id} --yes; \
         env -i HOME=$HOME {lictor} approve --all --yes; {lictor} rpc --cwd . < /dev/null"
    );
    let mut child = sandbox.start(&["run", "--", "sh", "-c", &script]);
    let _ = child.stdin.take().unwrap().write_all(b"y\ny\n");
    let ended = child.wait_with_output().unwrap();
    let out = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(out.contains("only"), "{ended:?}");
    let answers = out
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{line}: {error}")));
    let mut count = 0;
    for answer in answers {
        count += 1;
        assert!(answer["error"].is_object() || answer["result"]["exit"] != 0, "{answer}");
    }
    assert_eq!(count, 14, "{out}");
    // It still waits, and nobody has answered.
    assert_eq!(waiting(&sandbox)[0]["id"], id.as_str());
    assert!(is_refused());
}
