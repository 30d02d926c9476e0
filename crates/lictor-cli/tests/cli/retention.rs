//! Archiving records does not change any output for people.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

fn session() -> Sandbox {
    let sandbox = Sandbox::new();
    for command in ["ls", "git status", "rm -rf ~", "cargo test"] {
        sandbox.claude_bash(command);
    }
    sandbox
}

#[test]
fn what_was_archived_is_still_read() {
    let sandbox = session();
    let looks: [&[&str]; 6] = [
        &["log", "--json"],
        &["report", "--json"],
        &["audit", "query", "--json"],
        &["audit", "verify"],
        &["explain", "2"],
        &["session", "list"],
    ];
    let seen = || -> Vec<String> {
        let shown = |args: &&[&str]| {
            let run = sandbox.lictor(args);
            assert_eq!(run.code, 0, "{args:?}: {run:?}");
            // When a report was made differs, and how many records there are grows by the one about the archive.
            let passing = ["\"since\"", "\"until\"", "checked"];
            let lasting = |line: &&str| !passing.iter().any(|word| line.contains(word));
            run.stdout.lines().filter(lasting).collect()
        };
        looks.iter().map(shown).collect()
    };
    let before = seen();
    let run = sandbox.lictor(&["audit", "archive", "--keep", "1ms", "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let moved: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(moved["records"].as_u64().unwrap() >= 4, "{moved}");
    let after = seen();
    for ((before, after), args) in before.iter().zip(&after).zip(looks) {
        assert!(
            after.starts_with(before.trim_end_matches(['}', ']', '\n', ' '])),
            "{args:?}:\n{before}\n{after}"
        );
    }
    assert_eq!(sandbox.claude_bash("ls").code, 0, "hooks go on");
    // A missing archive is detected.
    let archives = sandbox.state().join("archive");
    for file in std::fs::read_dir(&archives).unwrap().flatten() {
        std::fs::remove_file(file.path()).unwrap();
    }
    let gone = sandbox.lictor(&["explain", "2"]);
    assert_ne!(gone.code, 0, "{gone:?}");
    let run = sandbox.lictor(&["audit", "verify"]);
    assert!(run.code == 1 && run.stdout.contains("no archive in"), "{run:?}");
    let run = sandbox.lictor(&["log"]);
    assert!(run.code != 0 && run.stderr.contains("ask for newer records with `--since`"), "{run:?}");
    let run = sandbox.lictor(&["log", "--since", "1h"]);
    assert!(run.code == 0 && run.stdout.contains("bash ls"), "{run:?}");
    assert_eq!(sandbox.claude_bash("ls").code, 0, "hooks do not need it");
}

/// Everything that the scripted month does, and what became of it: a record of it takes at most 800 bytes on average.
#[test]
fn a_record_of_a_real_command_is_small() {
    let sandbox = Sandbox::new();
    let sessions =
        include_str!("month.jsonl").lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut lines = String::new();
    for (number, session) in sessions.enumerate() {
        let steps = session["steps"].as_array().unwrap().iter().map(|step| step.as_str().unwrap());
        for step in steps.filter(|step| !step.starts_with("edit ") && !step.starts_with("read ")) {
            let command = step.replace("{n}", "1");
            let action = json!({"kind": "bash", "payload": {"command": command}, "session_id": format!("s{number}"),
                                "cwd": sandbox.project()});
            let posted = json!({"action": action, "outcome": {"success": true, "exit_code": 0}});
            for (method, params) in [("evaluate", json!({"action": action})), ("post", posted)] {
                lines += &format!("{}\n", json!({"jsonrpc": "2.0", "method": method, "params": params}));
            }
        }
    }
    // What a new store and the project's policy take is there once, however long the record gets.
    assert_eq!(sandbox.lictor_with(&["rpc"], &lines).code, 0);
    let store = || -> (u64, u64) {
        let records = sandbox.lictor(&["audit", "verify", "--json"]).json()["records"].as_u64().unwrap();
        let files = std::fs::read_dir(sandbox.state()).unwrap().flatten();
        let bytes =
            files.filter(|file| file.path().is_file()).map(|file| file.metadata().unwrap().len()).sum();
        (records, bytes)
    };
    let (first, before) = store();
    assert_eq!(sandbox.lictor_with(&["rpc"], &lines).code, 0);
    let passes =
        sandbox.lictor(&["log", "--decision", "pass", "-n", "1000", "--json"]).stdout.lines().count();
    assert!(passes > 100, "{passes}");
    let (records, bytes) = store();
    let each = (bytes - before) / (records - first);
    assert!(each <= 800, "a record takes {each} bytes");
}

#[test]
fn a_session_that_ends_archives_in_the_background() {
    let sandbox = session();
    let user = sandbox.home().join(".config/lictor");
    std::fs::create_dir_all(&user).unwrap();
    std::fs::write(user.join("governance.yaml"), "version: 1\nretention: {keep: 1ms}\n").unwrap();
    let run = sandbox.claude("SessionEnd", serde_json::json!({"reason": "exit"}));
    assert_eq!(run.code, 0, "{run:?}");
    let archives = sandbox.state().join("archive");
    let found = || {
        let files = std::fs::read_dir(&archives).into_iter().flatten().flatten();
        files.filter(|file| file.file_name().to_string_lossy().starts_with("log-")).count()
    };
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while found() == 0 && std::time::Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(found(), 1);
}
