//! Hooks together with existing hooks.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use lictor_ledger::hooks::{Home, install, read_file, uninstall};

use crate::world::World;

/// A fake `lictor` that records its calls and exits with a configured code.
fn program(world: &World) -> String {
    let path = world.dir.path().join("it's lictor");
    script(
        &path,
        "dir=$(dirname \"$0\"); echo \"$*\" >> \"$dir/calls\"; cat >> \"$dir/stdin\"; exit $(cat \"$dir/exit\")",
    );
    fs::write(world.dir.path().join("exit"), "0").unwrap();
    path.to_str().unwrap().to_owned()
}

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn try_git(world: &World, args: &[&str]) -> bool {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
        .args(args)
        .current_dir(world.root())
        .output();
    output.unwrap().status.success()
}

fn calls(world: &World) -> String {
    fs::read_to_string(world.dir.path().join("calls")).unwrap_or_default()
}

fn snapshot(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .map(|entries| {
            let entries = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
            entries.map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
        })
        .unwrap_or_default();
    files.sort();
    files
}

#[test]
fn hooks_run_beside_others_and_leave_no_trace() {
    let world = World::new();
    let hooks = world.repository().hooks_dir().unwrap();
    script(&hooks.join("pre-commit"), "echo theirs >> ../theirs; [ ! -e ../refuse ]");
    script(&hooks.join("pre-push"), "cat > ../their-stdin");
    let before = snapshot(&hooks);
    let home = Home::of(&hooks);
    let program = program(&world);
    install(&home, &program, read_file).apply().unwrap();
    assert_eq!(install(&home, &program, read_file).changes, []);

    world.stage("a", "1\n");
    assert!(try_git(&world, &["commit", "-qm", "x"]));
    assert_eq!(calls(&world), "verdict gate --event pre-commit\nverdict gate --event post-commit\n");
    assert_eq!(fs::read_to_string(world.dir.path().join("theirs")).unwrap(), "theirs\n");
    // Each of the two can stop the commit.
    fs::write(world.dir.path().join("exit"), "2").unwrap();
    assert!(!try_git(&world, &["commit", "--allow-empty", "-qm", "x"]));
    fs::write(world.dir.path().join("exit"), "0").unwrap();
    fs::write(world.dir.path().join("refuse"), "").unwrap();
    assert!(!try_git(&world, &["commit", "--allow-empty", "-qm", "x"]));
    fs::remove_file(world.dir.path().join("refuse")).unwrap();

    // Both get what git says about a push.
    let remote = world.dir.path().join("remote.git");
    world.git_in(world.dir.path(), &["init", "-q", "--bare", "remote.git"]);
    assert!(try_git(&world, &["push", "-q", remote.to_str().unwrap(), "main"]));
    let head = world.git(&["rev-parse", "HEAD"]);
    let line = format!("refs/heads/main {head} refs/heads/main {}\n", "0".repeat(40));
    assert_eq!(fs::read_to_string(world.dir.path().join("their-stdin")).unwrap(), line);
    assert!(fs::read_to_string(world.dir.path().join("stdin")).unwrap().contains(&line));

    // A merge asks too.
    world.git(&["checkout", "-q", "-b", "side"]);
    world.git(&["commit", "-q", "--allow-empty", "-m", "side"]);
    world.git(&["checkout", "-q", "main"]);
    world.git(&["commit", "-q", "--allow-empty", "-m", "main"]);
    fs::write(world.dir.path().join("exit"), "2").unwrap();
    assert!(!try_git(&world, &["merge", "-q", "--no-edit", "side"]));
    fs::write(world.dir.path().join("exit"), "0").unwrap();

    // Without the program nothing passes.
    fs::rename(&program, world.dir.path().join("gone")).unwrap();
    assert!(!try_git(&world, &["commit", "--allow-empty", "-qm", "x"]));

    uninstall(&home, read_file).apply().unwrap();
    assert_eq!(snapshot(&hooks), before);
}

#[test]
fn a_hooks_path_is_followed() {
    let world = World::new();
    world.git(&["config", "core.hooksPath", "tools/hooks"]);
    let hooks = world.repository().hooks_dir().unwrap();
    assert!(hooks.ends_with("repo/tools/hooks"), "{}", hooks.display());
    install(&Home::of(&hooks), &program(&world), read_file).apply().unwrap();
    assert!(try_git(&world, &["commit", "--allow-empty", "-qm", "x"]));
    assert!(calls(&world).starts_with("verdict gate --event pre-commit\n"));
    uninstall(&Home::of(&hooks), read_file).apply().unwrap();
    assert_eq!(snapshot(&hooks), []);
}

#[test]
fn husky_keeps_its_files_and_gets_a_block() {
    let world = World::new();
    // husky 9: git reads `.husky/_`, whose scripts run the file of the same name above.
    for hook in ["pre-commit", "pre-push", "post-commit", "pre-merge-commit"] {
        let text = format!("f=\"$(dirname \"$0\")/../{hook}\"; [ ! -f \"$f\" ] || sh -e \"$f\" \"$@\"");
        script(&world.root().join(".husky/_").join(hook), &text);
    }
    world.git(&["config", "core.hooksPath", ".husky/_"]);
    script(&world.root().join(".husky/pre-commit"), "echo theirs >> ../theirs");
    script(&world.root().join(".husky/pre-push"), "cat > ../their-stdin");
    let home = Home::of(&world.repository().hooks_dir().unwrap());
    assert_eq!(home, Home::Husky(world.repository().hooks_dir().unwrap().parent().unwrap().to_owned()));
    let before = snapshot(&world.root().join(".husky"));
    let program = program(&world);
    install(&home, &program, read_file).apply().unwrap();
    assert_eq!(install(&home, &program, read_file).changes, []);
    assert!(try_git(&world, &["commit", "--allow-empty", "-qm", "x"]));
    assert!(calls(&world).starts_with("verdict gate --event pre-commit\n"));
    assert_eq!(fs::read_to_string(world.dir.path().join("theirs")).unwrap(), "theirs\n");
    world.git_in(world.dir.path(), &["init", "-q", "--bare", "remote.git"]);
    assert!(try_git(&world, &["push", "-q", "../remote.git", "main"]));
    assert!(
        fs::read_to_string(world.dir.path().join("their-stdin")).unwrap().starts_with("refs/heads/main ")
    );
    fs::write(world.dir.path().join("exit"), "2").unwrap();
    assert!(!try_git(&world, &["commit", "--allow-empty", "-qm", "x"]));
    uninstall(&home, read_file).apply().unwrap();
    assert_eq!(snapshot(&world.root().join(".husky")), before);
}

#[test]
fn a_file_that_changed_meanwhile_is_not_overwritten() {
    let world = World::new();
    let hooks = world.repository().hooks_dir().unwrap();
    let plan = install(&Home::of(&hooks), &program(&world), read_file);
    script(&hooks.join("pre-commit"), "echo new");
    let error = plan.apply().unwrap_err();
    assert!(error.to_string().contains("has changed meanwhile"), "{error}");
}
