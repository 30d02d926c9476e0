//! Internal faults: a block that the agent obeys, without details for the agent, with details for the person.

use lictor_agents::conformance::{Obeyed, obey};
use lictor_agents::{Agent, Moment, Rendered, slots};
use serde_json::json;

use crate::sandbox::{Run, Sandbox};

const LICTOR: &str = env!("CARGO_BIN_EXE_lictor");

/// The id that the agent was given.
fn id_in(said: &str) -> &str {
    let (_, rest) = said.split_once("lictor explain ").unwrap_or_else(|| panic!("no id: {said}"));
    rest.split_whitespace().next().unwrap()
}

/// The agent's message has no internal details; the person's has.
fn neutral(sandbox: &Sandbox, run: &Run, inside: &str) {
    assert_eq!(run.code, 2, "{run:?}");
    let said = &run.stderr;
    assert!(said.contains("could not be judged") && said.contains("How to go on"), "{said}");
    for secret in [inside, "governance.yaml", "lictor.db", &*sandbox.home().to_string_lossy()] {
        assert!(!said.contains(secret), "the agent is told `{secret}`: {said}");
    }
    let explained = sandbox.lictor(&["explain", id_in(said)]);
    assert_eq!(explained.code, 0, "{explained:?}");
    assert!(explained.stdout.contains(inside), "{explained:?}");
    let doctor = sandbox.lictor(&["doctor"]);
    assert!(doctor.stdout.contains(inside) || doctor.stderr.contains(inside), "{doctor:?}");
}

#[test]
fn a_panic_and_a_missed_deadline_stop_the_call_on_every_agent() {
    let sandbox = Sandbox::new();
    for (planted, noted) in [("panic", "failed inside"), ("late", "did not finish in time")] {
        let fault = format!("LICTOR_TEST_FAULT={planted}");
        let mut asked = 0;
        for agent in Agent::ALL {
            for slot in slots(agent).filter(|slot| slot.moment() == Moment::PreTool) {
                let args = [&fault, LICTOR, "hook", agent.name(), slot.event_name()];
                let run = sandbox.program("env", &args, "{}");
                let answer = Rendered {
                    stdout: run.stdout,
                    stderr: run.stderr,
                    exit: u8::try_from(run.code).unwrap(),
                };
                let obeyed = obey(agent, slot.event_name(), &answer);
                assert!(
                    matches!(&obeyed, Obeyed::Stopped(why) if why.contains("could not be judged")),
                    "{planted} {agent} {}: {obeyed:?} {answer:?}",
                    slot.event_name()
                );
                asked += 1;
            }
        }
        let faults = std::fs::read_to_string(sandbox.state().join("faults.jsonl")).unwrap();
        assert_eq!(faults.lines().filter(|line| line.contains(noted)).count(), asked, "{faults}");
    }
}

#[test]
fn a_refused_policy_is_told_to_the_person() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "version: 1\nno_such_key: 1\n");
    neutral(&sandbox, &sandbox.claude_bash("ls"), "governance.yaml:2:1");
}

#[test]
fn a_damaged_store_is_told_to_the_person() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.claude_bash("ls").code, 0);
    let store = sandbox.state().join("lictor.db");
    std::fs::write(&store, "not a database at all, but long enough to be looked at as one").unwrap();
    neutral(&sandbox, &sandbox.claude_bash("ls"), "lictor.db");
}

#[test]
fn a_full_disk_is_told_to_the_person() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.claude_bash("ls").code, 0);
    let payload = json!({"session_id": "s1", "cwd": sandbox.project(), "hook_event_name": "PreToolUse",
                         "tool_name": "Bash", "tool_input": {"command": "ls"}});
    // Not even the log of the store can grow by one page, while a line about it still fits into its own file.
    let line = format!("ulimit -f 8; exec {LICTOR} hook claude-code PreToolUse");
    let run = sandbox.program("sh", &["-c", &line], &payload.to_string());
    neutral(&sandbox, &run, "no space left");
}

#[test]
fn a_rule_that_blocks_still_says_what_why_and_how_to_go_on() {
    let sandbox = Sandbox::new();
    let policy = "version: 1\nguards:\n  no_push: {expr: '!payload.command.contains(\"push\")', reason: pushing is for people, fix: open a pull request}\npolicy: {all: [no_push]}\n";
    sandbox.write("governance.yaml", policy);
    let run = sandbox.claude_bash("git push");
    assert_eq!(run.code, 2, "{run:?}");
    for told in ["pushing is for people", "open a pull request", "lictor explain 2"] {
        assert!(run.stderr.contains(told), "{told}: {run:?}");
    }
    // The same check fails on a call without a command.
    let run = sandbox.claude("PreToolUse", json!({"tool_name": "Read", "tool_input": {"file_path": "a"}}));
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("the check `no_push` could not be carried out"), "{run:?}");
    assert!(!run.stderr.contains("payload"), "{run:?}");
    assert!(sandbox.lictor(&["explain", id_in(&run.stderr)]).stdout.contains("payload.command"), "{run:?}");
}
