use lictor_core::{Action, ActionKind, SessionState, Value};
use lictor_observe::FakeObserver;
use serde_json::json;

use super::*;
use crate::testing::{ROOT, bash, judged_in, reason};

fn config(allowed: Option<&[&str]>, red: &[&str]) -> FileBoundaryConfig {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    FileBoundaryConfig {
        allowed_dirs: allowed.map(owned),
        red_line_files: owned(red),
        ..FileBoundaryConfig::default()
    }
}

fn world() -> FakeObserver {
    FakeObserver::for_judging()
        .file("/home/user/project/src/auth/handler.py", "x")
        .file("/home/user/project/src/main.py", "x")
        .file("/home/user/project/config/.env.local", "x")
        .file("/home/user/secret/key", "x")
        .link_to("/home/user/project/src/out", "/home/user/secret")
        .link_to("/home/user/project/src/alias.py", "auth/handler.py")
}

fn value(config: &FileBoundaryConfig, action: &Action) -> Value {
    judge(config, action).value
}

fn judge(config: &FileBoundaryConfig, action: &Action) -> lictor_core::Judged {
    judged_in(FileBoundary::new(config, ROOT), action, &world(), &SessionState::default(), 0)
}

fn tool(name: &str, payload: serde_json::Value) -> Action {
    let mut action = Action::new(ActionKind::Tool, payload.as_object().unwrap().clone()).in_dir(ROOT);
    action.tool = name.to_owned();
    action
}

/// One boundary, however the file is reached.
#[test]
fn every_way_to_a_file_meets_the_same_boundary() {
    let config = config(Some(&["src", "tests"]), &[]);
    let patch = json!({"patch": "*** Begin Patch\n*** Add File: docs/a.md\n+x\n*** End Patch\n"});
    let patch = Action::new(ActionKind::Write, patch.as_object().unwrap().clone()).in_dir(ROOT);
    for action in [
        Action::read("docs/a.md").in_dir(ROOT),
        Action::write("docs/a.md").in_dir(ROOT),
        bash("cat docs/a.md"),
        bash("sed -i s/a/b/ docs/a.md"),
        bash("echo x > docs/a.md"),
        bash("cp src/main.py docs/a.md"),
        bash("cd docs && cat a.md"),
        bash("cat src/../docs/a.md"),
        patch,
        tool("mcp__fs__read_file", json!({"path": "docs/a.md"})),
        tool("mcp__fs__move_file", json!({"source": "src/main.py", "destination": "docs/a.md"})),
    ] {
        assert_eq!(value(&config, &action), Value::Block, "{action:?}");
    }
    for action in [
        Action::read("src/main.py").in_dir(ROOT),
        Action::write("tests/new/deep.py").in_dir(ROOT),
        bash("cat src/main.py > /tmp/x"),
        bash("ls"),
        bash("python3 --version > /dev/null"),
        bash("./scripts/build.sh"),
        tool("mcp__fs__read_file", json!({"path": "src/main.py"})),
    ] {
        assert_eq!(value(&config, &action), Value::Pass, "{action:?} {}", reason(&judge(&config, &action)));
    }
}

#[test]
fn whole_components_are_compared() {
    let config = config(Some(&["src"]), &[]);
    assert_eq!(value(&config, &Action::read("src-old/a").in_dir(ROOT)), Value::Block);
    assert_eq!(value(&config, &Action::read("src").in_dir(ROOT)), Value::Pass);
}

#[test]
fn an_empty_list_allows_nothing_and_an_absent_one_everything() {
    assert_eq!(value(&config(Some(&[]), &[]), &Action::read("a").in_dir(ROOT)), Value::Block);
    assert_eq!(value(&config(None, &[]), &Action::read("/etc/hosts").in_dir(ROOT)), Value::Pass);
}

#[test]
fn a_link_and_its_target_must_both_be_allowed() {
    let config = config(Some(&["src"]), &[]);
    let judged = judge(&config, &Action::read("src/out/key").in_dir(ROOT));
    assert_eq!(judged.value, Value::Block);
    assert!(reason(&judged).contains("through a link"), "{}", reason(&judged));
}

#[test]
fn red_lines_block_reading_too_unless_the_mode_says_otherwise() {
    let mut config = config(None, &["src/auth/handler.py"]);
    for action in [
        Action::read("src/auth/handler.py").in_dir(ROOT),
        Action::write("src/auth/handler.py").in_dir(ROOT),
        bash("cat src/auth/handler.py"),
        bash("cat src/auth/*.py"),
        bash("cat src/alias.py"),
        bash("rm -rf src"),
        bash("mv src/auth /tmp"),
        bash("cp -r src /tmp/copy"),
        bash("cat \"$X/handler.py\""),
    ] {
        assert_eq!(value(&config, &action), Value::Block, "{action:?}");
    }
    for action in [
        bash("ls src/auth"),
        bash("ls -la src/auth/handler.py"),
        bash("stat src/auth/handler.py"),
        bash("grep -r x src"),
        bash("cat src/main.py"),
        bash("echo handler.py"),
    ] {
        assert_eq!(value(&config, &action), Value::Pass, "{action:?}");
    }
    // The names in a directory are its content.
    let whole = self::config(None, &["src/auth"]);
    assert_eq!(value(&whole, &bash("ls src/auth")), Value::Block);
    config.red_line_mode = RedLineMode::Write;
    assert_eq!(value(&config, &bash("cat src/auth/handler.py")), Value::Pass);
    assert_eq!(value(&config, &bash("chmod 600 src/auth/handler.py")), Value::Block);
}

#[test]
fn a_red_line_may_be_a_glob_for_any_directory() {
    let config = config(None, &["**/.env*"]);
    for command in
        ["cat .env", "cat config/.env.local", "rm -rf config", "cat ~/other/.env", "cat config/.e*"]
    {
        assert_eq!(value(&config, &bash(command)), Value::Block, "{command}");
    }
    assert_eq!(value(&config, &bash("cat env")), Value::Pass);
}

#[test]
fn red_lines_come_before_allowed_directories() {
    let config = config(Some(&["src"]), &["src/auth/handler.py"]);
    let judged = judge(&config, &Action::read("src/auth/handler.py").in_dir(ROOT));
    assert!(reason(&judged).contains("red line"), "{}", reason(&judged));
}

#[test]
fn what_cannot_be_told_is_asked_about_and_blocked_when_it_names_a_red_line() {
    let boundary = config(Some(&["src"]), &["src/auth/handler.py"]);
    assert_eq!(value(&boundary, &bash("cat \"$F\"")), Value::Ask);
    assert_eq!(value(&boundary, &bash("eval \"$F\" # handler.py")), Value::Block);
}

#[test]
fn malformed_paths_are_blocked() {
    let config = config(None, &[]);
    for path in ["", "a\0b", "\\\\server\\share"] {
        assert_eq!(value(&config, &Action::read(path).in_dir(ROOT)), Value::Block, "{path:?}");
    }
}

#[test]
fn the_fix_names_directories_that_the_boundary_allows() {
    let config = config(Some(&["src", "tests"]), &[]);
    let judged = judge(&config, &Action::write("docs/a").in_dir(ROOT));
    let fix = judged.verdicts[0].verdict.fix().to_owned();
    let named: Vec<&str> = fix.split('`').skip(1).step_by(2).collect();
    assert_eq!(named, ["src", "tests"]);
    for dir in named {
        assert_eq!(value(&config, &Action::write(format!("{dir}/a")).in_dir(ROOT)), Value::Pass);
    }
}

#[test]
fn a_project_below_the_temporary_directory_has_its_boundary() {
    let config = config(Some(&["src"]), &["src/auth/handler.py"]);
    let at = |path: &str| {
        let action = Action::write(path).in_dir("/tmp/work");
        judged_in(FileBoundary::new(&config, "/tmp/work"), &action, &world(), &SessionState::default(), 0)
            .value
    };
    assert_eq!(at("src/main.py"), Value::Pass);
    assert_eq!(at("docs/x.md"), Value::Block);
    assert_eq!(at("src/auth/handler.py"), Value::Block);
    // Scratch files elsewhere in the temporary directory are exempt.
    assert_eq!(at("/tmp/scratch.txt"), Value::Pass);
}

#[test]
fn an_action_without_a_directory_happens_at_the_root() {
    let config = config(Some(&["src"]), &["src/auth/handler.py"]);
    let at = |root: &str, path: &str| {
        let guard = FileBoundary::new(&config, root);
        judged_in(guard, &Action::write(path), &world(), &SessionState::default(), 0).value
    };
    for root in ["/srv/app", ROOT] {
        assert_eq!(at(root, "src/main.py"), Value::Pass, "{root}");
        assert_eq!(at(root, "src/auth/handler.py"), Value::Block, "{root}");
        assert_eq!(at(root, "./src/auth/handler.py"), Value::Block, "{root}");
        assert_eq!(at(root, "docs/x.md"), Value::Block, "{root}");
    }
}

#[test]
fn a_boundary_that_could_never_match_is_refused() {
    let refused = |config: &FileBoundaryConfig, root: &str| FileBoundary::try_new(config, root).is_err();
    assert!(refused(&config(None, &[]), "project"));
    assert!(refused(&config(None, &["../x"]), ROOT));
    assert!(refused(&config(None, &["~/.ssh/id"]), ROOT));
    assert!(refused(&config(Some(&[""]), &[]), ROOT));
    assert!(!refused(&config(Some(&["src", "."]), &["**/.env*"]), ROOT));
}
