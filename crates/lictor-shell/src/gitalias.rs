//! Git aliases that the line itself configures.

use crate::operand::Arg;

/// Name and text of the alias that `git config alias.NAME TEXT` sets.
pub(crate) fn configured(program: &str, args: &[Arg]) -> Option<(String, String)> {
    if program != "git" {
        return None;
    }
    let mut words =
        args.iter().map(|arg| arg.known().unwrap_or_default()).skip_while(|word| *word != "config").skip(1);
    let name = words.find_map(|word| word.strip_prefix("alias."))?;
    Some((name.to_owned(), words.next()?.to_owned()))
}
