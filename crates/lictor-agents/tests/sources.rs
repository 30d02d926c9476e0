//! What is known about agents stands in this crate and nowhere else.

#![expect(clippy::unwrap_used, reason = "a broken source tree should stop the test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lictor_agents::Agent;
use lictor_agents::files::governing_files;
use lictor_agents::launch::launches;

/// Words that mean something else there (none: all of them), with the reason.
const ALLOWED: &[(&str, &[&str], &str)] = &[
    ("lictor-cli/src/commands/demo.rs", &["Bash", "Read", "Write"], "the scripted agent of the demo"),
    ("lictor-cli/src/commands/demo/project.rs", &["claude-code"], "the scripted agent of the demo"),
    ("lictor-config/src/policy_tests.rs", &["claude-code"], "an example of an agent's name"),
    ("lictor-core/src/session/todos.rs", &["TaskCreate", "TaskUpdate"], "lists that come piece by piece"),
    (
        "lictor-guards/packs/read-only.yaml",
        &["copilot", "cursor", "goose"],
        "AWS Copilot, an editor, database migrations",
    ),
    ("lictor-mcp/src/gateway.rs", &["cursor"], "where a list goes on"),
    ("lictor-mcp/src/message.rs", &["cursor"], "where a list goes on"),
    ("lictor-mcp/src/scan.rs", &["cursor"], "where a list goes on"),
    ("lictor-mcp/src/poison.rs", &[".cursor/mcp.json"], "a place of credentials that poisoned texts name"),
    ("lictor-observe/src/facts.rs", &["web_search"], "a kind of action"),
    ("lictor-observe/src/observer/fake.rs", &[], "the world that labelled commands are judged in"),
    (
        "lictor-observe/tools/agents.yaml",
        &[],
        "what tools do that have no shape, a table like those of servers",
    ),
    ("lictor-observe/tools/files.yaml", &[], "tools of MCP servers"),
    ("lictor-run/src/seatbelt.rs", &[".claude/settings.json"], "a path with quotes, in a test"),
    ("lictor-shell/programs/agents.yaml", &["copilot", "goose"], "AWS Copilot, database migrations"),
    ("lictor-shell/programs/editors.yaml", &["apply_patch"], "a program"),
    ("lictor-shell/programs/interpreters.yaml", &["interpreter"], "a function"),
    ("lictor-shell/programs/sets/credentials.yaml", &[".codex", ".gemini"], "credentials, not settings"),
    ("lictor-shell/src/programs/forges.rs", &["Delete"], "a word of an API"),
    (
        "lictor-shell/programs/sets/words.yaml",
        &[".vscode/settings.json"],
        "variables of an editor's terminals",
    ),
];

/// Sources of other crates, and the data that is compiled into them; without tests and benchmarks.
fn sources() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut open: Vec<PathBuf> = fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("lictor-agents"))
        .flat_map(|path| ["src", "programs", "tools", "packs"].map(|folder| path.join(folder)))
        .filter(|path| path.is_dir())
        .collect();
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|end| end == "rs" || end == "yaml")
            && !path.ends_with("tests.rs")
        {
            let in_tests = path.components().any(|part| part.as_os_str() == "tests");
            if !in_tests {
                found.push(path);
            }
        }
    }
    let data = found.iter().filter(|path| path.extension().is_some_and(|end| end == "yaml")).count();
    assert!(found.len() > 100 && data > 20, "{} {data}", found.len());
    found
}

/// The words that only agents' specifications may hold, quoted.
fn words() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for path in governing_files().map(|file| file.path) {
        // Short names like `hooks` mean too much else.
        if path.contains('/') || path.starts_with('.') && path != ".env" {
            words.insert(path.trim_start_matches('*').to_owned());
        }
        if let Some((first, _)) = path.split_once('/')
            && first.starts_with('.')
            && !matches!(first, ".github" | ".vscode" | ".config" | ".local")
        {
            words.insert(first.to_owned());
        }
    }
    for launch in launches() {
        words.extend(launch.programs.iter().chain(launch.packages).map(|word| (*word).to_owned()));
    }
    for agent in Agent::ALL {
        words.insert(agent.name().to_owned());
        // `read`, `bash` and their like are kinds of action everywhere.
        let telling = |name: &&str| name.contains('_') || name.contains(char::is_uppercase);
        words.extend(agent.tools().filter(telling).map(str::to_owned));
    }
    words
}

/// Whether a line is a comment, or an example that tests judge.
fn is_remark(line: &str) -> bool {
    let line = line.trim_start();
    ["//", "#", "match:", "not_match:", "- \"", "- '"].iter().any(|start| line.starts_with(start))
}

/// The words that code or data holds: in code whole literals, in data whatever stands between marks; paths anywhere, also
/// inside a longer text.
fn held<'a>(code: &str, data: bool, words: &'a BTreeSet<String>) -> Vec<&'a String> {
    let marks = |c: char| c.is_whitespace() || ":,[]{}()|\"'".contains(c);
    let parts: BTreeSet<&str> = if data { code.split(marks).collect() } else { code.split('"').collect() };
    words
        .iter()
        .filter(|word| parts.contains(word.as_str()) || word.contains('/') && code.contains(*word))
        .collect()
}

#[test]
fn a_word_is_found_wherever_it_stands() {
    let words = [".claude/settings.json", "cursor-agent", "droid"].map(str::to_owned).into();
    for (code, data, found) in [
        (r#"let file = home.join(".claude/settings.json");"#, false, 1),
        (r#"format!("{home}/.claude/settings.json")"#, false, 1),
        (r#"name == "cursor-agent" || name == "droid""#, false, 2),
        ("fn droid() {}", false, 0),
        ("files: [.claude/settings.json, x]", true, 1),
        ("- program: droid\n  by: x", true, 1),
        ("- program: cursor-agent droid", true, 2),
        ("- program: android", true, 0),
    ] {
        assert_eq!(held(code, data, &words).len(), found, "{code}");
    }
}

#[test]
fn other_crates_know_no_agent() {
    let words = words();
    assert!(words.len() > 100 && words.contains(".claude/settings.json"), "{words:?}");
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let code: Vec<&str> = text.lines().filter(|line| !is_remark(line)).collect();
        let code = code.join("\n");
        let data = path.extension().is_some_and(|end| end == "yaml");
        for word in held(&code, data, &words) {
            let allowed = |(file, known, _): &(&str, &[&str], &str)| {
                path.ends_with(file) && (known.is_empty() || known.contains(&word.as_str()))
            };
            match ALLOWED.iter().position(allowed) {
                Some(row) => drop(used.insert(row)),
                None => wrong.push(format!("{}: {word}", path.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "move this into the agent's file in lictor-agents:\n{}", wrong.join("\n"));
    let unused = ALLOWED.iter().enumerate().filter(|(row, _)| !used.contains(row)).map(|(_, row)| row.0);
    assert_eq!(unused.collect::<Vec<_>>(), Vec::<&str>::new(), "nothing needs these exceptions any more");
}
