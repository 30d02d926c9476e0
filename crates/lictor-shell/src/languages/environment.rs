//! Variables of the environment that code sets for what it starts: `os.environ["LD_PRELOAD"] = "x.so"`,
//! `process.env.BASH_ENV = "x"`, `$ENV{PERL5OPT} = "…"`.

use crate::call::Report;
use crate::operand::Arg;

/// What stands in front of the name of a variable.
const SINGLE: [&str; 10] = [
    "environ[",
    "environ.setdefault(",
    "putenv(",
    "setenv(",
    "process.env.",
    "process.env[",
    "ENV[",
    "ENV{",
    "environ.__setitem__(",
    "env[",
];
/// What stands in front of names with their values.
const SEVERAL: [&str; 5] = ["environ.update({", "env:{", "env: {", "execve(", "process.env,{"];
/// Most variables of one body.
const MOST: usize = 32;

/// Reports what such variables make programs run.
pub(super) fn judge(body: &str, report: &mut Report) {
    let named = SINGLE.iter().flat_map(|mark| body.match_indices(mark)).filter_map(|(at, mark)| {
        let (name, rest) = name_and_rest(body.get(at + mark.len()..)?)?;
        let value = rest.strip_prefix('=').filter(|rest| !rest.starts_with('=')).or(rest.strip_prefix(','))?;
        Some((name, value))
    });
    let listed = SEVERAL.iter().flat_map(|mark| body.match_indices(mark)).flat_map(|(at, mark)| {
        let inside = body.get(at + mark.len()..).unwrap_or_default();
        let inside = inside.split(['}', '\n']).next().unwrap_or_default();
        inside.split([',', '{']).filter_map(|pair| {
            let (name, rest) = name_and_rest(pair.trim_start())?;
            Some((name, rest.strip_prefix(':')?))
        })
    });
    for (name, value) in named.chain(listed).take(MOST) {
        if let Some(value) = quoted(value) {
            crate::programs::runs_by_variable(name, &Arg::literal(value), report);
        }
    }
}

/// A name, with or without quotes, and what follows it and its brackets.
fn name_and_rest(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(['"', '\'']);
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')?;
    let (name, rest) = text.split_at_checked(end)?;
    let rest = rest.trim_start_matches(['"', '\'', ']', '}', ' ']);
    (!name.is_empty() && name.bytes().any(|byte| byte.is_ascii_uppercase())).then_some((name, rest))
}

/// A string that starts here.
fn quoted(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let mark = text.chars().next().filter(|mark| matches!(mark, '"' | '\'' | '`'))?;
    text.get(1..)?.split(mark).next()
}
