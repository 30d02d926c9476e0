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
    ("lictor-guards/src/known_tools.rs", &[], "the catalogue of tools that touch nothing"),
    ("lictor-mcp/src/gateway.rs", &["cursor"], "where a list goes on"),
    ("lictor-mcp/src/message.rs", &["cursor"], "where a list goes on"),
    ("lictor-mcp/src/poison.rs", &[".cursor/mcp.json"], "a place of credentials that poisoned texts name"),
    ("lictor-observe/src/facts.rs", &["web_search"], "a kind of action"),
    ("lictor-shell/src/programs.rs", &["apply_patch"], "a program"),
    ("lictor-shell/src/programs/credentials.rs", &[".codex", ".gemini"], "credentials, not settings"),
    ("lictor-shell/src/programs/edit.rs", &["cursor"], "an editor that is started with a file"),
    ("lictor-shell/src/programs/forges.rs", &["Delete"], "a word of an API"),
    ("lictor-shell/src/programs/frameworks.rs", &["goose"], "a tool for database migrations"),
    ("lictor-shell/src/programs/services.rs", &["copilot", "goose"], "AWS Copilot, database migrations"),
    ("lictor-shell/src/walk/startup.rs", &[".vscode/settings.json"], "variables of an editor's terminals"),
];

/// Rust sources of other crates, without tests and benchmarks.
fn sources() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut open: Vec<PathBuf> = fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("lictor-agents"))
        .map(|path| path.join("src"))
        .collect();
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            let in_tests = path.components().any(|part| part.as_os_str() == "tests");
            if !in_tests {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 100, "{}", found.len());
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
            && !matches!(first, ".github" | ".vscode")
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

#[test]
fn other_crates_know_no_agent() {
    let words = words();
    assert!(words.len() > 100 && words.contains(".claude/settings.json"), "{words:?}");
    let mut wrong = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for word in &words {
            let allowed = |(file, known, _): &(&str, &[&str], &str)| {
                path.ends_with(file) && (known.is_empty() || known.contains(&word.as_str()))
            };
            if code.contains(&format!("\"{word}\"")) && !ALLOWED.iter().any(allowed) {
                wrong.push(format!("{}: {word}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "move this into the agent's file in lictor-agents:\n{}", wrong.join("\n"));
}
