//! Inputs of code: the words after it, and the names on its standard input. If code changes files with computed
//! names, the names can come from these.

use std::sync::Arc;

use lictor_core::facts::Access;

use super::listing;
use super::value::Value;
use crate::call::{Call, Report, Stdin};
use crate::operand::{Arg, Found};
use crate::programs::mentions;
use crate::reading::{Done, Mention};

/// How many lines of an input are treated as names.
const MOST: usize = 64;

/// Interpreter options that take code, by their last letter.
const CODE_LETTERS: [char; 7] = ['c', 'e', 'E', 'r', 'R', 'p', 'B'];

/// The words after the code: the values of `sys.argv[1:]`, `@ARGV` and similar.
pub(super) fn words<'a>(call: &Call<'a>) -> &'a [Arg] {
    let holds_code = |arg: &Arg| {
        let word = arg.known().unwrap_or_default();
        let short = word.len() <= 8 && word.starts_with('-') && !word.starts_with("--");
        short && word.ends_with(CODE_LETTERS) || matches!(word, "--eval" | "--print" | "--run")
    };
    let code = if call.program.ends_with("awk") {
        first_operand(call.args)
    } else {
        let mut at = call.args.iter().position(holds_code).map(|at| at + 1);
        // `perl -e CODE -e CODE file`
        while let Some(next) = at.filter(|at| call.args.get(at + 1).is_some_and(holds_code)) {
            at = Some(next + 2);
        }
        // `deno eval CODE file`
        at = at.or_else(|| call.args.first().and_then(|arg| (arg.known()? == "eval").then_some(1)));
        // `python3 - file`, `python3 x.py file`
        at.or_else(|| {
            call.args.iter().position(|arg| !arg.prefix().starts_with('-') || arg.known() == Some("-"))
        })
    };
    let behind = code.and_then(|at| call.args.get(at + 1..)).unwrap_or_default();
    match behind.split_first() {
        Some((first, rest)) if first.known() == Some("--") => rest,
        _ => behind,
    }
}

/// The position of awk's program.
fn first_operand(args: &[Arg]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = args.get(at).map(|arg| arg.known().unwrap_or_default()) {
        match word {
            "-v" | "-F" | "-f" => at += 2,
            word if word.starts_with('-') && word.len() > 1 => at += 1,
            _ => return Some(at),
        }
    }
    None
}

/// The argument list of code, after `front` values of its interpreter.
pub(super) fn list(call: &Call<'_>, front: &[&str]) -> Value {
    let own = front.iter().map(Value::text);
    Value::List(own.chain(words(call).iter().cloned().map(Value::Text)).collect())
}

fn mention(call: &Call<'_>, path: &str) -> Mention {
    Mention { done: Done::Changed, ..mentions::mention(call, path, false) }
}

/// Code that changes files with computed names: every name in its input may be one of them.
pub(super) fn judge(body: &str, call: &Call<'_>, report: &mut Report) {
    let Some(access) = report.computed.take() else { return };
    for word in words(call).iter().filter_map(Arg::known).filter(|word| mentions::is_path(word)).take(MOST) {
        report.mentions.push(mention(call, word));
    }
    match call.stdin {
        Stdin::Names(names) => names.iter().for_each(|name| report.file(call, access, name, false)),
        Stdin::Text(text) if text.trim() != body.trim() => {
            let lines = text.split(['\n', '\0']).map(str::trim).filter(|line| mentions::is_path(line));
            report.mentions.extend(lines.take(MOST).map(|line| mention(call, line)));
        }
        _ => {}
    }
    for (pattern, listed) in listing::of(body) {
        let found = Some(Arc::new(Found { listed, cwd: call.cwd.clone(), holding: None }));
        let files = Arg { glob: true, found, ..Arg::literal(pattern) };
        let access = if access == Access::Delete { access } else { Access::Modify };
        report.file(call, access, &files, false);
    }
}
