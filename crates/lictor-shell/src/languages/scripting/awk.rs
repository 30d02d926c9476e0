//! What awk does with other programs and files.

use lictor_core::facts::{Access, OpaqueWhat};

use crate::call::{Call, Report};
use crate::languages::tokens::Token;
use crate::operand::Arg;

/// `print > "file"`, `print | "command"`, `"command" | getline`.
pub(super) fn judge(all: &[Token], call: &Call<'_>, report: &mut Report) {
    let held = |name: &str| {
        all.windows(3).find_map(|window| match window {
            [Token::Word(variable), Token::Sign('='), Token::Text(text, _)] if variable == name => Some(text),
            _ => None,
        })
    };
    for (at, window) in all.windows(2).enumerate() {
        match window {
            [Token::Word(name), Token::Sign('|')] if matches!(all.get(at + 2), Some(Token::Word(word)) if word == "getline") => {
                match held(name) {
                    Some(command) => report.then_shell(&Arg::literal(command), &[], "awk"),
                    None => report.opaque(OpaqueWhat::Code, name),
                }
            }
            [Token::Sign('|'), Token::Text(command, _)] | [Token::Sign('&'), Token::Text(command, _)]
                if at == 0
                    || matches!(window.first(), Some(Token::Sign('|')))
                    || matches!(all.get(at - 1), Some(Token::Sign('|'))) =>
            {
                let words: Vec<&str> = command.split_whitespace().collect();
                let shell =
                    |word: &&str| crate::programs::is_shell(word.rsplit('/').next().unwrap_or_default());
                // `sh`, `sudo sh`: what is printed is code. `sh -c cat` has its own.
                if words.last().is_some_and(shell) {
                    let coprocess = matches!(window.first(), Some(Token::Sign('&')));
                    let end = if coprocess { at.saturating_sub(1) } else { at };
                    printed_code(all.get(..end).unwrap_or_default(), report);
                } else {
                    report.then_shell(&Arg::literal(command), &[], "awk");
                }
            }
            [Token::Text(command, _), Token::Sign('|')] if matches!(all.get(at + 2), Some(Token::Word(word)) if word == "getline") =>
            {
                report.then_shell(&Arg::literal(command), &[], "awk");
            }
            [Token::Sign('<'), Token::Text(path, _)] if gets_line(all.get(..at).unwrap_or_default()) => {
                crate::programs::read_secret(call, report, &Arg::literal(path));
            }
            [Token::Sign('>'), Token::Text(path, _)] => {
                let appends = at > 0 && matches!(all.get(at - 1), Some(Token::Sign('>')));
                // `$1 > "x"` compares; only a print writes.
                let prints = is_printed(all.get(..at).unwrap_or_default());
                if prints && path != "/dev/stderr" && path != "/dev/stdout" {
                    report.file(
                        call,
                        if appends { Access::Append } else { Access::Write },
                        &Arg::literal(path),
                        false,
                    );
                }
            }
            [Token::Sign('|'), Token::Word(_)]
                if !matches!(all.get(at + 1), Some(Token::Word(word)) if word == "getline")
                    && at > 0
                    && !matches!(all.get(at - 1), Some(Token::Sign('|'))) =>
            {
                let doubled = matches!(all.get(at + 1), Some(Token::Sign('|')));
                let prints = is_printed(all.get(..at).unwrap_or_default());
                if prints && !doubled {
                    report.opaque(OpaqueWhat::Code, "print | …");
                }
            }
            _ => {}
        }
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
