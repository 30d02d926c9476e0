//! Languages without their own table: calls that run or delete something, with literal arguments.
//!
//! The same function names are used in nearly all of them (`system("…")`, `exec.Command("rm", …)`,
//! `remove_dir_all("…")`).

use std::collections::BTreeMap;

use lictor_core::facts::Access;

use super::tokens::{Syntax, Token, tokens};
use crate::call::{Call, Report};
use crate::operand::Arg;

/// More tokens than this are not read.
const MOST: usize = 50_000;
/// Most words of one call.
const MOST_WORDS: usize = 64;

/// The effect of a call on its arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    /// Runs one text by a shell, or several as words.
    Run,
    /// Deletes what they name.
    Delete,
}

/// The effect of a name, by its last part.
fn act(name: &str) -> Option<Act> {
    let last = name.rsplit(['.', ':']).next().unwrap_or(name);
    Some(match last {
        "system" | "system2" | "shell" | "popen" | "exec" | "cmd" | "spawn" | "execute" | "execl"
        | "execlp" | "execv" | "execvp" | "program" | "command" | "ProcessBuilder" | "run" => Act::Run,
        "Command" | "CommandContext" if name.contains('.') => Act::Run,
        "new" if name.ends_with("Command::new") => Act::Run,
        "removeDirectoryRecursive"
        | "removePathForcibly"
        | "delete_if_exists"
        | "RemoveAll"
        | "remove_dir_all"
        | "remove_dir"
        | "remove_file"
        | "unlink"
        | "rm_rf"
        | "rm_r"
        | "removeDir"
        | "removeItem"
        | "rmtree"
        | "rmdir"
        | "rm"
        | "deleteDirectory" => Act::Delete,
        "Remove" if name == "os.Remove" => Act::Delete,
        "all" if name.ends_with("remove.all") => Act::Delete,
        _ => return None,
    })
}

/// Reports what the calls of a body do. Returns whether a dangerous word remains that no call explains.
pub(super) fn judge(body: &str, call: &Call<'_>, report: &mut Report) -> bool {
    let syntax = Syntax {
        hash_comment: !body.contains("#include"),
        slash_comment: false,
        dash_comment: false,
        backticks: call.program == "julia",
        perl_quotes: false,
        ruby_quotes: false,
        patterns: false,
    };
    let Some(all) = tokens(body, syntax, MOST) else { return true };
    let named = named(&all);
    let mut unexplained = false;
    for (at, token) in all.iter().enumerate() {
        let rest = all.get(at + 1..).unwrap_or_default();
        match token {
            // `"rm -rf x".!`, `execShellCmd("rm -rf x")`: a command in quotes that nothing prints is meant to be run.
            Token::Text(text, _) if is_command(text) && !is_printed(all.get(..at).unwrap_or_default()) => {
                report.then_shell(&Arg::literal(text), &[], call.program);
            }
            Token::Command(text) => report.then_shell(&Arg::literal(text), &[], call.program),
            Token::Word(name) => {
                let explained = match act(name) {
                    // `"rm -rf x".execute()`, `File("x").deleteRecursively()`: the text comes before.
                    _ if matches!(
                        name.rsplit('.').next(),
                        Some("execute" | "deleteRecursively" | "deleteSync" | "deleteDir" | "bang")
                    ) =>
                    {
                        match in_front(all.get(..at).unwrap_or_default(), name).as_deref() {
                            Some(path) if !name.ends_with("execute") && !name.ends_with("bang") => {
                                report.file(call, Access::Delete, &Arg::literal(path), true);
                                true
                            }
                            Some(text) => {
                                report.then_shell(&Arg::literal(text), &[], call.program);
                                true
                            }
                            None => perform(Act::Run, name, rest, &named, call, report),
                        }
                    }
                    Some(act) => perform(act, name, rest, &named, call, report),
                    None => !super::broken::is_danger(name),
                };
                unexplained |= !explained;
            }
            _ => {}
        }
    }
    unexplained
}

/// Whether a text starts like a command that destroys or runs others.
fn is_command(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words.next().is_some_and(crate::programs::is_run_by_wrappers) && words.next().is_some()
}

/// Whether the statement up to here prints, or asks whether something is so.
fn is_printed(before: &[Token]) -> bool {
    let statement = before
        .iter()
        .rev()
        .take(16)
        .take_while(|token| !matches!(token, Token::Sign(';' | '\n' | '{' | '}')));
    let mut words = statement.filter_map(|token| match token {
        Token::Word(word) => Some(word.rsplit(['.', ':']).next().unwrap_or(word)),
        _ => None,
    });
    words.any(|word| {
        let lower = word.to_ascii_lowercase();
        [
            "print", "puts", "say", "echo", "display", "write", "cat", "message", "format", "log", "inspect",
            "warn", "error",
        ]
        .iter()
        .any(|printer| lower.starts_with(printer) || lower.ends_with(printer))
    })
}

/// The text before a call. The parts of a path are joined: `File("~", "x").deleteDir()`.
fn in_front(before: &[Token], name: &str) -> Option<String> {
    let parts: Vec<&str> = before.iter().rev().take(6).filter_map(text).collect();
    let nearest = parts.first()?;
    let root = parts.iter().position(|part| part.starts_with(['~', '/'])).filter(|_| name.contains("elete"));
    match root {
        Some(root) => {
            let path: Vec<&str> = parts.get(..=root).unwrap_or_default().iter().rev().copied().collect();
            Some(path.join("/").replace("//", "/"))
        }
        None => Some((*nearest).to_owned()),
    }
}

fn text(token: &Token) -> Option<&str> {
    match token {
        Token::Text(text, _) => Some(text),
        _ => None,
    }
}

/// Names bound to a text: `h, _ := "~"`, `let h = "~"`, `d := filepath.Join(h, "x")`. The last text counts.
fn named(all: &[Token]) -> BTreeMap<&str, String> {
    let mut named: BTreeMap<&str, String> = BTreeMap::new();
    for (at, token) in all.iter().enumerate() {
        let (Token::Sign('='), Some(behind)) = (token, all.get(at + 1..)) else { continue };
        // `==`, `=>`.
        if matches!(behind.first(), Some(Token::Sign('=' | '>'))) {
            continue;
        }
        let front = all.get(..at).unwrap_or_default();
        let front = front.strip_suffix(&[Token::Sign(':')]).unwrap_or(front);
        // `h, err :=`: what may go wrong comes second.
        let name = match front {
            [.., Token::Word(name), Token::Sign(','), Token::Word(_)] | [.., Token::Word(name)] => name,
            _ => continue,
        };
        let statement =
            behind.iter().take(MOST_WORDS).position(|token| matches!(token, Token::Sign(';' | '\n')));
        let statement = behind.get(..statement.unwrap_or(behind.len().min(MOST_WORDS))).unwrap_or_default();
        let mut texts = Texts { named: &named, found: Vec::new(), joins: false };
        for (at, token) in statement.iter().enumerate() {
            texts.take(token, statement.get(..at));
        }
        if let [only] = texts.found.as_slice() {
            let only = only.clone();
            named.insert(name, only);
        }
    }
    named
}

/// Texts among the tokens of a call, with names replaced by their values and parts of paths joined.
struct Texts<'t> {
    named: &'t BTreeMap<&'t str, String>,
    found: Vec<String>,
    /// What comes next is a part of the path before.
    joins: bool,
}

impl Texts<'_> {
    /// Adds a token. Returns whether it is an unknown word.
    fn take(&mut self, token: &Token, before: Option<&[Token]>) -> bool {
        let adds = matches!(before, Some([.., Token::Sign('+')]));
        // `getHomeDir() / "x"`
        let slash = matches!(before, Some([.., Token::Sign('/')]));
        match token {
            Token::Text(text, _) => {
                let mut text = text.clone();
                for (name, value) in self.named {
                    text = text.replace(&format!("{{{name}}}"), value);
                }
                self.put(&text, adds, slash);
                false
            }
            Token::Word(word) => {
                let (owner, function) = word.rsplit_once(['.', ':']).unwrap_or(("", word));
                let owner = owner.trim_end_matches(':');
                let joins = crate::words::CODE_JOINS.contains(&function);
                let value = self.named.get(word.as_str()).or_else(|| self.named.get(owner));
                match value.cloned() {
                    Some(value) => self.put(&value, adds, slash),
                    None if !joins => return true,
                    None => {}
                }
                self.joins |= joins;
                false
            }
            _ => false,
        }
    }

    fn put(&mut self, text: &str, adds: bool, slash: bool) {
        let room = self.found.len() < MOST_WORDS;
        match self.found.last_mut() {
            // `format!("{}/x", h)`, `Sprintf("%s/x", h)`
            Some(last) if last.contains("{}") => *last = last.replacen("{}", text, 1),
            Some(last) if last.contains("%s") => *last = last.replacen("%s", text, 1),
            Some(last) if adds => last.push_str(text),
            Some(last) if (self.joins || slash) && !text.starts_with(['/', '~']) => {
                *last = format!("{}/{text}", last.trim_end_matches('/'));
            }
            _ if room => self.found.push(text.to_owned()),
            _ => {}
        }
    }
}

/// Performs a call with its literal arguments. `false` when its effect cannot be determined from them.
fn perform(
    act: Act,
    name: &str,
    rest: &[Token],
    named: &BTreeMap<&str, String>,
    call: &Call<'_>,
    report: &mut Report,
) -> bool {
    let rest = match rest {
        [Token::Sign('!' | '?'), rest @ ..] => rest,
        rest => rest,
    };
    let mut depth = 0_u32;
    let mut texts = Texts { named, found: Vec::new(), joins: false };
    let mut certain = true;
    let chained = name.ends_with("::new");
    for (at, token) in rest.iter().enumerate().take(MOST_WORDS * 4) {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 && !chained {
                    break;
                }
            }
            Token::Sign(';') => break,
            Token::Sign('\n') if depth == 0 && !chained => break,
            Token::Text(..) => _ = texts.take(token, rest.get(..at)),
            // `paste("rm", x)`: what is put together is not known. `c("a", "b")` and names of options are.
            Token::Word(word) => {
                let unknown = texts.take(token, rest.get(..at));
                certain &= !unknown || chained || crate::words::CALL_OPTIONS.contains(&word.as_str());
            }
            Token::Number(_) | Token::Sign(_) | Token::Command(_) => {}
        }
        if depth == 0
            && texts.found.len() == 1
            && !matches!(token, Token::Sign('('))
            && !chained
            && act == Act::Delete
        {
            break;
        }
    }
    let literal: Vec<&str> = texts.found.iter().map(String::as_str).collect();
    let Some((first, more)) = literal.split_first() else {
        // A mention without arguments (`import "os/exec"`, `run(`…`)`) runs nothing by itself.
        return act == Act::Run
            && matches!(name, "run" | "exec" | "execute" | "cmd" | "shell" | "spawn")
            && certain;
    };
    match act {
        Act::Delete => {
            literal.iter().for_each(|path| report.file(call, Access::Delete, &Arg::literal(*path), true))
        }
        Act::Run if more.is_empty() => report.then_shell(&Arg::literal(*first), &[], call.program),
        Act::Run => {
            // `execl("/bin/rm", "rm", …)` names the program twice.
            let twice = name.starts_with("exec") && first.rsplit('/').next() == more.first().copied();
            let words = if twice { more } else { literal.as_slice() };
            // `system2("rm", "-rf ~")` has several words in one text.
            let argv: Vec<Arg> = words.iter().map(|word| Arg::literal(*word)).collect();
            if words.iter().any(|word| word.contains(' ')) && !words.contains(&"-c") {
                report.then_shell(&Arg::literal(words.join(" ")), &[], call.program);
            } else {
                report.then_argv(&argv, call.program);
            }
        }
    }
    certain
}

/// Tcl has no quotes to speak of: `exec rm -rf x` runs the words of the line or bracket.
pub(super) fn tcl(body: &str, call: &Call<'_>, report: &mut Report) {
    for command in body.split(['\n', ';', '[', ']']).map(str::trim) {
        let mut words = command.split_whitespace();
        match (words.next(), words.next()) {
            (Some("exec"), Some(_)) => {
                let text = command.get(4..).unwrap_or_default().trim().trim_start_matches("-ignorestderr");
                report.then_shell(&Arg::literal(text.trim_start_matches("-- ")), &[], call.program);
            }
            (Some("file"), Some("delete")) => {
                for path in words.filter(|word| !word.starts_with('-')) {
                    report.file(call, Access::Delete, &Arg::literal(path.trim_matches('"')), true);
                }
            }
            (Some("eval" | "source" | "open"), Some(rest)) if rest.starts_with(['$', '"', '{', '|']) => {
                super::broken::judge(body, report);
            }
            _ => {}
        }
    }
}
