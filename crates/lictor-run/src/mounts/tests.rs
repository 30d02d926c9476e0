use std::fs;

use super::*;

#[test]
fn what_governs_is_read_only_and_cannot_be_moved_or_made() {
    let directory = tempfile::tempdir().unwrap();
    let at = |path: &str| directory.path().join(path);
    for path in ["p/.claude", "p/.git/hooks", "home/.claude", "state", "run", "user", "home/.ssh"] {
        fs::create_dir_all(at(path)).unwrap();
    }
    for path in ["p/.claude/settings.json", "p/.git/config", "p/governance.yaml", "user/ssh.sock"] {
        fs::write(at(path), "x").unwrap();
    }
    let wanted = Wanted {
        project: at("p"),
        home: at("home"),
        program: at("lictor"),
        state: at("state"),
        runtime: at("run"),
        writable: vec![at("home/.claude"), at("home/.cache")],
        governing: [
            "p/.claude/settings.json",
            "p/.claude/settings.local.json",
            "p/.codex/hooks",
            "p/.git/config",
            "p/.git/hooks",
            "p/governance.yaml",
            "home/.claude/settings.json",
            "home/.bashrc",
            "p/.gemini/config/hooks.json",
            "p/.gemini/config",
            "home/.claude/.claude.json",
        ]
        .map(at)
        .to_vec(),
        leading_out: vec![at("none.sock"), at("user")],
        open: vec![at("user/ssh.sock")],
        hidden: vec![at("home/.ssh"), at("home/.none")],
        copied: vec![at("home/.claude/.claude.json")],
        ..Wanted::default()
    };
    let (mounts, _, held) = crate::points::hold(&at("list"), |points| plan(&wanted, points)).unwrap();
    let after = |first: &Mount, second: &Mount| {
        let place =
            |mount| mounts.iter().position(|known| known == mount).unwrap_or_else(|| panic!("{mount:?}"));
        assert!(place(first) < place(second), "{first:?} before {second:?}");
    };
    after(&Mount::Writable(at("p")), &Mount::Writable(at("p/.claude")));
    after(&Mount::Writable(at("p/.claude")), &Mount::ReadOnly(at("p/.claude/settings.json")));
    after(&Mount::Writable(at("p/.claude")), &Mount::Nothing(at("p/.claude/settings.local.json")));
    after(&Mount::Writable(at("p/.codex")), &Mount::Empty(at("p/.codex/hooks")));
    // What holds something that governs is a directory, whatever it is called.
    after(&Mount::Writable(at("p/.gemini")), &Mount::Empty(at("p/.gemini/config")));
    after(&Mount::Writable(at("p/.git")), &Mount::ReadOnly(at("p/.git/config")));
    after(&Mount::Writable(at("p")), &Mount::ReadOnly(at("p/governance.yaml")));
    after(&Mount::Writable(at("home/.claude")), &Mount::Nothing(at("home/.claude/settings.json")));
    after(&Mount::ReadOnly(at("p/.git/hooks")), &Mount::Scratch(at("state")));
    assert_eq!(mounts.last(), Some(&Mount::Sealed(at("state"))));
    // The home directory itself is read-only: nothing has to be done there.
    assert!(!mounts.iter().any(|mount| matches!(mount, Mount::Nothing(path) if path == &at("home/.bashrc"))));
    assert!(!mounts.contains(&Mount::Writable(at("home/.cache"))));
    // What is open shows in a directory that is closed afterwards; what a policy hides lies on top.
    let open = Mount::Shown { from: at("user/ssh.sock"), at: at("user/ssh.sock") };
    after(&Mount::Scratch(at("user")), &open);
    after(&open, &Mount::Closed(at("user")));
    after(&Mount::Writable(at("home/.claude")), &Mount::Empty(at("home/.ssh")));
    let copy = Mount::Shown { from: copy_of(&at("run"), 0), at: at("home/.claude/.claude.json") };
    after(&Mount::Empty(at("home/.ssh")), &copy);
    drop(held);
    crate::points::release(&at("list")).unwrap();
    assert!(!at("p/.codex").exists() && !at("p/.claude/settings.local.json").exists());
}
