use lictor_core::{Action, Value};
use lictor_observe::FakeObserver;

use super::*;
use crate::testing::{ROOT, bash, judged, judged_in};

fn value(action: &Action) -> Value {
    judged(SelfProtection, action).value
}

#[test]
fn what_governs_may_be_read_and_not_changed() {
    for path in [
        "governance.yaml",
        ".claude/settings.json",
        ".claude/settings.local.json",
        "packages/a/.claude/settings.json",
        "/home/user/.claude/settings.json",
        "/home/user/.config/lictor/governance.yaml",
        "/home/user/.local/state/lictor/x/log.db",
        "/etc/lictor/governance.yaml",
        ".codex/config.toml",
        ".cursor/hooks.json",
        ".gemini/settings.json",
        ".github/hooks/x.json",
        ".git/hooks/pre-commit",
        ".git/config",
        ".husky/pre-commit",
    ] {
        assert_eq!(value(&Action::write(path).in_dir(ROOT)), Value::Block, "{path}");
        assert_eq!(value(&Action::read(path).in_dir(ROOT)), Value::Pass, "{path}");
        assert_eq!(value(&bash(&format!("rm -f {path}"))), Value::Block, "{path}");
        assert_eq!(value(&bash(&format!("cat {path}"))), Value::Pass, "{path}");
    }
    for path in
        ["docs/governance.md", ".github/workflows/ci.yml", ".claude/commands/x.md", "src/settings.json"]
    {
        assert_eq!(value(&Action::write(path).in_dir(ROOT)), Value::Pass, "{path}");
    }
}

#[test]
fn a_tree_that_holds_own_files_is_own() {
    let world = FakeObserver::for_judging()
        .file("/home/user/project/.claude/settings.json", "{}")
        .file("/home/user/project/.vscode/settings.json", "{\"chat.hooks\": 1}");
    let value =
        |command: &str| judged_in(SelfProtection, &bash(command), &world, &Default::default(), 0).value;
    assert_eq!(value("rm -rf .claude"), Value::Block);
    assert_eq!(value("mv .claude /tmp/x"), Value::Block);
    assert_eq!(value("rm -rf .clau*"), Value::Block);
    assert_eq!(value("echo '{}' > .vscode/settings.json"), Value::Block);
    assert_eq!(value("ls -R .claude"), Value::Pass);
    assert_eq!(value("tar -xzf a.tgz"), Value::Pass);
    assert_eq!(value("chmod -R u+w ."), Value::Pass);
    assert_eq!(value("rm -rf .cache"), Value::Pass);
}

#[test]
fn commands_for_people_are_not_for_agents() {
    for command in
        ["lictor approve x", "lictor init --uninstall", "LICTOR_STATE_DIR=/tmp/x lictor eval bash ls"]
    {
        assert_eq!(value(&bash(command)), Value::Block, "{command}");
    }
    for command in ["lictor explain", "lictor check", "echo lictor approve"] {
        assert_eq!(value(&bash(command)), Value::Pass, "{command}");
    }
}

#[test]
fn its_fix_names_a_person() {
    let judged = judged(SelfProtection, &bash("rm governance.yaml"));
    let fix = judged.verdicts[0].verdict.fix().to_owned();
    assert!(fix.contains("a person") && !fix.contains('`'), "{fix}");
}

#[test]
fn what_is_swept_along_has_a_way_without_it() {
    let world = FakeObserver::for_judging().file("/home/user/project/governance.yaml", "version: 1");
    let fix = |command: &str| {
        let judged = judged_in(SelfProtection, &bash(command), &world, &Default::default(), 0);
        judged.verdicts.first().map(|given| given.verdict.fix().to_owned()).unwrap_or_default()
    };
    assert!(fix("git stash -u").contains("`git stash push`"), "{}", fix("git stash -u"));
    assert!(fix("rm governance.yaml").contains("a person can change it"));
}
