//! Files that words name with a prefix: `@file`, `field=@file`, `file://file`.

use super::secrets;
use crate::call::{Call, Report};
use crate::operand::Arg;

/// The path after the prefix of a word. Text that only mentions a file sends nothing.
fn path(word: &str) -> Option<&str> {
    let (front, path) = word.split_once('@')?;
    let field = front.strip_suffix('=').unwrap_or(front);
    field.chars().all(|letter| letter.is_alphanumeric() || "_-[]".contains(letter)).then_some(path)
}

/// The files that words name with a prefix.
pub(crate) fn at(call: &Call<'_>) -> Vec<Arg> {
    let words = call.args.iter().filter_map(Arg::known);
    words.filter_map(|word| path(word).or_else(|| word.strip_prefix("file://"))).map(Arg::literal).collect()
}

/// Reports secrets that are the whole value of a word: `@x`, `file://x`, `--body=file://x`. Tools use these
/// prefixes for the content of a file.
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
