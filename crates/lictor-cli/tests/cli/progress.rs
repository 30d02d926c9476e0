//! Commands that take longer than a second show progress: only on a terminal.

use std::fs;
use std::path::PathBuf;

use crate::sandbox::Sandbox;
use crate::terminal::Terminal;

/// A file that a command waits for until somebody writes it.
fn pipe(sandbox: &Sandbox, name: &str) -> PathBuf {
    assert_eq!(sandbox.program("mkfifo", &[name], "").code, 0);
    sandbox.project().join(name)
}

#[test]
fn long_work_moves_on_a_terminal_and_is_silent_in_a_pipe() {
    let sandbox = Sandbox::new();
    let Some(terminal) = Terminal::open(&sandbox) else { return };
    sandbox.lictor(&["eval", "bash", "ls"]);
    let anchor = sandbox.lictor(&["audit", "anchor"]).stdout;
    let finding = "{\"level\": \"LOW\", \"title\": \"x\"}\n";
    let cases = [
        ("lictor replay --transcript", "", "reading … 1 s", "unchanged: 0"),
        ("lictor verdict import --plan-hash abc", finding, "reading … 1 s", "recorded 1 finding(s)"),
        ("lictor audit verify --anchor", anchor.as_str(), "looking for anchors … 1 s", "anchored at"),
    ];
    for (number, (command, content, moving, end)) in cases.into_iter().enumerate() {
        let (seen, unseen) =
            (pipe(&sandbox, &format!("seen{number}")), pipe(&sandbox, &format!("unseen{number}")));
        // Started first, it has waited longer than the one on the terminal when that begins to move.
        let mut args: Vec<&str> = command.split(' ').skip(1).collect();
        let name = unseen.to_str().unwrap();
        args.push(name);
        let silent = sandbox.start(&args);
        terminal.run(&format!("clear; {command} {}", seen.display()));
        terminal.wait_for(moving);
        fs::write(&seen, content).unwrap();
        fs::write(&unseen, content).unwrap();
        let screen = terminal.wait_for(end);
        assert!(!screen.contains('…'), "the line is gone when the work is done: {screen}");
        let output = silent.wait_with_output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains(end), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

#[test]
fn a_council_says_on_a_terminal_who_is_looking() {
    let sandbox = Sandbox::new();
    let Some(terminal) = Terminal::open(&sandbox) else { return };
    sandbox.write(
        "governance.yaml",
        "councils:\n  ship-it:\n    on: [pre-commit]\n    reviewers: [{name: looker, command: [cat, pipe], format: jsonl}]\n",
    );
    sandbox.write("f", "x\n");
    sandbox.program("git", &["add", "f"], "");
    assert_eq!(sandbox.lictor(&["trust", "--yes"]).code, 0);
    let pipe = pipe(&sandbox, "pipe");
    // What is printed at the end would say some of it too.
    terminal.run("lictor verdict gate > /dev/null");
    terminal.wait_for("ship-it/looker: looking");
    fs::write(&pipe, "").unwrap();
    terminal.wait_for("ship-it/looker: clean");
    terminal.run("lictor verdict gate > /dev/null");
    terminal.wait_for("ship-it: has looked at exactly this before");
}

#[test]
fn a_terminal_shows_colours_unless_they_are_unwanted() {
    let sandbox = Sandbox::new();
    let Some(terminal) = Terminal::open(&sandbox) else { return };
    terminal.run("lictor eval bash 'rm -rf ~'; echo do''ne");
    terminal.wait_for("done");
    assert!(terminal.screen(true).contains("\u{1b}[1m\u{1b}[31mblock"), "{:?}", terminal.screen(true));
    terminal.run("clear; NO_COLOR=1 lictor eval bash 'rm -rf ~'; echo seco''nd");
    let screen = terminal.wait_for("second");
    assert!(screen.contains("block"), "{screen}");
    assert!(!terminal.screen(true).contains("\u{1b}[31m"), "{:?}", terminal.screen(true));
}
