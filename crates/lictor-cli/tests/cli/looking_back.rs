//! `log` and `replay --transcripts` with many sessions and several projects.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::terminal::Terminal;

/// A transcript of Claude Code: these commands in that session, each with its result.
fn transcript(cwd: &Path, session: &str, commands: &[&str]) -> String {
    let mut text = String::new();
    for (number, command) in commands.iter().enumerate() {
        let id = format!("{session}-{number}-{command}");
        let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": "done"});
        for (kind, part) in [("assistant", call), ("user", result)] {
            let line = json!({"type": kind, "uuid": id, "sessionId": session, "cwd": cwd,
                              "timestamp": "2026-03-01T10:00:00Z", "message": {"content": [part]}});
            text += &format!("{line}\n");
        }
    }
    text
}

/// The report without the moment at which it was made.
fn replayed(sandbox: &Sandbox, directory: &str) -> Value {
    let run = sandbox.lictor(&["replay", "--transcripts", directory, "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let mut report = run.json();
    report.as_object_mut().unwrap().remove("until");
    report
}

#[test]
fn a_session_in_several_files_is_one_and_sessions_know_nothing_of_each_other() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "version: 1\nbudget: {max_actions: 3}\n");
    let cwd = sandbox.project();
    for number in 0..12 {
        let name = format!("s{number:02}");
        let text = transcript(&cwd, &name, &["ls", "git status", &format!("cat {name}.txt")]);
        sandbox.write(&format!("old/projects/x/{name}.jsonl"), &text);
    }
    // A subagent of the session `s03` has a file of its own: its call is the fourth of that session.
    let below = transcript(&cwd, "s03", &["pwd"]);
    sandbox.write("old/projects/x/agent-1.jsonl", &below);
    let first = replayed(&sandbox, "old");
    assert_eq!(first["sessions"], 12, "{first}");
    let total = &first["total"];
    assert_eq!((&total["calls"], &total["block"]), (&json!(37), &json!(1)), "{first}");
    for _ in 0..3 {
        assert_eq!(replayed(&sandbox, "old"), first, "whoever judged which session");
    }
}

#[test]
fn decisions_of_all_projects_come_in_the_order_of_time() {
    let sandbox = Sandbox::new();
    let other = sandbox.home().join("other");
    fs::create_dir_all(&other).unwrap();
    let made = sandbox.program("git", &["init", "-q", other.to_str().unwrap()], "");
    assert_eq!(made.code, 0, "{made:?}");
    let here = sandbox.project();
    for (number, place) in [&here, &other, &here, &other, &other, &here].into_iter().enumerate() {
        // A session belongs to the project that it began in.
        let call = json!({"session_id": place, "cwd": place, "tool_name": "Bash",
                          "tool_input": {"command": format!("echo {number}")}});
        let run = sandbox.claude("PreToolUse", call);
        assert_eq!(run.code, 0, "{run:?}");
    }
    assert_eq!(sandbox.lictor(&["log"]).stdout.lines().count(), 3, "the others are in another record");
    let shown = |args: &[&str]| {
        let run = sandbox.lictor(&[&["log", "--all", "--json"], args].concat());
        assert_eq!(run.code, 0, "{run:?}");
        let lines = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| line["action"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all: Vec<String> = (0..6).map(|number| format!("bash echo {number}")).collect();
    assert_eq!(shown(&["--since", "1d"]), all);
    assert_eq!(shown(&["-n", "2"]), all[4..]);
    // One that cannot be read is named, and hides nothing else.
    let broken = sandbox.home().join(".local/state/lictor/broken");
    fs::create_dir_all(&broken).unwrap();
    fs::write(broken.join("lictor.db"), "this is no database").unwrap();
    let run = sandbox.lictor(&["log", "--all", "--since", "1d"]);
    assert_eq!((run.code, run.stdout.lines().count()), (0, 6), "{run:?}");
    assert!(run.stderr.contains("broken"), "{run:?}");
}

/// On a terminal the day is said once, the agent where there are several, and a rule comes before what it is about.
#[test]
fn a_line_of_the_log_has_room_for_what_matters() {
    let sandbox = Sandbox::new();
    sandbox.claude_bash("git push --force origin main");
    sandbox.claude_bash("ls");
    let piped = sandbox.lictor(&["log"]).stdout;
    assert!(piped.contains("claude-code  [git.force-push]  bash git push --force"), "{piped}");
    let Some(terminal) = Terminal::open(&sandbox) else { return };
    terminal.run("lictor log; echo ended-$?");
    let screen = terminal.wait_for("ended-0");
    let year = year_of(&piped);
    assert_eq!(screen.matches(&format!("{year}-")).count(), 1, "{screen}");
    assert!(screen.contains("[git.force-push]") && !screen.contains("claude-code"), "{screen}");
}

/// The year that stands in the first line.
fn year_of(log: &str) -> String {
    log.split_whitespace().nth(1).unwrap().split('-').next().unwrap().to_owned()
}
