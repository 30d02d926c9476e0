//! `init` reports "governed" only if the agent's own records show that it runs the hooks.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::sandbox::Sandbox;

/// Codex's server, as far as it lists hooks: it lists those of trusted projects, and runs those whose hash is recorded.
const CODEX: &str = r#"#!/bin/sh
read hello; echo '{"id": 1, "result": {}}'
read initialized; read question
config=~/.codex/config.toml
status=untrusted
grep -q 'trusted_hash = "sha256:1"' $config && status=trusted
hooks=
grep -qF "[projects.\"$PWD\"]" $config && hooks='{"key": "'$PWD'/.codex/hooks.json:pre_tool_use:0:0",
  "command": "/x/lictor hook codex PreToolUse", "currentHash": "sha256:1", "trustStatus": "'$status'"}'
echo '{"id": 2, "result": {"data": [{"cwd": "'$PWD'", "hooks": ['$hooks']}]}}' | tr -d '\n'; echo
cat > /dev/null
"#;

fn with_codex() -> Sandbox {
    let mut sandbox = Sandbox::bare();
    let bin = sandbox.home().join("codex-bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("codex"), CODEX).unwrap();
    fs::set_permissions(bin.join("codex"), fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.on_path(&bin);
    sandbox
}

#[test]
fn codex_is_governed_once_its_record_has_the_hashes() {
    let sandbox = with_codex();
    let config = sandbox.home().join(".codex/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "model = \"mine\"\n").unwrap();

    let run = sandbox.lictor(&["init", "--yes", "--agent", "codex"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("governed.") && run.stdout.contains("sha256:1 in"), "{run:?}");
    let text = fs::read_to_string(&config).unwrap();
    assert!(text.starts_with("model = \"mine\"\n") && text.matches("sha256:1").count() == 1, "{text}");

    // A person, or Codex after an update, revokes the trust.
    fs::write(&config, text.replace("sha256:1", "sha256:0")).unwrap();
    let doctor = sandbox.lictor(&["doctor"]);
    assert!(doctor.code != 0 && doctor.stdout.contains("nobody has trusted them"), "{doctor:?}");
    let seen = sandbox.lictor(&["init", "--agent", "codex"]);
    assert!(seen.code == 1 && seen.stdout.contains("not governed yet"), "{seen:?}");
    assert!(!seen.stdout.contains("governed."), "{seen:?}");
    assert_eq!(sandbox.lictor(&["init", "--yes", "--agent", "codex"]).code, 0);

    let out = sandbox.lictor(&["init", "--yes", "--uninstall", "--agent", "codex"]);
    assert_eq!(out.code, 0, "{out:?}");
    assert!(!fs::read_to_string(&config).unwrap().contains("hooks.state"));
}

#[test]
fn codex_that_cannot_be_asked_is_not_called_governed() {
    let sandbox = Sandbox::bare();
    let run = sandbox.lictor(&["init", "--yes", "--agent", "codex"]);
    assert!(run.code == 1 && run.stdout.contains("not governed yet"), "{run:?}");
    assert!(!run.stdout.contains("governed."), "{run:?}");
    let json = sandbox.lictor(&["init", "--yes", "--agent", "codex", "--json"]).json();
    assert_eq!(json["not_governed"][0]["agent"], "codex", "{json}");
}

#[test]
fn gemini_runs_hooks_in_folders_that_its_record_lists() {
    let sandbox = Sandbox::bare();
    let run = sandbox.lictor(&["init", "--yes", "--agent", "gemini-cli"]);
    assert!(run.code == 0 && run.stdout.contains("governed."), "{run:?}");
    let record = sandbox.home().join(".gemini/trustedFolders.json");
    assert!(fs::read_to_string(&record).unwrap().contains(sandbox.project().to_str().unwrap()));
    fs::write(&record, "{}").unwrap();
    let doctor = sandbox.lictor(&["doctor"]);
    assert!(doctor.code != 0 && doctor.stdout.contains("does not list this folder"), "{doctor:?}");
}

#[test]
fn uninstalling_takes_the_folder_out_of_the_record_again() {
    let sandbox = Sandbox::bare();
    let record = sandbox.home().join(".gemini/trustedFolders.json");
    let init = |more: &[&str]| {
        let run = sandbox.lictor(&[&["init", "--yes", "--agent", "gemini-cli"], more].concat());
        assert_eq!(run.code, 0, "{run:?}");
    };
    init(&[]);
    init(&["--uninstall"]);
    assert!(!record.exists(), "what was not there before is gone");
    let own = "{ \"/else/where\": \"TRUST_FOLDER\" }";
    sandbox.write_at(&record, own);
    init(&[]);
    assert_ne!(fs::read_to_string(&record).unwrap(), own);
    init(&["--uninstall"]);
    assert_eq!(fs::read_to_string(&record).unwrap(), own);
    // Changed since: only the folder goes.
    init(&[]);
    let more = fs::read_to_string(&record).unwrap().replacen('{', "{\"/a\": \"DO_NOT_TRUST\",", 1);
    fs::write(&record, more).unwrap();
    init(&["--uninstall"]);
    let left = fs::read_to_string(&record).unwrap();
    assert!(left.contains("/else/where") && left.contains("/a") && !left.contains("project"), "{left}");
    // Trusted by a person: it stays.
    let theirs = format!("{{\"{}\": \"TRUST_FOLDER\"}}", sandbox.project().display());
    fs::write(&record, &theirs).unwrap();
    init(&[]);
    init(&["--uninstall"]);
    assert_eq!(fs::read_to_string(&record).unwrap(), theirs);
}

#[test]
fn hooks_that_are_switched_off_are_not_called_governed() {
    for file in [".claude/settings.json", ".claude/settings.local.json"] {
        let sandbox = Sandbox::bare();
        sandbox.write(file, "{\"disableAllHooks\": true}");
        let run = sandbox.lictor(&["init", "--yes", "--agent", "claude-code"]);
        assert!(run.code == 1 && run.stdout.contains("disableAllHooks: true"), "{file}: {run:?}");
        assert!(!run.stdout.contains("governed."), "{file}: {run:?}");
        let doctor = sandbox.lictor(&["doctor"]);
        assert!(doctor.code != 0 && doctor.stdout.contains("disableAllHooks"), "{file}: {doctor:?}");
    }
}

#[test]
fn uninstalling_undoes_the_user_scope_and_leaves_what_another_agent_reads() {
    let sandbox = Sandbox::bare();
    sandbox.lictor(&["init", "--yes", "--agent", "claude-code", "--scope", "user"]);
    let settings = sandbox.home().join(".claude/settings.json");
    assert!(fs::read_to_string(&settings).unwrap().contains("lictor"));
    assert_eq!(sandbox.lictor(&["init", "--yes", "--uninstall"]).code, 0);
    assert!(!settings.exists(), "what was not there before is gone");

    sandbox.lictor(&["init", "--yes", "--agent", "copilot-cli", "--agent", "vscode"]);
    let shared = sandbox.project().join(".github/hooks/lictor.json");
    fs::create_dir_all(sandbox.home().join(".copilot")).unwrap();
    let run = sandbox.lictor(&["init", "--yes", "--uninstall", "--agent", "vscode"]);
    assert!(shared.exists() && run.stdout.contains("copilot-cli reads it too"), "{run:?}");
    sandbox.lictor(&["init", "--yes", "--uninstall", "--agent", "vscode", "--agent", "copilot-cli"]);
    assert!(!shared.exists());
}

/// An agent without settings in the asked scope has no hooks at all, whatever else was written.
#[test]
fn an_agent_without_hooks_in_this_scope_is_not_called_governed() {
    let sandbox = Sandbox::bare();
    for (agent, scope, other) in [("kimi", "project", "user"), ("opencode", "managed", "project")] {
        let run = sandbox.lictor(&["init", "--yes", "--agent", agent, "--scope", scope]);
        assert_eq!(run.code, 1, "{run:?}");
        let next = format!(
            "not governed yet: {agent} reads no hooks from settings of this scope\n  run `lictor init --yes --agent {agent} --scope {other}`"
        );
        assert!(run.stdout.contains(&next), "{run:?}");
        let run = sandbox.lictor(&["init", "--yes", "--agent", agent, "--scope", other]);
        assert!(run.code == 0 && run.stdout.contains("governed."), "{run:?}");
    }
    let run = sandbox.lictor(&["doctor"]);
    assert!(run.stdout.contains(": kimi ") && run.stdout.contains(": opencode "), "{run:?}");
}
