//! Records that move to archives: nothing that people look at changes.

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
    let moved: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(moved["records"].as_u64().unwrap() >= 4, "{moved}");
    let after = seen();
    for ((before, after), args) in before.iter().zip(&after).zip(looks) {
        assert!(
            after.starts_with(before.trim_end_matches(['}', ']', '\n', ' '])),
            "{args:?}:\n{before}\n{after}"
        );
    }
    assert_eq!(sandbox.claude_bash("ls").code, 0, "hooks go on");
    // What was moved is missed when it is gone.
    let archives = sandbox.state().join("archive");
    for file in std::fs::read_dir(&archives).unwrap().flatten() {
        std::fs::remove_file(file.path()).unwrap();
    }
    let gone = sandbox.lictor(&["explain", "2"]);
    assert_ne!(gone.code, 0, "{gone:?}");
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
