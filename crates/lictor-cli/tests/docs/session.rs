//! Runs a console session and compares its output.

use crate::sandbox::Sandbox;

struct Step {
    command: String,
    code: i32,
    output: Vec<String>,
}

/// Runs every command of the session in a new shell, in the project, and compares.
pub fn run(sandbox: &Sandbox, text: &str, place: &str) {
    for step in steps(text) {
        let path = std::env::var("PATH").unwrap_or_default();
        let binary = std::path::Path::new(env!("CARGO_BIN_EXE_lictor")).parent().unwrap();
        let line = format!("PATH={}:{path}\nexec 2>&1\n{}", binary.display(), step.command);
        let done = sandbox.program("bash", &["-c", &line], "");
        let shown: Vec<&str> = done.stdout.lines().map(str::trim_end).collect();
        let wanted: Vec<&str> = step.output.iter().map(String::as_str).collect();
        assert!(
            matches(&wanted, &shown),
            "{place}: `{}` printed\n{}\ninstead of\n{}",
            step.command,
            shown.join("\n"),
            wanted.join("\n")
        );
        assert_eq!(done.code, step.code, "{place}: exit code of `{}`\n{}", step.command, done.stdout);
    }
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), code: 0, output: Vec::new() });
            continue;
        }
        let step = steps.last_mut().expect("a session starts with a command");
        if let Some(more) = line.strip_prefix("> ").filter(|_| step.output.is_empty()) {
            step.command.push('\n');
            step.command.push_str(more);
        } else if let Some(code) = line.strip_prefix("? ").filter(|_| step.output.is_empty()) {
            step.code = code.trim().parse().unwrap();
        } else {
            step.output.push(line.trim_end().to_owned());
        }
    }
    for step in &mut steps {
        while step.output.last().is_some_and(String::is_empty) {
            step.output.pop();
        }
    }
    steps
}

/// `...` matches any number of lines.
fn matches(wanted: &[&str], shown: &[&str]) -> bool {
    match wanted.split_first() {
        None => shown.iter().all(|line| line.is_empty()),
        Some((&"...", rest)) => (0..=shown.len()).any(|skip| matches(rest, &shown[skip..])),
        Some((first, rest)) => {
            shown.split_first().is_some_and(|(line, more)| line_matches(first, line) && matches(rest, more))
        }
    }
}

/// `[..]` matches any text.
fn line_matches(wanted: &str, shown: &str) -> bool {
    let mut parts = wanted.split("[..]");
    let Some(mut rest) = parts.next().and_then(|start| shown.strip_prefix(start)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
