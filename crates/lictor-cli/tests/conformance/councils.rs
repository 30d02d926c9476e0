//! Councils that run while an agent works: started by its hooks, which do not wait for them.

use std::fs;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use lictor_agents::Agent;
use serde_json::Value;

use crate::fake::Fake;

/// A reviewer that passes its input to the test, and reports what the test provides. Both are pipes: it waits for
/// the test. At the end it copies the file as it sees it then.
const REVIEW: &str =
    "#!/bin/sh\ncat > \"$HOME/asked\"\ncat \"$HOME/report\"\ncp src/new.rs \"$HOME/seen\" 2>/dev/null || :\n";
const BAD: &str = r#"{"level": "HIGH", "title": "unfinished", "evidence": ["src/new.rs:1"]}"#;
/// How long a test waits before it fails.
const NEVER: Duration = Duration::from_secs(60);

fn policy(on: &str) -> String {
    format!(
        "version: 1\ncouncils:\n  watch:\n    on: [{on}]\n    guardrail: true\n    reviewers:\n      \
         - {{name: reader, command: [scripts/review.sh], timeout: 60s}}\n"
    )
}

fn fake(agent: Agent, on: &str) -> Fake {
    let fake = Fake::new(agent, &policy(on), REVIEW);
    for pipe in ["asked", "report"] {
        assert_eq!(
            fake.sandbox.program("mkfifo", &[fake.sandbox.home().join(pipe).to_str().unwrap()], "").code,
            0
        );
    }
    fake
}

/// What the reviewer is asked: waits until one is.
fn asked(fake: &Fake) -> Value {
    let pipe = fake.sandbox.home().join("asked");
    let (send, receive) = mpsc::channel();
    thread::spawn(move || send.send(fs::read_to_string(pipe).unwrap()));
    let call = receive.recv_timeout(NEVER).unwrap_or_else(|_| panic!("no reviewer was started"));
    serde_json::from_str(&call).unwrap()
}

fn report(fake: &Fake, lines: &str) {
    fs::write(fake.sandbox.home().join("report"), lines).unwrap();
}

/// The bodies of the records of a kind, once there are that many.
fn records(fake: &Fake, kind: &str, count: usize) -> Vec<Value> {
    let start = Instant::now();
    loop {
        let run = fake.sandbox.lictor(&["audit", "query", "--kind", kind, "--json"]);
        let found: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        if found.len() >= count {
            assert_eq!(found.len(), count, "{found:?}");
            return found;
        }
        let all = || fake.sandbox.lictor(&["audit", "query", "--json"]).stdout;
        assert!(start.elapsed() < NEVER, "{}: waited for {count} of {kind}: {}", fake.agent, all());
    }
}

#[test]
fn sessions_that_begin_and_end_are_looked_at_behind_the_agents_back() {
    for agent in [Agent::ClaudeCode, Agent::Codex, Agent::GeminiCli, Agent::Cursor, Agent::CopilotCli] {
        let fake = fake(agent, "session-start, session-end");
        fake.sandbox.write("src/new.rs", "// TODO\n");
        // The hook has answered while the reviewer still waits for somebody to read its call.
        fake.begins();
        let call = asked(&fake);
        assert_eq!(call["event"], "session-start", "{agent}");
        assert!(call["files"].as_array().unwrap().contains(&"src/new.rs".into()), "{agent}: {call}");
        // Not in the agent's work tree: that goes on changing.
        assert_ne!(call["root"], fake.sandbox.project().to_str().unwrap(), "{agent}");
        report(&fake, "");
        records(&fake, "council.answered", 1);

        // Exactly this has been looked at.
        fake.ends();
        let answers = records(&fake, "council.answered", 2);
        assert_eq!(records(&fake, "council.attested", 1).len(), 1, "{agent}: {answers:?}");

        fake.sandbox.write("src/new.rs", "// TODO later\n");
        fake.ends();
        assert_eq!(asked(&fake)["event"], "session-end", "{agent}");
        report(&fake, BAD);
        records(&fake, "council.answered", 3);
        let retro = fake.sandbox.lictor(&["verdict", "retro"]).stdout;
        assert!(retro.contains("HIGH"), "{agent}: {retro}");
        assert_eq!(fake.sandbox.lictor(&["audit", "verify"]).code, 0, "{agent}");
    }
}

#[test]
fn a_saved_file_is_looked_at_and_what_is_saved_meanwhile_at_once_afterwards() {
    let mut fake = fake(Agent::ClaudeCode, "{file-save: \"src/**\"}");
    // Not one of them; nothing starts.
    fake.writes("README.md", "hello\n");
    fake.writes("src/new.rs", "// TODO\n");
    let call = asked(&fake);
    assert_eq!((&call["event"], &call["files"]), (&"file-save".into(), &serde_json::json!(["src/new.rs"])));

    for text in ["// TODO 1\n", "// TODO 2\n"] {
        fake.writes("src/new.rs", text);
    }
    fake.writes("src/more.rs", "// more\n");
    records(&fake, "council.summoned", 4);
    report(&fake, "");
    let call = asked(&fake);
    // Work continued meanwhile; the reviewed copy did not change.
    assert_eq!(fs::read_to_string(fake.sandbox.home().join("seen")).unwrap(), "// TODO\n");
    assert_eq!(call["files"], serde_json::json!(["src/more.rs", "src/new.rs"]));
    report(&fake, BAD);
    let answers = records(&fake, "council.answered", 2);
    assert!(answers.iter().all(|answer| answer.to_string().contains("plan")), "{answers:?}");
    // What the reviewer found stops the agent's commit from then on.
    fake.sandbox.program("git", &["add", "-A"], "");
    let commit = fake.runs("git commit -m new");
    assert!(format!("{commit:?}").contains("unfinished"), "{commit:?}");
}

#[test]
fn a_command_that_writes_saves_too_and_one_that_fails_does_not() {
    let mut fake = fake(Agent::ClaudeCode, "{file-save: \"*.rs\"}");
    fake.runs("sed -i s/f/g/ src/lib.rs");
    assert_eq!(asked(&fake)["files"], serde_json::json!(["src/lib.rs"]));
    report(&fake, "");
    records(&fake, "council.answered", 1);
    let failed = serde_json::json!({"tool_name": "Write", "error": "disk full",
        "tool_input": {"file_path": fake.sandbox.project().join("src/new.rs"), "content": "x"}});
    assert_eq!(fake.sandbox.claude("PostToolUseFailure", failed).code, 0);
    // The next one that counts is the second call there is.
    fake.writes("src/lib.rs", "pub fn h() {}\n");
    asked(&fake);
    report(&fake, "");
    records(&fake, "council.summoned", 2);
    records(&fake, "council.answered", 2);
}

#[test]
fn what_nobody_trusts_does_not_run_and_that_is_on_record() {
    let fake = fake(Agent::ClaudeCode, "session-start");
    fake.sandbox.write("scripts/review.sh", "#!/bin/sh\ntouch \"$HOME/ran\"\n");
    fake.begins();
    records(&fake, "council.answered", 1);
    let attested = records(&fake, "council.attested", 1);
    assert!(attested[0].to_string().contains("lictor trust"), "{attested:?}");
    assert!(!fake.sandbox.home().join("ran").exists());
}
