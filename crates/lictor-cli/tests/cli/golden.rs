//! The output of every command: in the usual case, without data, and for every kind of error.
//!
//! A file `golden/<command>.txt` is a list of sessions with their expected output:
//!
//! - `# words` begins a case: an empty home, a fresh repository, nobody at the terminal;
//! - `% command` sets something up and must succeed; what it prints is not shown;
//! - `$ command` is run; `? 2` below it is its exit code when that is not 0, `| ` stands before what it prints on
//!   standard output, `! ` before what it prints on standard error;
//! - `> ` continues a command.
//!
//! Time starts at a known second and advances by one with each command. Values that differ between runs are
//! replaced by placeholders: paths, digests, durations of reviewers. Output with `--json` must match the schema
//! that `lictor schema --output` publishes. `SNAPSHOTS=overwrite cargo test -p lictor-cli --test cli golden`
//! rewrites the files; review the diff.
#![cfg(debug_assertions)]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use serde_json::Value;
use snapbox::data::DataFormat;
use snapbox::{Assert, Data};

use crate::json_schema;
use crate::sandbox::{Run, Sandbox};

/// Helpers of sessions besides `lictor`.
const PRELUDE: &str = r#"
state() { find ~/.local/state/lictor -name lictor.db -printf '%h\n'; }
waiting() { lictor approvals --json | sed -n 's/^    "id": "\(.*\)",$/\1/p'; }
claude() { # event, further fields
  printf '{"session_id":"%s","cwd":"%s","hook_event_name":"%s","permission_mode":"dontAsk",%s}' \
    "${SESSION:-s1}" "$PWD" "$1" "$2" | lictor hook claude-code "$1"
}
installed() { # the hook that is installed, as Claude Code starts it
  printf '{"session_id":"s1","cwd":"%s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"%s"}}' \
    "$PWD" "$1" | sh -c "$(sed -n 's/.*"command": "\(.* PreToolUse .*\)",$/\1/p' .claude/settings.json | sed 's/\\"/"/g')"
}
agent_runs() { claude PreToolUse "\"tool_name\":\"Bash\",\"tool_use_id\":\"$1\",\"tool_input\":{\"command\":\"$1\"}" 2>/dev/null; }
agent_ran() { agent_runs "$1"; claude PostToolUse "\"tool_name\":\"Bash\",\"tool_use_id\":\"$1\",\"tool_input\":{\"command\":\"$1\"},\"tool_response\":{}"; }
"#;

/// Commands with subcommands.
const GROUPS: [&str; 5] = ["audit", "council", "mcp", "session", "verdict"];

struct Case {
    title: String,
    steps: Vec<Step>,
}

struct Step {
    shown: bool,
    command: String,
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/golden")
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        let (mark, rest) = line.split_at(line.len().min(2));
        match (mark, cases.last_mut()) {
            ("# ", _) => cases.push(Case { title: rest.to_owned(), steps: Vec::new() }),
            ("% " | "$ ", Some(case)) => {
                case.steps.push(Step { shown: mark == "$ ", command: rest.to_owned() });
            }
            ("> ", Some(case)) => {
                let command = &mut case.steps.last_mut().unwrap().command;
                command.push('\n');
                command.push_str(rest);
            }
            ("| " | "|" | "! " | "!" | "? " | "", _) => {}
            _ => panic!("not a line of a golden file: {line}"),
        }
    }
    cases
}

/// The file with the actual output.
fn told(text: &str, name: &str) -> String {
    let schemas = Schemas::default();
    let mut out = String::new();
    for (number, case) in cases(text).iter().enumerate() {
        let sandbox = Sandbox::bare();
        if number > 0 {
            out.push('\n');
        }
        writeln!(out, "# {}", case.title).unwrap();
        let mut second = 0;
        for step in &case.steps {
            second += 1;
            let run = shell(&sandbox, &step.command, second);
            let command = step.command.replace('\n', "\n> ");
            if !step.shown {
                assert_eq!(run.code, 0, "{name}: {}: set-up failed: {run:?}", case.title);
                writeln!(out, "% {command}").unwrap();
                continue;
            }
            assert!(
                !run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'),
                "{name}: colour: {run:?}"
            );
            schemas.check(&sandbox, &step.command, &run, name);
            writeln!(out, "$ {command}").unwrap();
            if run.code != 0 {
                writeln!(out, "? {}", run.code).unwrap();
            }
            for (mark, text) in [('|', &run.stdout), ('!', &run.stderr)] {
                for line in neutral(text, &sandbox).lines() {
                    writeln!(out, "{}", format!("{mark} {line}").trim_end()).unwrap();
                }
            }
        }
    }
    out
}

fn shell(sandbox: &Sandbox, command: &str, second: u64) -> Run {
    let binary = Path::new(env!("CARGO_BIN_EXE_lictor")).parent().unwrap();
    // 2026-03-01 12:00:00 UTC.
    let clock = 1_772_366_400_000 + second * 1000;
    let line = format!(
        "export TZ=UTC LICTOR_TEST_CLOCK={clock} GIT_CEILING_DIRECTORIES=$HOME\nPATH={}:$PATH\n{PRELUDE}\n{command}",
        binary.display()
    );
    sandbox.program("bash", &["-c", &line], "")
}

/// The same on every machine and in every run.
fn neutral(text: &str, sandbox: &Sandbox) -> String {
    let places = [
        (sandbox.project(), "[PROJECT]"),
        (sandbox.home().to_owned(), "[HOME]"),
        (PathBuf::from(env!("CARGO_BIN_EXE_lictor")), "[LICTOR]"),
    ];
    let mut text = text.to_owned();
    for (place, word) in places {
        text = text.replace(place.to_str().unwrap(), word);
    }
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        match line.split_once("\"millis\": ") {
            Some((before, _)) => writeln!(out, "{before}\"millis\": [MILLIS]").unwrap(),
            None => out.push_str(&without_digests(line)),
        }
    }
    out
}

/// Hexadecimal words as long as digests, plans and git objects, by their length.
fn without_digests(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, more) = rest.split_at(end);
        let hex = word.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
        // Digests and shortened ones; a number of another length is a number.
        if hex && matches!(word.len(), 12 | 16 | 40 | 64 | 128) {
            write!(out, "[HEX{}]", word.len()).unwrap();
        } else {
            out.push_str(word);
        }
        let (between, next) =
            more.split_at(more.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(more.len()));
        out.push_str(between);
        rest = next;
    }
    out
}

#[derive(Default)]
struct Schemas {
    known: std::cell::RefCell<HashMap<String, Value>>,
}

impl Schemas {
    /// JSON output matches the published schema; a failed command prints none.
    fn check(&self, sandbox: &Sandbox, command: &str, run: &Run, name: &str) {
        let words: Vec<&str> = command.split_whitespace().collect();
        let [first, command_words @ ..] = words.as_slice() else { return };
        let called = match command_words {
            [group, sub, ..] if GROUPS.contains(group) => format!("{group} {sub}"),
            [command, ..] => (*command).to_owned(),
            [] => return,
        };
        let streams =
            ["--batch", "jsonl"].iter().any(|word| words.contains(word)) || called == "audit export";
        let asked = words.contains(&"--json") || streams || called == "verdict export";
        if *first != "lictor" || words.contains(&"|") || words.contains(&"--help") || !asked {
            return;
        }
        if run.stdout.is_empty() && !streams {
            assert!(
                run.code != 0 && !run.stderr.is_empty() || called.starts_with("audit"),
                "{name}: {command}: {run:?}"
            );
            return;
        }
        let mut known = self.known.borrow_mut();
        let schema = known.entry(called.clone()).or_insert_with(|| {
            let args: Vec<&str> = ["schema", "--output"].into_iter().chain(called.split(' ')).collect();
            sandbox.lictor(&args).json()
        });
        let lines = streams || schema["x-json-lines"] == true;
        let documents = if lines { run.stdout.lines().collect() } else { vec![run.stdout.as_str()] };
        for document in documents {
            let document = serde_json::from_str(document).unwrap_or_else(|error| {
                panic!("{name}: `{command}` did not print JSON ({error}): {document}")
            });
            let problems = json_schema::problems(schema, &document);
            assert!(
                problems.is_empty(),
                "{name}: `{command}` does not fit its schema:\n{}",
                problems.join("\n")
            );
        }
    }
}

#[test]
fn every_command_prints_what_it_printed() {
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 40, "{files:?}");
    // Two at a time: the commands are short, starting them takes most of the time.
    let half = files.len().div_ceil(2);
    let wrong: Vec<String> = thread::scope(|scope| {
        let halves: Vec<_> = files.chunks(half).map(|files| scope.spawn(|| check_all(files))).collect();
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn check_all(files: &[PathBuf]) -> Vec<String> {
    let only = std::env::var("GOLDEN").ok();
    let mut wrong = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        let text = fs::read_to_string(file).unwrap();
        let told = Data::text(told(&text, &name)).raw();
        let wanted = Data::read_from(file, Some(DataFormat::Text)).raw();
        if let Err(difference) = Assert::new().action_env("SNAPSHOTS").try_eq(Some(&name), told, wanted) {
            wrong.push(difference.to_string());
        }
    }
    wrong
}

#[test]
fn a_changed_word_is_found() {
    let right = told("# a case\n$ echo one; echo two >&2; exit 3\n", "test");
    assert_eq!(right, "# a case\n$ echo one; echo two >&2; exit 3\n? 3\n| one\n! two\n");
    assert_eq!(told(&right, "test"), right);
    let hex = without_digests("policy 0a1b2c3d4e5f, 123456789012, at 1772366401000, and 0a1b");
    assert_eq!(hex, "policy [HEX12], [HEX12], at 1772366401000, and 0a1b");
}
