//! Attacks on `lictor run` from inside, as an unprivileged user: every case is really executed, and its actual
//! effect counts.

mod git;
mod kills;
mod landlock;
mod later;
mod person;
mod policy;
mod terminal;
mod ways_to_end;

use std::fs;

use serde::Deserialize;

use crate::sandbox::Sandbox;

#[derive(Deserialize)]
struct Case {
    id: String,
    command: String,
    expect: String,
}

fn cases() -> Vec<Case> {
    let text = include_str!("attacks/run.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Bubblewrap must be installed and allowed by the kernel: a machine on which these tests cannot run must report
/// it.
pub(super) fn can_run() {
    let tried =
        Sandbox::unprivileged().program("bwrap", &["--ro-bind", "/", "/", "--unshare-pid", "true"], "");
    assert_eq!(tried.code, 0, "these tests need bubblewrap and user namespaces: {tried:?}");
}

pub(super) fn world() -> Sandbox {
    let sandbox = Sandbox::unprivileged();
    let git = |args: &[&str]| assert_eq!(sandbox.program("git", args, "").code, 0, "{args:?}");
    git(&["config", "user.name", "t"]);
    git(&["config", "user.email", "t@example.com"]);
    sandbox.write("a.txt", "a\n");
    // Rules that pass everything: what holds here holds in the kernel.
    sandbox.write("governance.yaml", "version: 1\n");
    sandbox.write(".claude/settings.json", "{}\n");
    sandbox.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n");
    git(&["add", "a.txt"]);
    git(&["commit", "-q", "-m", "one"]);
    assert_eq!(sandbox.program("mkdir", &["../.claude", "../.cache"], "").code, 0);
    // A record and keys to be reached for.
    assert_eq!(sandbox.claude_bash("ls").code, 0);
    sandbox
}

#[test]
fn what_governs_cannot_be_reached_from_inside() {
    can_run();
    let sandbox = world();
    let mut cases = cases();
    // Harmless cases come first: an agent may damage its own repository.
    cases.sort_by(|a, b| a.expect.cmp(&b.expect));
    assert!(cases.len() >= 150, "{}", cases.len());
    let mut script = String::from("cd \"$PROJECT\"\n");
    for case in &cases {
        // Each in a shell of its own; changes of governing files are also checked afterwards.
        script += &format!(
            "if (\n{}\n) >/dev/null 2>&1 </dev/null; then echo '{} done'; else echo '{} held'; fi\n",
            case.command, case.id, case.id
        );
    }
    sandbox.write("attack.sh", &script);
    let before = governing(&sandbox);
    let project = sandbox.project().display().to_string();
    let run = sandbox.lictor(&[
        "run",
        "--",
        "env",
        &format!("PROJECT={project}"),
        &format!("LICTOR={}", env!("CARGO_BIN_EXE_lictor")),
        &format!("GUARDIAN={}", std::process::id()),
        &format!("HOME={}", sandbox.home().display()),
        "sh",
        "attack.sh",
    ]);
    assert_eq!(run.code, 0, "{run:?}");
    let wrong: Vec<String> = cases
        .iter()
        .filter(|case| !run.stdout.lines().any(|line| line == format!("{} {}", case.id, case.expect)))
        .map(|case| format!("{} should be {}: {}", case.id, case.expect, case.command))
        .collect();
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), run.stderr);
    assert_eq!(governing(&sandbox), before);
    // The mount points have been removed.
    for path in [
        "opencode.json",
        ".codex",
        ".cursor",
        ".agents",
        ".claude/settings.local.json",
        ".git/config.worktree",
    ] {
        assert!(!sandbox.project().join(path).exists(), "{path}");
    }
    assert_eq!(sandbox.lictor(&["audit", "verify"]).code, 0);
}

#[test]
fn notes_that_are_rewritten_inside_are_put_back() {
    can_run();
    let sandbox = world();
    let git = |args: &[&str]| {
        let run = sandbox.program("git", args, "");
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        run.stdout.trim().to_owned()
    };
    let tip = || git(&["rev-parse", "refs/notes/lictor"]);
    let main = git(&["rev-parse", "main"]);
    git(&["notes", "--ref", "lictor", "add", "-m", "1 abc", "HEAD"]);
    let inside = |command: &str| {
        let run = sandbox.lictor(&["run", "--", "sh", "-c", command]);
        assert_eq!(run.code, 0, "{command}: {run:?}");
        run.stderr.contains("have been put back")
    };
    let before = tip();
    for command in [
        "git update-ref -d refs/notes/lictor",
        "git update-ref refs/notes/lictor $(git commit-tree -m x HEAD^{tree})",
        "git symbolic-ref refs/notes/lictor refs/heads/main",
        "git pack-refs --all && sed -i '/notes.lictor/d' .git/packed-refs",
    ] {
        assert!(inside(command), "{command}");
        assert_eq!(tip(), before, "{command}");
    }
    assert_eq!(git(&["rev-parse", "main"]), main);
    // Added notes stay, and other notes belong to the agent.
    assert!(!inside("git notes add -m reviewed HEAD && git notes --ref lictor append -m '2 def' HEAD"));
    assert_ne!(tip(), before);
}

/// The governing files on disk.
fn governing(sandbox: &Sandbox) -> Vec<String> {
    let files = ["governance.yaml", ".claude/settings.json", ".git/config", ".git/hooks/pre-commit"];
    files.map(|file| fs::read_to_string(sandbox.project().join(file)).unwrap()).to_vec()
}

/// A call of a shell command as Claude Code tells it.
fn event(sandbox: &Sandbox, command: &str) -> String {
    format!(
        "{{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s2\",\"cwd\":\"{}\",\"tool_name\":\"Bash\",\"tool_input\":{{\"command\":\"{command}\"}}}}",
        sandbox.project().display()
    )
}

#[test]
fn hooks_inside_are_judged_outside() {
    can_run();
    let sandbox = world();
    sandbox.write("blocked.json", &event(&sandbox, "rm -rf /"));
    sandbox.write("passed.json", &event(&sandbox, "ls"));
    let lictor = env!("CARGO_BIN_EXE_lictor");
    let script = format!(
        "{lictor} hook claude-code < blocked.json 2>&1; echo $?; {lictor} hook claude-code < passed.json; echo $?; exit 9"
    );
    let run = sandbox.lictor(&["run", "--", "sh", "-c", &script]);
    assert_eq!(run.code, 9, "{run:?}");
    assert!(run.stdout.contains("whole file system") && run.stdout.ends_with("2\n0\n"), "{run:?}");
    let log = sandbox.lictor(&["audit", "tail"]);
    assert!(log.stdout.contains("claude-code:s2"), "{log:?}");
}

/// A hook that dies of a signal is a broken hook, and its call goes ahead.
#[test]
fn a_hook_inside_that_may_write_no_file_still_blocks() {
    can_run();
    let sandbox = world();
    sandbox.write("blocked.json", &event(&sandbox, "rm -rf /"));
    let hook = format!("{} hook claude-code < blocked.json > said 2> told", env!("CARGO_BIN_EXE_lictor"));
    let run = sandbox.lictor(&["run", "--", "sh", "-c", &format!("(ulimit -f 0; {hook}); echo $?")]);
    assert_eq!(run.stdout, "2\n", "{run:?}");
}
