//! Git works inside as it does outside, except where it would change governing files.

use serde_json::json;

use super::{can_run, world};
use crate::sandbox::Sandbox;

fn git(sandbox: &Sandbox, args: &[&str]) -> String {
    let run = sandbox.program("git", args, "");
    assert_eq!(run.code, 0, "{args:?}: {run:?}");
    run.stdout
}

fn inside(sandbox: &Sandbox, script: &str) -> crate::sandbox::Run {
    sandbox.lictor(&["run", "--", "sh", "-e", "-c", script])
}

#[test]
fn everyday_git_works_and_leaves_no_trace_of_the_sandbox() {
    can_run();
    let sandbox = world();
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "all"]);
    git(&sandbox, &["init", "-q", "--bare", "../origin.git"]);
    // A remote lies on another machine; here it has to be somewhere that can be written.
    git(&sandbox, &["clone", "-q", "--bare", ".", "origin.git"]);
    git(&sandbox, &["remote", "add", "origin", "./origin.git"]);
    sandbox.write(".git/info/exclude", "origin.git\n");
    let before = git(&sandbox, &["status", "--porcelain", "--ignored"]);
    let run = inside(
        &sandbox,
        "test -z \"$(git status --porcelain)\"
         git switch -q -c feature && echo b > b.txt && git add b.txt && git commit -qm b
         git switch -q main && echo c > c.txt && git add -A && git commit -qm c
         git rebase -q main feature && git switch -q main && git merge -q feature
         echo d >> a.txt && git stash -q && git stash pop -q && git restore a.txt
         git push -q origin main feature && git fetch -q origin
         git worktree add -q .git/wt-scratch -b side && git worktree remove .git/wt-scratch
         git tag v1 && git reset -q --hard HEAD && git clean -fdq
         test -z \"$(git status --porcelain)\"",
    );
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(git(&sandbox, &["status", "--porcelain", "--ignored"]), before);
    let there = git(&sandbox, &["--git-dir=origin.git", "log", "--oneline", "main"]);
    assert_eq!(there.lines().count(), 4, "{there}");
    git(&sandbox, &["fsck", "--strict"]);
}

#[test]
fn a_linked_work_tree_works_and_its_repository_is_protected() {
    can_run();
    let sandbox = world();
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "all"]);
    git(&sandbox, &["worktree", "add", "-q", "../linked", "-b", "linked"]);
    let lictor = env!("CARGO_BIN_EXE_lictor");
    let common = sandbox.project().join(".git");
    let script = format!(
        "cd ../linked && {lictor} run -- sh -c '
         echo x > x.txt && git add -A && git commit -qm x && git switch -q -c more && echo committed
         echo x >> {common}/config && echo CONFIG
         echo x > {common}/hooks/post-commit && echo HOOK
         echo x > {common}/worktrees/linked/config.worktree && echo WORKTREE
         echo gitdir: /tmp > .git && echo GITDIR
         rm .git && echo REMOVED
         test -z \"$(git status --porcelain)\" && echo clean' 2>/dev/null",
        common = common.display()
    );
    let run = sandbox.program("sh", &["-c", &script], "");
    assert_eq!(run.stdout, "committed\nclean\n", "{run:?}");
}

/// A hook as Claude Code would start it inside, for a command.
fn asked(sandbox: &Sandbox, command: &str) -> crate::sandbox::Run {
    let event = json!({"hook_event_name": "PreToolUse", "session_id": "g1", "cwd": sandbox.project(),
                       "tool_name": "Bash", "tool_input": {"command": command}});
    sandbox.write_at(&sandbox.home().join("project/event.json"), &event.to_string());
    sandbox.lictor(&[
        "run",
        "--",
        "sh",
        "-c",
        &format!("{} hook claude-code < event.json 2>&1", env!("CARGO_BIN_EXE_lictor")),
    ])
}

#[test]
fn a_branch_with_other_governing_files_is_refused_before_git_starts() {
    can_run();
    let sandbox = world();
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "all"]);
    git(&sandbox, &["branch", "same"]);
    git(&sandbox, &["switch", "-q", "-c", "other"]);
    sandbox.write(".claude/settings.json", "{\"hooks\": {}}\n");
    git(&sandbox, &["commit", "-qam", "no hooks"]);
    git(&sandbox, &["switch", "-q", "main"]);
    let refused = asked(&sandbox, "git switch other");
    assert!(refused.code == 2 && refused.stdout.contains("`.claude/settings.json`"), "{refused:?}");
    assert_eq!(asked(&sandbox, "git switch same").code, 0);
    let explained = asked(&sandbox, "git push -u origin main");
    assert!(explained.stdout.contains("without `-u` works"), "{explained:?}");
    // If git is started anyway, the kernel protects the file.
    let run = inside(&sandbox, "git switch other 2>&1 || true; cat .claude/settings.json");
    assert!(run.stdout.ends_with("{}\n"), "{run:?}");
}

#[test]
fn git_says_why_where_the_sandbox_is_what_it_fails_by() {
    can_run();
    let sandbox = world();
    git(&sandbox, &["clone", "-q", "--bare", ".", "origin.git"]);
    git(&sandbox, &["remote", "add", "origin", "./origin.git"]);
    for line in [
        "git config some.name value",
        "git -C . config --unset user.name",
        "git remote add other ./other.git",
        "git push -u origin main",
    ] {
        let run = sandbox.lictor(&["run", "--", "sh", "-c", line]);
        assert!(run.stderr.contains("git's configuration cannot be changed in here"), "{line}: {run:?}");
    }
    let run = sandbox.lictor(&["run", "--", "sh", "-c", "git worktree add ../x"]);
    assert!(run.code == 128 && run.stderr.contains("use a place in the project"), "{run:?}");
    // Everything else is git's own, with its output, its input and its exit code.
    let lines = [
        ("git worktree add -q trees/x && test -e trees/x/a.txt && git worktree remove trees/x", 0),
        ("git config --get no.such", 1),
        ("test \"$(git config --get user.name)\" = t", 0),
        ("git config get-nothing", 1),
        ("echo 'a line' | git hash-object --stdin | grep -q '^[0-9a-f]\\{40\\}$'", 0),
        ("git no-such-command", 1),
        ("test \"$(git -c x.y='a b' config x.y)\" = 'a b'", 0),
    ];
    for (line, code) in lines {
        let run = sandbox.lictor(&["run", "--", "sh", "-c", line]);
        assert_eq!(run.code, code, "{line}: {run:?}");
        assert!(!run.stderr.contains("lictor"), "{line}: {run:?}");
    }
    let told = asked(&sandbox, "git worktree add ../x");
    assert!(told.code == 2 && told.stdout.contains("nothing can be written at"), "{told:?}");
}
