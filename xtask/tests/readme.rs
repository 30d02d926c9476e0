//! The README's two commands, as far as they can be run by a test.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The commands in the `sh` blocks of the README.
fn commands() -> Vec<String> {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let blocks = readme.split("```sh\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().trim().to_owned()).collect()
}

fn shell(line: &str, home: &Path, input: &str) -> Output {
    let mut child = Command::new("sh")
        .args(["-ec", line])
        .current_dir(home.join("project"))
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn the_first_installs_and_governs_the_current_repository() {
    let xtask = Path::new(env!("CARGO_BIN_EXE_xtask"));
    let built = xtask.with_file_name("lictor");
    assert!(built.exists(), "`cargo build --bin lictor` comes first, as in `cargo xtask test`");
    // Not in /tmp: what lies there is temporary for the policy too.
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let home = home.path();
    fs::create_dir(home.join("project")).unwrap();
    assert!(shell("git init -q", home, "").status.success());

    let commands = commands();
    let written = commands.first().unwrap().strip_prefix("cargo xtask ").unwrap();
    let line = format!("'{}' {written} --binary '{}'", xtask.display(), built.display());
    let installed = shell(&line, home, "");
    assert!(installed.status.success(), "{installed:?}");

    let lictor = home.join(".local/bin/lictor");
    let settings = fs::read_to_string(home.join("project/.claude/settings.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    let hook = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    assert!(lictor.exists() && hook.contains("lictor hook claude-code PreToolUse"), "{hook}");
    let event = |command: &str| {
        format!(
            r#"{{"session_id":"s","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"{command}"}}}}"#,
            home.join("project").display()
        )
    };
    let blocked = shell(&hook, home, &event("rm -rf ~"));
    assert_eq!(blocked.status.code(), Some(2), "{blocked:?}");
    let allowed = shell(&hook, home, &event("cargo build"));
    assert_eq!((allowed.status.code(), allowed.stdout.as_slice()), (Some(0), &b""[..]), "{allowed:?}");
}

#[test]
fn the_second_is_what_every_change_must_pass() {
    let commands = commands();
    let [_, test] = commands.as_slice() else { panic!("not two commands: {commands:?}") };
    let runs = fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(runs.lines().any(|line| line == format!("exec {test}")), "{runs}");
}
