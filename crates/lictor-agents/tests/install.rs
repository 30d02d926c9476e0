//! Hooks go into settings and come out again, and nothing else moves.

#![expect(clippy::unwrap_used, reason = "a broken fixture should stop the test")]

use std::fs;
use std::path::{Path, PathBuf};

use lictor_agents::Agent;
use lictor_agents::install::{self, NotEditable, Problem, Scope, Settings, Where, advice, traces};
use proptest::prelude::*;

const BINARY: &str = "/usr/local/bin/lictor";
const SCOPES: [Scope; 3] = [Scope::User, Scope::Project, Scope::Managed];

fn place() -> Where {
    Where::new("/home/dev", "/work/app", |_| None)
}

fn files() -> Vec<Settings> {
    let all = Agent::ALL.into_iter().flat_map(|agent| SCOPES.map(|scope| (agent, scope)));
    all.filter_map(|(agent, scope)| Settings::of(agent, scope, &place(), |_| false)).collect()
}

fn json_files() -> Vec<Settings> {
    files()
        .into_iter()
        .filter(|file| file.path().extension().is_some_and(|extension| extension == "json"))
        .collect()
}

fn samples() -> Vec<(String, String)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/settings");
    let mut all: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap()))
        .collect();
    all.sort();
    all
}

fn installed(file: &Settings, before: Option<&str>, binary: &str) -> String {
    file.install(before, Path::new(binary)).unwrap().after.unwrap()
}

/// The laws of installing, for one file that says `before`.
fn holds(file: &Settings, before: &str, name: &str) {
    let name = format!("{name} in {}", file.path().display());
    let once = installed(file, Some(before), BINARY);
    assert_eq!(installed(file, Some(&once), BINARY), once, "twice is once: {name}");
    assert_eq!(file.inspect(&once, Path::new(BINARY)).problems, [], "{name}");
    for hook in file.inspect(&once, Path::new(BINARY)).hooks {
        assert_eq!(hook.problems, [], "{name} {}", hook.event);
    }
    // By the text alone, as far as the version of the format, which Cursor and Copilot need, is not in question.
    if before.contains("version") || !once.contains("\"version\": 1") {
        let out = file.uninstall(Some(&once), None).unwrap().after.unwrap();
        assert_eq!(out, before, "out is as before: {name}");
        let moved = installed(file, Some(&once), "/opt/lictor 2/lictor");
        assert_eq!(file.inspect(&moved, Path::new("/opt/lictor 2/lictor")).problems, [], "{name}");
        let out = file.uninstall(Some(&moved), None).unwrap().after.unwrap();
        assert_eq!(out, before, "out after an upgrade is as before: {name}");
    }
    let change = file.install(Some(before), Path::new(BINARY)).unwrap();
    let back = file.uninstall(change.after.as_deref(), change.receipt().as_ref()).unwrap();
    assert_eq!(back.after, change.before, "with the receipt: {name}");
}

#[test]
fn settings_of_all_styles_survive() {
    for file in json_files() {
        for (name, text) in samples() {
            holds(&file, &text, &name);
        }
    }
}

#[test]
fn a_new_file_comes_and_goes() {
    for file in files() {
        let change = file.install(None, Path::new(BINARY)).unwrap();
        let text = change.after.clone().unwrap();
        let found = file.inspect(&text, Path::new(BINARY));
        assert_eq!(found.problems, [], "{}", file.path().display());
        assert!(!found.hooks.is_empty() && found.hooks.iter().all(|hook| hook.problems.is_empty()));
        assert_eq!(installed(&file, Some(&text), BINARY), text);
        let back = file.uninstall(Some(&text), change.receipt().as_ref()).unwrap();
        assert_eq!(back.after, None, "{}", file.path().display());
    }
}

#[test]
fn empty_places_that_were_there_before_come_back_with_the_receipt() {
    let file = Settings::of(Agent::ClaudeCode, Scope::User, &place(), |_| false).unwrap();
    for before in
        ["", "{}", "{ }\n", "{\n}\n", "{\"hooks\": {}}", "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n"]
    {
        let change = file.install(Some(before), Path::new(BINARY)).unwrap();
        let back = file.uninstall(change.after.as_deref(), change.receipt().as_ref()).unwrap();
        assert_eq!(back.after.as_deref(), Some(before));
        // Touched since: only ours goes.
        let touched = change.after.clone().unwrap().replacen('{', "{\"mine\": 1,", 1);
        let back = file.uninstall(Some(&touched), change.receipt().as_ref()).unwrap().after.unwrap();
        assert!(back.contains("\"mine\": 1") && !back.contains("lictor"), "{back}");
    }
}

#[test]
fn what_is_written_looks_like_the_rest() {
    let file = Settings::of(Agent::ClaudeCode, Scope::Project, &place(), |_| false).unwrap();
    let text = installed(&file, Some("{\n    \"a\": 1\n}\n"), BINARY);
    let start = r#"{
    "a": 1,
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "*",
                "hooks": [
                    {
                        "type": "command",
                        "command": "o=$(/usr/local/bin/lictor hook claude-code PreToolUse --confirm) && false || case $? in 80) printf %s \"$o\";; 82) printf %s \"$o\"; exit 2;; *) echo \"Lictor did not judge this: is lictor installed here?\" >&2; exit 2;; esac",
                        "timeout": 60,
                        "onFailure": "block"
                    }
                ]
            }
        ],
"#;
    assert!(text.starts_with(start), "{text}");
    assert!(text.ends_with("        ]\n    }\n}\n"), "{text}");
}

#[test]
fn lines_end_as_they_did() {
    for file in json_files() {
        let text = installed(&file, Some("{\r\n\t\"a\": 1\r\n}\r\n"), BINARY);
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
        assert!(text.contains("\r\n\t\t"), "{text:?}");
    }
}

#[test]
fn an_entry_that_says_the_same_in_another_style_stays() {
    let file = Settings::of(Agent::ClaudeCode, Scope::User, &place(), |_| false).unwrap();
    let value: serde_json::Value = serde_json::from_str(&installed(&file, None, BINARY)).unwrap();
    let packed = value.to_string();
    assert_eq!(installed(&file, Some(&packed), BINARY), packed);
}

#[test]
fn settings_that_cannot_be_edited_are_left_alone() {
    let file = Settings::of(Agent::ClaudeCode, Scope::User, &place(), |_| false).unwrap();
    let error = file.install(Some("{\n  \"a\": oops\n}"), Path::new(BINARY)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`/home/dev/.claude/settings.json` is not valid JSON at line 2, column 8; correct it, then run this again"
    );
    for text in ["[]", "{\"hooks\": []}", "{\"hooks\": {\"PreToolUse\": {}}}"] {
        let error = file.install(Some(text), Path::new(BINARY)).unwrap_err();
        assert!(matches!(error, NotEditable::WrongShape { .. }), "{text}: {error}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(file.install(Some(&deep), Path::new(BINARY)).is_err());
    let plugin = Settings::of(Agent::OpenCode, Scope::User, &place(), |_| false).unwrap();
    let error = plugin.install(Some("export const Mine = 1"), Path::new(BINARY)).unwrap_err();
    assert!(matches!(error, NotEditable::NotOurs { .. }));
    assert_eq!(plugin.uninstall(Some("mine"), None).unwrap().after.as_deref(), Some("mine"));
}

#[test]
fn the_doctor_sees_what_is_wrong() {
    let file = Settings::of(Agent::ClaudeCode, Scope::User, &place(), |_| false).unwrap();
    let good = installed(&file, None, BINARY);
    let sick = |from: &str, to: &str| {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        let found = file.inspect(&text, Path::new(BINARY));
        let mut all = found.problems;
        all.extend(found.hooks.into_iter().flat_map(|hook| hook.problems));
        all
    };
    let rows = [
        (
            "{",
            "{\"tools\": {\"executionSandbox\": {\"filesystem\": \"read-only\"}},",
            Problem::Disabled("tools.executionSandbox".into()),
        ),
        ("{", "{\"disableAllHooks\": true,", Problem::Disabled("disableAllHooks: true".into())),
        (BINARY, "./lictor", Problem::RelativePath),
        ("/usr/local/bin/lictor hook", "lictor hook", Problem::Outdated),
        (BINARY, "/opt/lictor", Problem::OtherBinary),
        ("claude-code PreToolUse", "claude-code PostToolUse", Problem::WrongCommand),
        ("claude-code PreToolUse", "codex PreToolUse", Problem::WrongCommand),
        ("\"matcher\": \"*\"", "\"matcher\": \"Bash\"", Problem::Narrowed("matcher: \"Bash\"".into())),
        ("\"timeout\": 60", "\"async\": true, \"timeout\": 60", Problem::Narrowed("async: true".into())),
        ("\"onFailure\"", "\"onSuccess\"", Problem::FailsOpen("onFailure: \"block\"".into())),
        ("\"timeout\": 60", "\"timeout\": 1", Problem::Outdated),
        ("\"PreToolUse\": [", "\"Elsewhere\": [", Problem::Missing("PreToolUse".into())),
    ];
    for (from, to, problem) in rows {
        let found = sick(from, to);
        assert!(found.contains(&problem), "{from} → {to}: {found:?}");
    }
    let handler =
        "{\"type\": \"command\", \"command\": \"/usr/local/bin/lictor hook claude-code PreToolUse\"}";
    let twice = sick("\"PreToolUse\": [", &format!("\"PreToolUse\": [{{\"hooks\": [{handler}]}},"));
    assert!(twice.contains(&Problem::Twice("PreToolUse".into())), "{twice:?}");
    assert!(matches!(file.inspect("{", Path::new(BINARY)).problems[..], [Problem::Unreadable(_)]));
    // Installing again is the cure.
    let text =
        good.replacen("\"PreToolUse\": [", &format!("\"PreToolUse\": [{{\"hooks\": [{handler}]}},"), 1);
    let cured = file.inspect(&installed(&file, Some(&text), BINARY), Path::new(BINARY));
    assert!(
        cured.problems.is_empty() && cured.hooks.iter().all(|hook| hook.problems.is_empty()),
        "{cured:?}"
    );
}

#[test]
fn a_hook_in_a_group_with_others_gets_its_own() {
    let file = Settings::of(Agent::ClaudeCode, Scope::User, &place(), |_| false).unwrap();
    let shared = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
      {"type": "command", "command": "other"},
      {"type": "command", "command": "/usr/local/bin/lictor hook claude-code PreToolUse"}
    ]}]}}"#;
    let text = installed(&file, Some(shared), BINARY);
    let found = file.inspect(&text, Path::new(BINARY));
    assert!(found.problems.is_empty() && found.hooks.iter().all(|hook| hook.problems.is_empty()), "{text}");
    assert!(text.contains(r#"{"type": "command", "command": "other"}"#));
}

#[test]
fn toml_is_edited_at_its_end() {
    let file = Settings::of(Agent::Codex, Scope::Managed, &place(), |_| false).unwrap();
    let before = "model = \"gpt\" # mine\n\n[features]\nweb = true\n";
    let once = installed(&file, Some(before), BINARY);
    assert!(once.starts_with(before));
    assert_eq!(installed(&file, Some(&once), BINARY), once);
    assert_eq!(file.uninstall(Some(&once), None).unwrap().after.as_deref(), Some(before));
    let off = format!("[features]\nhooks = false\n{once}");
    assert_eq!(file.inspect(&off, Path::new(BINARY)).problems, [Problem::Disabled("hooks=false".into())]);
}

#[test]
fn agents_that_read_the_settings_of_others_are_known() {
    let read = |agent| {
        let files = Settings::read_by(agent, &place(), |_| false);
        files.iter().map(|file| file.path().display().to_string()).collect::<Vec<_>>()
    };
    for agent in [Agent::ClaudeCode, Agent::Cursor, Agent::CopilotCli, Agent::VsCode] {
        assert!(read(agent).contains(&"/work/app/.claude/settings.local.json".to_owned()), "{agent}");
        assert!(read(agent).contains(&"/work/app/.claude/settings.json".to_owned()), "{agent}");
    }
    assert!(read(Agent::Cursor).contains(&"/home/dev/.claude/settings.json".to_owned()));
    assert!(!read(Agent::Codex).iter().any(|path| path.contains(".claude")));
    for agent in Agent::ALL {
        let files = read(agent);
        let distinct: std::collections::BTreeSet<_> = files.iter().collect();
        assert_eq!(distinct.len(), files.len(), "{agent}: {files:?}");
        assert!(!traces(agent, &place()).is_empty() && !advice(agent).is_empty());
    }
}

/// A change is made whole or not at all, and not over somebody else's.
#[test]
fn changes_are_applied_to_what_was_read() {
    let directory = tempfile::tempdir().unwrap();
    let place = Where::new(directory.path(), directory.path(), |_| None);
    let file = Settings::of(Agent::ClaudeCode, Scope::User, &place, |path| path.exists()).unwrap();
    let change = file.install(None, Path::new(BINARY)).unwrap();
    change.apply().unwrap();
    let text = fs::read_to_string(file.path()).unwrap();
    assert_eq!(Some(&text), change.after.as_ref());
    assert!(change.apply().is_err(), "the file is there now");
    fs::write(file.path(), format!("{text} ")).unwrap();
    let back = file.uninstall(Some(&text), change.receipt().as_ref()).unwrap();
    assert!(back.apply().is_err(), "the file changed meanwhile");
    fs::write(file.path(), &text).unwrap();
    back.apply().unwrap();
    assert!(!file.path().exists());
    assert_eq!(fs::read_dir(file.path().parent().unwrap()).unwrap().count(), 0, "nothing is left behind");
}

/// Dot files are often links; the link stays and what it points to changes.
#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let directory = tempfile::tempdir().unwrap();
    let place = Where::new(directory.path(), directory.path(), |_| None);
    let file = Settings::of(Agent::Cursor, Scope::User, &place, |path| path.exists()).unwrap();
    let real = directory.path().join("dotfiles.json");
    fs::write(&real, "{}").unwrap();
    fs::create_dir_all(file.path().parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&real, file.path()).unwrap();
    file.install(Some("{}"), Path::new(BINARY)).unwrap().apply().unwrap();
    assert!(fs::symlink_metadata(file.path()).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains(BINARY));
}

#[test]
fn droid_reads_one_of_two_files() {
    let own = PathBuf::from("/work/app/.factory/hooks.json");
    let file = Settings::of(Agent::Factory, Scope::Project, &place(), |path| path == own).unwrap();
    assert_eq!(file.path(), own);
    let text = installed(&file, Some("{}"), BINARY);
    assert!(text.starts_with("{\n  \"PreToolUse\": ["), "{text}");
}

/// Settings in the styles that people write: indented or on one line, with and without comments.
fn settings() -> impl Strategy<Value = String> {
    let leaf = prop_oneof!["1", "true", "null", "\"x, } ]\"", "\"/* no */ // no\""].prop_map(String::from);
    let value = leaf.prop_recursive(3, 16, 4, |inner| {
        let list = proptest::collection::vec(inner.clone(), 1..4);
        let object = proptest::collection::vec(inner, 1..4);
        prop_oneof![
            list.prop_map(|items| format!("[{}]", items.join(", "))),
            object.prop_map(|items| {
                let members: Vec<_> =
                    items.iter().enumerate().map(|(i, item)| format!("\"k{i}\": {item}")).collect();
                format!("{{ {} }}", members.join(" , "))
            }),
        ]
    });
    let newline = prop_oneof![Just("\n"), Just("\r\n")];
    let unit = prop_oneof![Just("  "), Just("\t"), Just("    ")];
    let comment = prop_oneof![Just(""), Just(" // note"), Just(" /* note */")];
    let event =
        prop_oneof![Just("PreToolUse"), Just("Stop"), Just("BeforeTool"), Just("preToolUse"), Just("x")];
    let parts = proptest::collection::vec((value, comment), 1..5);
    (parts, newline, unit, event, any::<bool>()).prop_map(|(parts, newline, unit, event, trailing)| {
        let other = r#"[{ "hooks": [ {"command": "other"} ] }]"#;
        let mut out = format!("{{{newline}{unit}\"version\": 1,{newline}");
        out += &format!(
            "{unit}\"hooks\": {{{newline}{unit}{unit}\"{event}\": {other}{newline}{unit}}},{newline}"
        );
        let last = parts.len() - 1;
        for (index, (value, comment)) in parts.iter().enumerate() {
            let comma = if index < last || trailing { "," } else { "" };
            out += &format!("{unit}\"p{index}\": {value}{comma}{comment}{newline}");
        }
        out + "}" + newline
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_settings_survive(text in settings(), pick in any::<prop::sample::Index>()) {
        let files = json_files();
        holds(pick.get(&files), &text, &text);
    }

    #[test]
    fn any_text_is_edited_or_refused(
        text in "\\PC{0,40}|[\\[\\]{}\",:/* \n1a]{0,40}",
        pick in any::<prop::sample::Index>(),
    ) {
        let files = files();
        let file = pick.get(&files);
        if let Ok(change) = file.install(Some(&text), Path::new(BINARY)) {
            let back = file.uninstall(change.after.as_deref(), change.receipt().as_ref()).unwrap();
            prop_assert_eq!(back.after.as_deref(), Some(text.as_str()));
        }
        prop_assert!(file.inspect(&text, Path::new(BINARY)).hooks.is_empty());
    }
}

/// What stands in a file that a team shares is right on every machine, and stops calls where there is no program.
#[cfg(unix)]
#[test]
fn a_shared_command_finds_the_program_or_refuses() {
    use std::os::unix::fs::PermissionsExt as _;
    for agent in Agent::ALL {
        // Some agents have no hooks in projects.
        let Some(file) = Settings::of(agent, Scope::Project, &place(), |_| false) else { continue };
        let text = installed(&file, None, "lictor");
        let found = file.inspect(&text, Path::new(BINARY));
        assert!(!found.hooks.is_empty() && found.problems.is_empty(), "{agent}: {:?}", found.problems);
        assert!(found.hooks.iter().all(|hook| hook.problems.is_empty()), "{agent}: {:?}", found.hooks);
        assert!(!text.contains(BINARY), "{text}");
        let out = file.uninstall(Some(&text), None).unwrap().after;
        assert!(out.is_none_or(|text| !text.contains("lictor")), "{agent}");
    }
    let file = Settings::of(Agent::ClaudeCode, Scope::Project, &place(), |_| false).unwrap();
    let hooks = file.inspect(&installed(&file, None, "lictor"), Path::new(BINARY)).hooks;
    let line = &hooks.iter().find(|hook| hook.event == "PreToolUse").unwrap().line;
    let home = tempfile::tempdir().unwrap();
    let event = home.path().join("event");
    fs::write(&event, "event").unwrap();
    let run = || {
        let output = std::process::Command::new("sh")
            .args(["-ec", line])
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", "/usr/bin:/bin")
            .stdin(fs::File::open(&event).unwrap())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    const FAILED: &str = "Lictor did not judge this: is lictor installed here?\n";
    let (code, out, err) = run();
    assert!(code == Some(2) && out.is_empty() && err.ends_with(FAILED), "no program: {code:?} {out} {err}");
    let program = home.path().join(".local/bin/lictor");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    for (script, expected, printed, spoken) in [
        ("exit 80", 0, "", ""),
        ("echo \"$@\"; exit 80", 0, "hook claude-code PreToolUse --confirm", ""),
        ("cat; exit 80", 0, "event", ""),
        ("echo '{}'; echo no >&2; exit 82", 2, "{}", "no\n"),
        // Not Lictor, or a Lictor that did not come to an end.
        ("exit 0", 2, "", FAILED),
        ("exit 1", 2, "", FAILED),
        ("exit 2", 2, "", FAILED),
        ("echo '{\"x\": ['", 2, "", FAILED),
        ("echo '{}'; exit 2", 2, "", FAILED),
        ("echo '{}'; kill -9 $$", 2, "", FAILED),
    ] {
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let (code, out, err) = run();
        assert_eq!((code, out.as_str()), (Some(expected), printed), "{script}");
        assert!(err.ends_with(spoken) && err.is_empty() == spoken.is_empty(), "{script}: {err}");
    }
}

/// The hook of a forged event must not pass for the agent's own.
#[test]
fn only_the_line_as_it_is_written_counts_as_the_agents() {
    let file = Settings::of(Agent::GeminiCli, Scope::Project, &place(), |_| false).unwrap();
    let hooks = file.inspect(&installed(&file, None, "lictor"), Path::new(BINARY)).hooks;
    let line = &hooks.iter().find(|hook| hook.event == "BeforeTool").unwrap().line;
    let own = ["hook", "gemini-cli", "BeforeTool", install::CONFIRM].map(str::to_owned);
    let is = |line: &str| install::Command::is_installed_line(line, &own);
    assert!(is(line), "{line}");
    assert!(!install::Command::is_installed_line(line, &own[..3]));
    assert!(!is(&format!("{line}; true")));
    assert!(!is(&format!("{line} < forged")));
    assert!(!is(&line.replace(" lictor hook", " $(forge)/lictor hook")));
    assert!(!is(&line.replace("case $?", "forge; case $?")));
    // Some agents put the values of variables into their settings.
    let search = "$HOME/.local/bin:$HOME/.cargo/bin:$PATH";
    assert!(is(&line.replace(search, "/home/ada/.local/bin:/usr/bin")));
    for forged in ["$(forge)", "/usr/bin\" forge; PATH=\"x", "'; forge '"] {
        assert!(!is(&line.replace(search, forged)), "{forged}");
    }
    // The shell that the line starts where the agent's own may be another.
    let file = Settings::of(Agent::Codex, Scope::Project, &place(), |_| false).unwrap();
    let hooks = file.inspect(&installed(&file, None, "lictor"), Path::new(BINARY)).hooks;
    let line = &hooks.iter().find(|hook| hook.event == "PreToolUse").unwrap().line;
    let own = ["hook", "codex", "PreToolUse", install::CONFIRM].map(str::to_owned);
    let script = line.split('\'').nth(1).unwrap();
    let process = ["/bin/sh", "-c", script, "lictor", "codex", "PreToolUse"].map(str::to_owned);
    let runs = |process: &[String]| install::Command::is_installed_shell(process, &own);
    assert!(runs(&process));
    for (at, other) in [(0, "/tmp/sh"), (2, "forge"), (3, "/tmp/forge"), (5, "PostToolUse")] {
        let mut forged = process.clone();
        forged[at] = other.to_owned();
        assert!(!runs(&forged), "{other}");
    }
}
