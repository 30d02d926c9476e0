//! Does bash agree about what is valid shell? Skipped, with a word about it, where there is no bash.

use crate::{cases, render};
use std::io::Write;
use std::process::{Command, Stdio};

/// Valid for bash, but shells disagree about where the expansion ends: the reader is right to call it doubtful.
const DIFFERENT: &[&str] = &["quoting-040"];

/// Whether bash takes the text; `None` when there is no bash.
fn bash_takes(text: &str) -> Option<bool> {
    let mut child = Command::new("bash")
        .args(["--norc", "-O", "extglob", "-n"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    Some(child.wait().ok()?.success())
}

#[test]
fn bash_and_the_reader_agree_on_what_is_shell() {
    if bash_takes("true").is_none() {
        println!("skipped: no bash to compare with");
        return;
    }
    let mut wrong = Vec::new();
    let mut compared = 0;
    for case in cases::all() {
        // Texts that other texts are run from are judged apart.
        if case.text.contains('\0') || DIFFERENT.contains(&case.id.as_str()) {
            continue;
        }
        let reader = !render::render(&lictor_shell::read(&case.text, &render::World), false)
            .iter()
            .any(|line| line == "opaque syntax");
        compared += 1;
        if bash_takes(&case.text) != Some(reader) {
            wrong.push(format!("{} {:?}: the reader says {reader}", case.id, case.text));
        }
    }
    assert!(compared >= 400);
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
}
