//! Shell escapes of programs that are not shells: a call that runs a command in the program's own language, or a
//! line that starts with an exclamation mark.

use super::report::joined;
use crate::call::{Call, Report, Stdin};
use crate::operand::Arg;

/// Calls by which small languages run a command.
const CALLS: [&str; 8] = ["system", "shell", "popen", "exec", "execute", "shell_exec", "spawn", "os.execute"];

/// The commands that a text in a small language runs: quoted text after `system(` and similar calls.
pub(crate) fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for call in CALLS {
        for (at, _) in text.match_indices(call) {
            let whole = text
                .get(..at)
                .is_none_or(|front| !front.ends_with(|c: char| c.is_alphanumeric() || c == '_'));
            let rest = text.get(at + call.len()..).unwrap_or_default().trim_start();
            let inner = rest.strip_prefix('(').unwrap_or(rest).trim_start().trim_start_matches('\\');
            let Some(quote) = inner.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) else {
                continue;
            };
            let body = inner.get(1..).unwrap_or_default();
            if whole && let Some(end) = body.find(quote) {
                found.push(body.get(..end).unwrap_or_default().trim_end_matches('\\').to_owned());
            }
        }
    }
    found
}

/// Commands in the texts of a call's words or input.
pub(crate) fn quoted_commands(call: &Call<'_>, report: &mut Report) {
    let typed = match call.stdin {
        Stdin::Text(text) => Some(text.as_str()),
        _ => None,
    };
    for text in call.args.iter().filter_map(Arg::known).chain(typed) {
        for command in commands(text) {
            report.then_shell(&Arg::literal(command), &[], call.program);
        }
    }
}

/// Commands that a key or an event of a list runs: `--bind "enter:execute(CMD)"`.
pub(crate) fn bound_commands(call: &Call<'_>, report: &mut Report) {
    for text in call.args.iter().filter_map(Arg::known) {
        for action in crate::words::BOUND_ACTIONS {
            for inside in text.split(&format!("{action}(")).skip(1) {
                let command = inside.rsplit_once(')').map_or(inside, |(command, _)| command);
                report.then_shell(&Arg::literal(command), &[], call.program);
            }
            for command in text.split(&format!("{action}:")).skip(1) {
                report.then_shell(&Arg::literal(command), &[], call.program);
            }
        }
    }
}

/// Lines of the input, and words, that start with an exclamation mark.
pub(crate) fn shell_lines(call: &Call<'_>, report: &mut Report) {
    if let Stdin::Text(text) = call.stdin {
        for command in text.lines().filter_map(|line| line.trim().strip_prefix('!')) {
            report.then_shell(&Arg::literal(command.trim()), &[], call.program);
        }
    }
    let words: Vec<Arg> = call.args.iter().filter(|arg| !arg.prefix().starts_with('-')).cloned().collect();
    if let Some(command) = joined(&words).known().and_then(|text| text.strip_prefix('!')) {
        report.then_shell(&Arg::literal(command.trim()), &[], call.program);
    }
}

#[cfg(test)]
mod tests;
