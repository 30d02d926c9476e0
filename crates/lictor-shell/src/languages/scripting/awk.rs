//! Effects of awk on other programs and files.

use lictor_core::facts::{Access, OpaqueWhat};

use super::Reader;
use crate::call::{Call, Report};
use crate::languages::tokens::Token;
use crate::languages::value::Value;
use crate::operand::Arg;

/// `print > "file"`, `print | "command"`, `"command" | getline`. Names may be put together out of constants.
pub(super) fn judge(reader: &Reader<'_, '_>, all: &[Token], call: &Call<'_>, report: &mut Report) {
    for (at, token) in all.iter().enumerate() {
        let before = all.get(..at).unwrap_or_default();
        let behind = all.get(at + 1..).unwrap_or_default();
        match token {
            Token::Sign('|') if is_word(behind.first(), "getline") => runs(reader, before, report),
            Token::Sign('|') => pipes(reader, before, behind, report),
            Token::Sign('<') if gets_line(before) => {
                if let Some(path) = constant(reader, behind) {
                    crate::programs::read_secret(call, report, &Arg::literal(path));
                }
            }
            // `$1 > "x"` compares; only a print writes.
            Token::Sign('>') if is_printed(before) => {
                let appends = matches!(before.last(), Some(Token::Sign('>')));
                let path =
                    constant(reader, behind).filter(|path| path != "/dev/stderr" && path != "/dev/stdout");
                // Only a whole name counts as input: `FILENAME`, `$1`.
                if path.is_none() && constant(reader, behind).is_none() && stands_alone(behind) {
                    report.changes_some(Access::Write);
                }
                if let Some(path) = path {
                    let access = if appends { Access::Append } else { Access::Write };
                    report.file(call, access, &Arg::literal(path), false);
                }
            }
            _ => {}
        }
    }
}

/// Variables that the words of the call set: `-v NAME=value`, `NAME=value` among the files.
pub(super) fn given(call: &Call<'_>) -> Vec<(String, Value)> {
    let set = |arg: &Arg| {
        let word = arg.known()?;
        let (name, value) = word.strip_prefix("-v").unwrap_or(word).split_once('=')?;
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        plain.then(|| (name.to_owned(), Value::text(value)))
    };
    call.args.iter().filter_map(set).collect()
}

fn is_word(token: Option<&Token>, wanted: &str) -> bool {
    matches!(token, Some(Token::Word(word)) if word == wanted)
}

/// The text that an expression at the start of these tokens stands for.
fn constant(reader: &Reader<'_, '_>, behind: &[Token]) -> Option<String> {
    let open = behind.iter().take_while(|token| **token == Token::Sign('(')).count();
    let (value, _) = reader.expression(behind.get(open..)?);
    value.known().map(str::to_owned)
}

/// Whether a name is one variable or field, with nothing put to it.
fn stands_alone(behind: &[Token]) -> bool {
    let part = |token: &&Token| !matches!(token, Token::Sign(';' | '}' | '\n'));
    let words = behind.iter().take_while(part);
    !words.clone().any(|token| matches!(token, Token::Text(..))) && words.count() > 0
}

/// `command | getline`.
fn runs(reader: &Reader<'_, '_>, before: &[Token], report: &mut Report) {
    let before = before.strip_suffix(&[Token::Sign(')')]).unwrap_or(before);
    let is_part = |token: &&Token| match token {
        Token::Text(..) | Token::Number(_) => true,
        Token::Word(word) => !matches!(word.as_str(), "while" | "if" | "print" | "return" | "BEGIN" | "END"),
        _ => false,
    };
    let from = before.len() - before.iter().rev().take_while(is_part).count();
    let parts = before.get(from..).unwrap_or_default();
    match constant(reader, parts) {
        Some(command) => report.then_shell(&Arg::literal(command), &[], "awk"),
        None if parts.is_empty() => {}
        None => report.opaque(OpaqueWhat::Code, "… | getline"),
    }
}

/// `print | command`, `print |& command`.
fn pipes(reader: &Reader<'_, '_>, before: &[Token], behind: &[Token], report: &mut Report) {
    let coprocess = behind.first() == Some(&Token::Sign('&'));
    let behind = if coprocess { behind.get(1..).unwrap_or_default() } else { behind };
    // `a || b`
    let doubled = [before.last(), behind.first()].contains(&Some(&Token::Sign('|')));
    if doubled || coprocess && is_word(behind.first(), "getline") {
        return;
    }
    let Some(command) = constant(reader, behind) else {
        if is_printed(before) && matches!(behind.first(), Some(Token::Word(_))) {
            report.opaque(OpaqueWhat::Code, "print | …");
        }
        return;
    };
    let shell = |word: &str| crate::programs::is_shell(word.rsplit('/').next().unwrap_or_default());
    // `sh`, `sudo sh`: what is printed is code. `sh -c cat` has its own.
    if command.split_whitespace().last().is_some_and(shell) {
        printed_code(before, report);
    } else {
        report.then_shell(&Arg::literal(command), &[], "awk");
    }
}

/// `getline < "file"`, `getline line < "file"`.
fn gets_line(before: &[Token]) -> bool {
    before.iter().rev().take(2).any(|token| matches!(token, Token::Word(word) if word == "getline"))
}

/// `print "text" | "sh"`: what is printed is run.
fn printed_code(before: &[Token], report: &mut Report) {
    let printed: Vec<&Token> = statement(before)
        .take_while(|token| !matches!(token, Token::Word(word) if word == "print"))
        .collect();
    match printed.as_slice() {
        [Token::Text(text, _)] => report.then_shell(&Arg::literal(text), &[], "awk"),
        _ => report.opaque(OpaqueWhat::Code, "print | sh"),
    }
}

/// The statement that these tokens end with, last token first.
fn statement(before: &[Token]) -> impl Iterator<Item = &Token> {
    before.iter().rev().take_while(|token| !matches!(token, Token::Sign(';' | '{' | '}' | '\n')))
}

/// Whether what comes next takes what is printed.
fn is_printed(before: &[Token]) -> bool {
    statement(before).any(|token| matches!(token, Token::Word(word) if word == "print" || word == "printf"))
}
