//! A run as a person at a terminal has it.

use super::{can_run, world};

#[test]
fn the_terminal_is_the_agents_own_and_behaves_like_the_persons() {
    can_run();
    let sandbox = world();
    let script = include_str!("terminal.py");
    let run = sandbox.program("python3", &["-c", script, env!("CARGO_BIN_EXE_lictor")], "");
    let held: Vec<&str> = run.stdout.lines().collect();
    let all = ["size", "resized", "typed", "interrupted", "resumed", "code", "restored", "separate"];
    assert_eq!(held, all, "{run:?}");
}
