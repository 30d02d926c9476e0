//! Attacks on the guard itself, as data: every class of ways around it, with harmless twins, through real hook processes.
//!
//! A case is one line that an agent wants to run, or one call of a tool. `for` multiplies a line by lists of words. What
//! is expected is that it is stopped (blocked or asked about) or that it passes in silence.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

#[path = "../cli/sandbox.rs"]
#[expect(dead_code, reason = "shared with the tests of the commands")]
mod sandbox;

/// Red lines, for the rows that are about them: elsewhere they would stop what another rule must stop.
const RED_LINES: &str = "version: 1\nboundaries:\n  red_line_files: [\"**/.env\"]\n";
const ABOUT_RED_LINES: [u8; 3] = [2, 6, 23];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Expected {
    Stop,
    Pass,
}

/// As written: one line, or one for every combination of the words in `for`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    id: String,
    /// The row of the audit that the class comes from.
    row: u8,
    /// A shell command.
    #[serde(default)]
    run: Option<String>,
    /// Another tool, with its input.
    #[serde(default)]
    tool: Option<String>,
    #[serde(default)]
    input: Value,
    #[serde(default, rename = "for")]
    words: BTreeMap<String, Vec<String>>,
    expect: Expected,
}

/// One call.
#[derive(Debug)]
struct Attack {
    id: String,
    row: u8,
    tool: String,
    input: Value,
    expect: Expected,
}

impl Written {
    fn cases(self) -> Vec<Attack> {
        let mut combinations: Vec<BTreeMap<&str, &str>> = vec![BTreeMap::new()];
        for (name, words) in &self.words {
            combinations = combinations
                .iter()
                .flat_map(|known| {
                    words.iter().map(move |word| {
                        let mut known = known.clone();
                        known.insert(name, word);
                        known
                    })
                })
                .collect();
        }
        let many = combinations.len() > 1;
        let fill = |text: &str, words: &BTreeMap<&str, &str>| {
            // A word may hold others.
            let pass = |text: String| {
                words.iter().fold(text, |text, (name, word)| text.replace(&format!("<{name}>"), word))
            };
            pass(pass(text.to_owned()))
        };
        let mut cases = Vec::new();
        for (at, words) in combinations.iter().enumerate() {
            let (tool, input) = match (&self.run, &self.tool) {
                (Some(line), None) => ("Bash".to_owned(), json!({"command": fill(line, words)})),
                (None, Some(tool)) => {
                    let input = match &self.input {
                        Value::String(text) => fill(text, words),
                        other => fill(&other.to_string(), words),
                    };
                    (fill(tool, words), serde_json::from_str(&input).unwrap())
                }
                _ => panic!("{}: either `run` or `tool`", self.id),
            };
            let id = format!("{}-{}", self.row, self.id);
            let id = if many { format!("{id}/{}", at + 1) } else { id };
            cases.push(Attack { id, row: self.row, tool, input, expect: self.expect });
        }
        cases
    }
}

fn all() -> Vec<Attack> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks/cases");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases: Vec<Attack> = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let read: Vec<Written> =
            serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        cases.extend(read.into_iter().flat_map(Written::cases));
    }
    let mut ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    ids.sort_unstable();
    ids.windows(2).for_each(|pair| assert_ne!(pair[0], pair[1], "an id stands for one case"));
    cases
}

fn world(policy: &str) -> Sandbox {
    let sandbox = Sandbox::bare();
    sandbox.write("governance.yaml", policy);
    let run = sandbox.lictor(&["init", "--yes", "--git", "--agent", "claude-code"]);
    assert_eq!(run.code, 0, "{run:?}");
    let script = include_str!("world.sh").replace("$LICTOR", env!("CARGO_BIN_EXE_lictor"));
    let made = sandbox.program("sh", &["-c", &script], "");
    assert_eq!(made.code, 0, "{made:?}");
    sandbox
}

/// What came of a call: the reason when it was stopped.
fn stopped(sandbox: &Sandbox, at: usize, case: &Attack) -> Option<String> {
    let text = case.input.to_string();
    let filled = text
        .replace("~PROJECT", sandbox.project().to_str().unwrap())
        .replace("~HOME", sandbox.home().to_str().unwrap());
    let input: Value = serde_json::from_str(&filled).unwrap();
    let fields = json!({"session_id": format!("s{at}"), "tool_name": case.tool, "tool_input": input});
    let run = sandbox.claude("PreToolUse", fields);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or(Value::Null);
    let specific = &answer["hookSpecificOutput"];
    match specific["permissionDecision"].as_str() {
        Some("deny" | "ask") => Some(specific["permissionDecisionReason"].to_string()),
        _ if run.code == 2 => Some(run.stderr),
        _ => {
            assert_eq!(run.code, 0, "{}: {run:?}", case.id);
            None
        }
    }
}

#[test]
fn attacks_are_stopped_and_their_twins_pass() {
    let cases = all();
    let wrong = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(2, usize::from).min(4);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let (plain, red_lines) = (world("version: 1\n"), world(RED_LINES));
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(at) else { break };
                    let about = ABOUT_RED_LINES.contains(&case.row);
                    let found = stopped(if about { &red_lines } else { &plain }, at, case);
                    if found.is_some() != (case.expect == Expected::Stop) {
                        let told = found.unwrap_or_else(|| "passed".to_owned());
                        let line = format!("row {} {}: {} → {told}", case.row, case.id, case.input);
                        wrong.lock().unwrap().push(line);
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// A guard that stops everything must fail too.
#[test]
fn every_class_has_as_many_harmless_twins_as_attacks() {
    let mut rows: BTreeMap<u8, (usize, usize)> = BTreeMap::new();
    for case in all() {
        let row = rows.entry(case.row).or_default();
        match case.expect {
            Expected::Stop => row.0 += 1,
            Expected::Pass => row.1 += 1,
        }
    }
    for (row, (attacks, twins)) in &rows {
        assert!(*attacks > 0 && twins >= attacks, "row {row}: {attacks} attacks, {twins} twins");
    }
}
