use crate::sandbox::Sandbox;

#[test]
fn the_chain_is_checked_and_an_anchor_covers_its_end() {
    let sandbox = Sandbox::new();
    for command in ["ls", "rm -rf /", "git status"] {
        sandbox.claude_bash(command);
    }
    let run = sandbox.lictor(&["audit", "verify"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("no anchor was given"), "{run:?}");

    let anchor = sandbox.lictor(&["audit", "anchor"]).stdout;
    sandbox.write("anchors", &anchor);
    let run = sandbox.lictor(&["audit", "verify", "--anchor", "anchors", "--json"]);
    assert_eq!((run.code, &run.json()["sound"]), (0, &true.into()), "{run:?}");

    let ahead = anchor.replacen(anchor.split(' ').next().unwrap(), "999", 1);
    sandbox.write("anchors", &ahead);
    let run = sandbox.lictor(&["audit", "verify", "--anchor", "anchors"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("are missing"), "{run:?}");
}

#[test]
fn reading_creates_nothing() {
    let sandbox = Sandbox::new();
    let run = sandbox.lictor(&["audit", "tail"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("nothing has been recorded"), "{run:?}");
    assert!(!sandbox.home().join(".local").exists());
}

/// A session's id comes from the agent. It cannot start a new line or emit colours.
#[test]
fn an_id_with_line_breaks_stays_on_its_line() {
    let sandbox = Sandbox::new();
    let event = serde_json::json!({
        "session_id": "s1\n     9  2026-01-01 00:00:00  evaluated  pass \u{1b}[32mapproved", "cwd": sandbox.project(),
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"},
    });
    let run = sandbox.lictor_with(&["hook", "claude-code", "PreToolUse"], &event.to_string());
    assert_eq!(run.code, 0, "{run:?}");
    for look in [&["audit", "query"][..], &["audit", "tail"], &["session", "list"], &["log"]] {
        let run = sandbox.lictor(look);
        assert!(run.code == 0 && !run.stdout.contains('\u{1b}'), "{look:?}: {run:?}");
        assert!(!run.stdout.lines().any(|line| line.trim_start().starts_with("9 ")), "{look:?}: {run:?}");
    }
}
