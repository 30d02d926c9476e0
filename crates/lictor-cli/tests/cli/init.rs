use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::sandbox::{Run, Sandbox};
use crate::terminal::Terminal;

/// Every file below a directory, with its bytes; directories too.
fn tree(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.insert(path.clone(), None);
                open.push(path);
            } else {
                found.insert(path.clone(), Some(fs::read(&path).unwrap()));
            }
        }
    }
    found
}

fn init(sandbox: &Sandbox, args: &[&str]) -> Run {
    let all: Vec<&str> = ["init"].iter().chain(args).copied().collect();
    sandbox.lictor(&all)
}

#[test]
fn from_an_empty_home_to_governed_and_back() {
    let sandbox = Sandbox::bare();
    let before = tree(&sandbox.project());
    let run = init(&sandbox, &["--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("no agent was found"), "{run:?}");
    let settings = fs::read_to_string(sandbox.project().join(".claude/settings.json")).unwrap();
    let hook = format!("{} hook claude-code PreToolUse", env!("CARGO_BIN_EXE_lictor"));
    assert!(settings.contains(&hook), "{settings}");
    assert!(settings.contains(r#""onFailure": "block""#), "{settings}");

    let blocked = sandbox.claude_bash("rm -rf ~");
    assert_eq!(blocked.code, 2, "{blocked:?}");
    let explained = sandbox.lictor(&["explain"]);
    assert!(
        explained.stdout.contains("bash rm -rf ~") && explained.stdout.contains("block"),
        "{explained:?}"
    );
    let allowed = sandbox.claude_bash("cargo build");
    assert_eq!((allowed.code, allowed.stdout.as_str()), (0, ""), "{allowed:?}");

    let doctor = sandbox.lictor(&["doctor"]);
    assert_eq!(doctor.code, 0, "{doctor:?}");

    let again = init(&sandbox, &["--yes"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.stdout.contains("nothing to do"), "{again:?}");

    let out = init(&sandbox, &["--uninstall", "--yes"]);
    assert_eq!(out.code, 0, "{out:?}");
    assert_eq!(tree(&sandbox.project()), before);
}

#[test]
fn nothing_is_written_without_a_yes() {
    let sandbox = Sandbox::bare();
    sandbox.write("Cargo.toml", "[package]\n");
    let before = tree(sandbox.home());
    let run = init(&sandbox, &["--git"]);
    assert_eq!(run.code, 3, "{run:?}");
    for part in ["created", "governance.yaml", "+ version: 1", "cargo test", "pre-commit", "--yes"] {
        assert!(run.stdout.contains(part), "{part} is missing: {run:?}");
    }
    assert_eq!(tree(sandbox.home()), before);
    let run = init(&sandbox, &["--json"]);
    assert_eq!((run.code, &run.json()["written"]), (3, &json!(false)), "{run:?}");
}

#[test]
fn settings_and_hooks_that_were_there_survive_to_the_last_byte() {
    let sandbox = Sandbox::bare();
    let settings = "{\n\t// mine\n\t\"model\": \"opus\",\n\t\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine.sh\"}]}]},\n}";
    sandbox.write(".claude/settings.json", settings);
    sandbox.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n");
    sandbox.program("chmod", &["+x", ".git/hooks/pre-commit"], "");
    sandbox.write("governance.yaml", "version: 1\n# mine\n");
    fs::create_dir_all(sandbox.home().join(".codex")).unwrap();
    let before = tree(&sandbox.project());

    let run = init(&sandbox, &["--yes", "--git", "--json"]);
    assert_eq!(run.code, 1, "Codex is not here to be asked: {run:?}");
    let changed: Vec<String> = run.json()["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            Path::new(change["path"].as_str().unwrap())
                .strip_prefix(sandbox.project())
                .unwrap()
                .display()
                .to_string()
        })
        .collect();
    assert!(changed.contains(&".claude/settings.json".to_owned()), "{changed:?}");
    assert!(changed.contains(&".codex/hooks.json".to_owned()), "{changed:?}");
    assert!(!changed.contains(&"governance.yaml".to_owned()), "a policy is never overwritten: {changed:?}");
    let merged = fs::read_to_string(sandbox.project().join(".claude/settings.json")).unwrap();
    assert!(merged.starts_with("{\n\t// mine\n") && merged.contains("mine.sh"), "{merged}");
    assert_eq!(init(&sandbox, &["--yes", "--git"]).stdout.lines().next(), Some("nothing to do"));

    // A second installation over an edited file must not make its hooks look like the person's.
    let edited =
        merged.replace("\"opus\"", "\"sonnet\"").replace("PostToolUseFailure", "PostToolUseFailureX");
    sandbox.write(".claude/settings.json", &edited);
    assert_eq!(init(&sandbox, &["--yes", "--git"]).code, 1);
    assert_eq!(init(&sandbox, &["--uninstall", "--yes"]).code, 0);
    let left = fs::read_to_string(sandbox.project().join(".claude/settings.json")).unwrap();
    assert!(!left.contains("lictor") && left.contains("sonnet"), "{left}");
    sandbox.write(".claude/settings.json", settings);
    assert_eq!(tree(&sandbox.project()), before);
}

#[test]
fn commits_carry_the_end_of_the_log() {
    let sandbox = Sandbox::bare();
    assert_eq!(init(&sandbox, &["--yes", "--git"]).code, 0);
    sandbox.claude_bash("ls");
    sandbox.write("a.txt", "a\n");
    sandbox.program("git", &["config", "user.name", "t"], "");
    sandbox.program("git", &["config", "user.email", "t@example.com"], "");
    assert_eq!(sandbox.program("git", &["add", "a.txt"], "").code, 0);
    let commit = sandbox.program("git", &["commit", "-qm", "one"], "");
    assert_eq!(commit.code, 0, "{commit:?}");
    let verified = sandbox.lictor(&["audit", "verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    assert!(verified.stdout.contains("refs/notes/lictor"), "{verified:?}");

    // The record is deleted and restarted: the note shows it.
    let state = sandbox.home().join(".local/state/lictor");
    for entry in fs::read_dir(&state).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        }
    }
    sandbox.claude_bash("ls");
    let verified = sandbox.lictor(&["audit", "verify"]);
    assert_eq!(verified.code, 1, "{verified:?}");
    assert!(verified.stdout.contains("are missing") || verified.stdout.contains("fault"), "{verified:?}");
}

#[test]
fn agents_are_found_by_their_traces_and_named_ones_are_taken_alone() {
    let sandbox = Sandbox::bare();
    fs::create_dir_all(sandbox.home().join(".gemini")).unwrap();
    fs::write(sandbox.home().join(".gemini/settings.json"), "{}").unwrap();
    fs::create_dir_all(sandbox.home().join(".cursor")).unwrap();
    assert_eq!(init(&sandbox, &["--yes"]).code, 0);
    for file in [".gemini/settings.json", ".cursor/hooks.json"] {
        assert!(sandbox.project().join(file).is_file(), "{file}");
    }
    assert!(!sandbox.project().join(".claude").exists());
    assert_eq!(init(&sandbox, &["--yes", "--agent", "opencode", "--scope", "user"]).code, 0);
    assert!(sandbox.home().join(".config/opencode/plugins/lictor.js").is_file());
    let unknown = init(&sandbox, &["--agent", "nobody"]);
    assert_eq!(unknown.code, 64, "{unknown:?}");
    assert!(unknown.stderr.contains("claude-code"), "{unknown:?}");
    let out = init(&sandbox, &["--uninstall", "--yes", "--agent", "gemini-cli"]);
    assert_eq!(out.code, 0, "{out:?}");
    assert!(
        !sandbox.project().join(".gemini").exists() && sandbox.project().join(".cursor/hooks.json").exists()
    );
}

#[test]
fn every_starter_passes_the_check_and_so_does_what_it_suggests() {
    let manifests = [
        "Cargo.toml",
        "pyproject.toml",
        "manage.py",
        "config/application.rb",
        "go.mod",
        "pom.xml",
        "build.gradle",
        "Gemfile",
        "composer.json",
        "package.json",
    ];
    for (index, manifest) in manifests.into_iter().enumerate() {
        let sandbox = Sandbox::bare();
        sandbox.write(manifest, "");
        let preset = ["recommended", "strict", "read-only"][index % 3];
        assert_eq!(init(&sandbox, &["--yes", "--preset", preset]).code, 0);
        let checked = sandbox.lictor(&["check"]);
        assert_eq!(checked.code, 0, "{manifest}: {checked:?}");
        // The suggestions, without the marks that make them comments: those of two words or more are sentences.
        let starter = fs::read_to_string(sandbox.project().join("governance.yaml")).unwrap();
        let is_setting = |line: &str| {
            line.trim_start_matches(['#', ' ', '-'])
                .split_once(':')
                .is_some_and(|(key, _)| !key.contains([' ', '-']))
        };
        let live: String = starter
            .lines()
            .map(|line| match line.split_once("# ") {
                Some((before, rest)) if before.trim().is_empty() && is_setting(line) => {
                    format!("{before}{rest}\n")
                }
                _ => format!("{line}\n"),
            })
            .collect();
        for part in ["require_first", "invalidate", "completion", "allowed_dirs"] {
            assert!(
                live.lines().any(|line| line.trim_start().starts_with(part)),
                "{part} is no suggestion: {live}"
            );
        }
        sandbox.write("governance.yaml", &live);
        let checked = sandbox.lictor(&["check"]);
        assert!(checked.code == 0, "{manifest}: {checked:?}\n{live}");
    }
}

/// Two repositories, one of them with git hooks, and the person's own settings: all of it as it was before.
#[test]
fn uninstall_takes_lictor_out_of_every_project_and_off_the_machine() {
    let sandbox = Sandbox::bare();
    let bin = sandbox.home().join(".local/bin");
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("lictor");
    let other = sandbox.home().join("other");
    fs::create_dir_all(&other).unwrap();
    sandbox.program("git", &["init", "-q", other.to_str().unwrap()], "");
    let before = (tree(&sandbox.project()), tree(&other));
    fs::copy(env!("CARGO_BIN_EXE_lictor"), &program).unwrap();
    let lictor = |args: &[&str]| sandbox.program(program.to_str().unwrap(), args, "");
    assert_eq!(lictor(&["init", "--yes", "--git", "--agent", "claude-code"]).code, 0);
    assert_eq!(lictor(&["init", "--yes", "--agent", "codex", "--cwd", other.to_str().unwrap()]).code, 1);
    assert_eq!(lictor(&["init", "--yes", "--agent", "claude-code", "--scope", "user"]).code, 0);
    sandbox.claude_bash("cargo build");
    assert_ne!((tree(&sandbox.project()), tree(&other)), before);

    let asked = lictor(&["uninstall"]);
    assert_eq!(asked.code, 3, "{asked:?}");
    assert!(program.exists() && asked.stdout.contains("nothing was removed"), "{asked:?}");

    let done = lictor(&["uninstall", "--yes"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!((tree(&sandbox.project()), tree(&other)), before, "{done:?}");
    assert!(!program.exists() && !sandbox.home().join(".claude/settings.json").exists(), "{done:?}");
    assert!(sandbox.state().exists() && done.stdout.contains("kept"), "the record stays: {done:?}");

    fs::copy(env!("CARGO_BIN_EXE_lictor"), &program).unwrap();
    assert_eq!(lictor(&["uninstall", "--yes", "--records"]).code, 0);
    assert!(!sandbox.home().join(".local/state/lictor").exists() && !program.exists());
}

#[test]
fn hooks_never_run_a_program_that_may_be_gone_tomorrow() {
    for place in [".npm/_npx/3f/node_modules/@lictor/cli-linux-x64/bin", "project/.venv/bin"] {
        let sandbox = Sandbox::bare();
        let directory = match place.strip_prefix("project/") {
            Some(below) => sandbox.project().join(below),
            None => sandbox.home().join(place),
        };
        fs::create_dir_all(&directory).unwrap();
        let fleeting = directory.join("lictor");
        fs::copy(env!("CARGO_BIN_EXE_lictor"), &fleeting).unwrap();
        let run =
            sandbox.program(&fleeting.to_string_lossy(), &["init", "--yes", "--agent", "claude-code"], "");
        assert!(run.stdout.contains("hooks run a copy"), "{run:?}");
        let settings = fs::read_to_string(sandbox.project().join(".claude/settings.json")).unwrap();
        let kept =
            sandbox.home().join(".local/share/lictor/bin").join(env!("CARGO_PKG_VERSION")).join("lictor");
        assert!(settings.contains(&format!("{} hook", kept.display())), "{settings}");
        fs::remove_file(&fleeting).unwrap();
        let doctor = sandbox.program(&kept.to_string_lossy(), &["doctor"], "");
        assert!(!doctor.stdout.contains("is not there"), "{doctor:?}");

        // A hook that somebody pointed there is found.
        fs::copy(&kept, &fleeting).unwrap();
        let settings = settings.replace(&*kept.to_string_lossy(), &fleeting.to_string_lossy());
        fs::write(sandbox.project().join(".claude/settings.json"), settings).unwrap();
        let doctor = sandbox.program(&kept.to_string_lossy(), &["doctor"], "");
        assert!(doctor.code != 0 && doctor.stdout.contains("it keeps a copy elsewhere"), "{doctor:?}");
    }
}

/// Copilot CLI and VS Code read one file, which stays as long as one of them needs it.
#[test]
fn a_file_that_two_agents_read_stays_until_the_last_of_them_is_uninstalled() {
    let sandbox = Sandbox::bare();
    let shared = sandbox.project().join(".github/hooks/lictor.json");
    for agent in ["vscode", "copilot-cli"] {
        let run = init(&sandbox, &["--yes", "--agent", agent]);
        assert!(run.stdout.contains("governed") || run.stdout.contains("nothing to do"), "{run:?}");
    }
    let run = init(&sandbox, &["--uninstall", "--yes", "--agent", "copilot-cli"]);
    assert!(run.stdout.contains("stays: vscode reads it too"), "{run:?}");
    assert!(shared.is_file());
    let run = init(&sandbox, &["--uninstall", "--yes", "--agent", "vscode"]);
    assert!(run.code == 0 && !shared.exists(), "{run:?}");
}

/// A work tree has the committed settings; the program that they name is about to go.
#[test]
fn uninstall_takes_lictor_out_of_the_other_work_trees_and_names_what_is_committed() {
    let sandbox = Sandbox::bare();
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        assert_eq!(sandbox.program("git", &[&who[..], args].concat(), "").code, 0, "{args:?}");
    };
    assert_eq!(init(&sandbox, &["--yes", "--agent", "claude-code"]).code, 0);
    git(&["add", "."]);
    git(&["commit", "-qm", "governed"]);
    git(&["worktree", "add", "-q", "../other"]);
    let other = sandbox.home().join("other/.claude/settings.json");
    assert!(fs::read_to_string(&other).unwrap().contains("lictor"));

    let preview = init(&sandbox, &["--uninstall"]);
    assert!(
        preview.stdout.contains(".claude/settings.json") && preview.stdout.contains("in git's commits too")
    );

    let done = sandbox.lictor(&["uninstall", "--yes"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!other.exists(), "{done:?}");
    assert!(done.stdout.contains("are in git's commits too: clones"), "{done:?}");
}

/// The starter names this project's test command, and `check` reports no problems.
#[test]
fn a_starter_looks_at_what_is_there() {
    for (files, test) in [
        (&[("package.json", "{}"), ("pnpm-lock.yaml", "")][..], "pnpm test"),
        (&[("package.json", "{}"), ("yarn.lock", "")], "yarn test"),
        (&[("package.json", "{}")], "npm test"),
        (&[("config/application.rb", ""), ("Gemfile", "gem 'rspec-rails'\n")], "bundle exec rspec"),
        (&[("config/application.rb", ""), ("Gemfile", "gem 'rails'\n")], "bin/rails test"),
        (&[("pyproject.toml", ""), ("uv.lock", "")], "uv run pytest"),
    ] {
        let sandbox = Sandbox::bare();
        files.iter().for_each(|(file, text)| sandbox.write(file, text));
        assert_eq!(init(&sandbox, &["--yes"]).code, 0);
        let starter = fs::read_to_string(sandbox.project().join("governance.yaml")).unwrap();
        assert!(starter.contains(&format!("bash(\"{test}\")")), "{test}: {starter}");
        let checked = sandbox.lictor(&["check"]);
        assert!(checked.code == 0 && !checked.stdout.contains("matches nothing"), "{test}: {checked:?}");
    }
}

#[test]
fn what_a_person_should_know_stands_before_the_question() {
    let sandbox = Sandbox::bare();
    let run = init(&sandbox, &[]);
    assert_eq!(run.stdout.matches("no agent was found").count(), 1, "{run:?}");
    let Some(terminal) = Terminal::open(&sandbox) else { return };
    terminal.run("clear; PATH=$(dirname $(command -v lictor)):/usr/bin:/bin lictor init");
    let screen = terminal.wait_for("write this? [y/N]");
    assert!(screen.find("note:").is_some_and(|at| at < screen.find("write this?").unwrap()), "{screen}");
}
