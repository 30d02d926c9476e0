//! Tools that send a file away because a word, an option or a command of their own names it. Text that only mentions a
//! file sends nothing.

use lictor_core::facts::{Effect, FlowSink, FlowSource};

use super::secrets;
use crate::call::{Call, Report};
use crate::operand::{Arg, Operand};

/// How a tool is told which file to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// By a word, or by the value of any option.
    Word,
    /// By the value of an option for files (`--body-file x`).
    Option,
    /// Behind an at sign (`file@x`, `key=@x`).
    At,
    /// By a command in one of the words (`put x`).
    Put,
}

/// Options whose value is a file that is sent.
const FILES: [&str; 10] = [
    "-F",
    "--body-file",
    "--notes-file",
    "--description-file",
    "--file",
    "--input",
    "--from-file",
    "--from-env-file",
    "--public-key-file",
    "--attach",
];

/// Options whose value is used to sign in, or is no file.
const USED: [&str; 9] =
    ["-i", "--key-file", "--cert", "--cert-key", "--config", "--env-file", "--exclude", "--name", "-x"];

/// The path that a word names, given the word in front of it.
fn path<'a>(named: Named, before: &str, word: &'a str) -> Option<&'a str> {
    let (option, value) = match word.split_once('=') {
        Some((option, value)) if option.starts_with('-') => (option, value),
        _ => (before, word),
    };
    match named {
        Named::Word if word.starts_with('-') && !word.contains('=') || USED.contains(&option) => None,
        Named::Word => Some(value.strip_prefix("file://").unwrap_or(value)),
        // `--from-file=key=path`, `-F field=@path`.
        Named::Option if FILES.contains(&option) => match value.split_once('=') {
            Some((_, field)) if option == "-F" => field.strip_prefix('@'),
            Some((_, path)) => Some(path),
            None => Some(value),
        },
        Named::Option => None,
        Named::At => {
            let (front, path) = word.split_once('@')?;
            let field = front.strip_suffix('=').unwrap_or(front);
            field.chars().all(|letter| letter.is_alphanumeric() || "_-[]".contains(letter)).then_some(path)
        }
        Named::Put => {
            let mut words = word.split([' ', ';']).filter(|part| !part.is_empty());
            words.find(|part| matches!(*part, "put" | "mput" | "mirror" | "reput"))?;
            words.find(|part| secrets::is_secret_path(part))
        }
    }
}

/// Reports secrets that a call sends away.
pub(crate) fn judge(call: &Call<'_>, report: &mut Report, named: Named) {
    let told = |effect: &Effect<Operand>| {
        matches!(effect, Effect::Flow { from: FlowSource::Secret, to: FlowSink::Host, .. })
    };
    if report.effects.iter().any(told) {
        return;
    }
    let mut before = "";
    for word in call.args.iter().map(|arg| arg.known().unwrap_or_default()) {
        if let Some(path) = path(named, before, word).filter(|path| secrets::is_secret_path(path)) {
            secrets::read(call, report, &Arg::literal(path), false);
            // A cluster keeps secrets; everything else is another machine.
            if !matches!(call.program, "kubectl" | "oc" | "git") {
                report.flow(FlowSource::Secret, FlowSink::Host, path);
            }
            return;
        }
        before = word;
    }
}

/// The files that words name behind an at sign: `@x`, `field=@x`, `--option=@x`, and `file://x`.
pub(crate) fn at(call: &Call<'_>) -> Vec<Arg> {
    let words = call.args.iter().filter_map(Arg::known);
    words
        .filter_map(|word| path(Named::At, "", word).or_else(|| word.strip_prefix("file://")))
        .map(Arg::literal)
        .collect()
}

/// Reports secrets that a call is given as the whole value of a word: `@x`, `file://x`, `--body=file://x`. Tools agree on
/// these signs for "what is in the file".
pub(crate) fn quoted(call: &Call<'_>, report: &mut Report) {
    for word in call.args.iter().filter_map(Arg::known) {
        let value = match word.split_once('=') {
            Some((option, value)) if option.starts_with('-') => value,
            _ => word,
        };
        let path = ["file://", "fileb://", "@"].iter().find_map(|sign| value.strip_prefix(sign));
        if let Some(path) = path.filter(|path| secrets::is_secret_path(path)) {
            secrets::read(call, report, &Arg::literal(path), false);
        }
    }
}

#[cfg(test)]
mod tests;
