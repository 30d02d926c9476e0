//! Simple commands as text, for patterns and messages.

use lictor_core::facts::{Command, Effect, Facts, Place};

use crate::pattern::Pattern;

/// Long options whose short form everyone writes.
const SHORT: [(&str, char); 4] = [("--recursive", 'r'), ("--force", 'f'), ("--verbose", 'v'), ("--all", 'a')];

/// The command without quotes and wrappers; unknown words as `…`.
pub(crate) fn text(command: &Command) -> String {
    join(&command.program, command.args.iter().map(|arg| arg.as_deref().unwrap_or("…")))
}

/// The same if every word is known; exceptions are compared with it.
pub(crate) fn whole(command: &Command) -> Option<String> {
    command.args.iter().all(Option::is_some).then(|| text(command))
}

/// The input of exceptions: the line as given, and its facts.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a str,
    pub(crate) facts: &'a Facts,
}

impl Line<'_> {
    /// Whether an exception equals the whole line. A pattern does not count here: `npm run .*` means one command,
    /// not the commands after it on the line.
    pub(crate) fn is_excepted(&self, allow: &[Pattern]) -> bool {
        !allow.is_empty() && {
            let literal = Pattern::literal(self.text.trim());
            allow.iter().any(|pattern| pattern.source() == literal)
        }
    }

    /// Whether the effect follows from the command's own words. Input from a pipe or a redirection is not part of
    /// them, so an exception for the command does not cover it.
    pub(crate) fn is_own(&self, effect: &Effect<Place>, command: &Command) -> bool {
        let text = match effect {
            Effect::Flow { .. } => return self.facts.commands().count() == 1 && !self.text.contains('<'),
            Effect::File { target, .. } => &target.text,
            Effect::Database { text, .. } => text,
            Effect::Code { body, .. } => body,
            _ => return true,
        };
        whole(command).is_some_and(|words| words.contains(text.as_str()))
            || !(self.text.contains(text.as_str()) || self.text.contains(['<', '>']))
    }
}

/// Every spelling of the command that a pattern is tried on: as written, and with its short options separate,
/// bundled in alphabetical order, and bundled in reverse order (`rm -r -f x`, `rm -fr x`, `rm -rf x`).
pub(crate) fn spellings(command: &Command) -> Vec<String> {
    let mut all = vec![text(command)];
    let mut flags: Vec<char> = Vec::new();
    let mut rest: Vec<&str> = Vec::new();
    let mut ended = false;
    for arg in command.args.iter().map(|arg| arg.as_deref().unwrap_or("…")) {
        let short = SHORT.iter().find(|(long, _)| *long == arg).map(|(_, short)| *short);
        match (short, arg.strip_prefix('-')) {
            _ if ended => rest.push(arg),
            (Some(short), _) => flags.push(short),
            (None, Some("-")) => ended = true,
            (None, Some(cluster)) if is_cluster(cluster) => flags.extend(cluster.chars()),
            _ => rest.push(arg),
        }
    }
    if flags.is_empty() {
        return all;
    }
    let apart: Vec<String> = flags.iter().map(|flag| format!("-{flag}")).collect();
    all.push(join(&command.program, apart.iter().map(String::as_str).chain(rest.iter().copied())));
    flags.sort_unstable();
    flags.dedup();
    for together in [flags.iter().collect::<String>(), flags.iter().rev().collect()] {
        let cluster = format!("-{together}");
        all.push(join(&command.program, std::iter::once(cluster.as_str()).chain(rest.iter().copied())));
    }
    all.dedup();
    all
}

pub(crate) fn is_cluster(cluster: &str) -> bool {
    !cluster.is_empty() && cluster.len() <= 6 && cluster.chars().all(|char| char.is_ascii_alphabetic())
}

fn join<'a>(program: &str, args: impl Iterator<Item = &'a str>) -> String {
    let mut out = program.to_owned();
    for arg in args {
        out.push(' ');
        out.push_str(arg);
    }
    out
}

#[cfg(test)]
mod tests;
