//! Paths in code of unsupported languages: a secret that is named there counts as read, and a path that is named
//! where the code writes counts as written.

use lictor_core::facts::Access;

use crate::call::{Call, Report};
use crate::operand::Arg;
use crate::programs::is_secret_path;

/// Most paths of one body.
const MOST: usize = 64;
/// The distance around a path within which a write is searched.
const NEAR: usize = 48;
/// Words for writes in these languages, in lower case.
const WRITES: [&str; 14] = [
    "write", "output", "append", "\"w\"", "'w'", "\"a\"", " w]", " a]", "save", "dump", "copy", "cp(",
    "sink(", ">",
];

/// Java classes for writing, whatever their variable is called.
const WRITERS: [&str; 4] = ["FileWriter", "FileOutputStream", "PrintWriter", "Files.write"];

/// Reports what is done with the paths that a body names.
pub(super) fn judge(body: &str, call: &Call<'_>, report: &mut Report) {
    secrets(body, call, report);
    let writer = WRITERS.iter().any(|class| body.contains(class));
    for (at, path) in paths(body).take(MOST) {
        let arg = Arg::literal(path);
        if writer || writes_near(body, at, path.len()) {
            report.file(call, Access::Write, &arg, false);
        }
    }
}

/// Reports secrets that a body names: as paths, or by a quoted name (`".env"`).
pub(super) fn secrets(body: &str, call: &Call<'_>, report: &mut Report) {
    let named = body.split(['"', '\'']).skip(1).step_by(2).filter(|text| !text.contains(['/', ' ', '\n']));
    let named = named.filter(|text| crate::programs::is_environment_path(text) && is_secret_path(text));
    for path in paths(body).map(|(_, path)| path).filter(|path| is_secret_path(path)).chain(named).take(MOST)
    {
        report.file(call, Access::Read, &Arg::literal(path), false);
    }
}

/// Whether the statement around a path contains a write.
fn writes_near(body: &str, at: usize, length: usize) -> bool {
    let from = (at.saturating_sub(NEAR)..=at).find(|at| body.is_char_boundary(*at)).unwrap_or(at);
    let end = at.saturating_add(length).saturating_add(NEAR).min(body.len());
    let end = (end..=body.len()).find(|end| body.is_char_boundary(*end)).unwrap_or(body.len());
    let before = body.get(from..at).unwrap_or_default();
    let before = before.rsplit([';', '\n']).next().unwrap_or_default();
    let behind = body.get(at..end).unwrap_or_default();
    let behind = behind.split([';', '\n']).next().unwrap_or_default();
    let statement = format!("{before}{behind}").to_ascii_lowercase();
    WRITES.iter().any(|word| statement.contains(word))
}

/// Words that are absolute or home-relative paths, with their offsets.
fn paths(body: &str) -> impl Iterator<Item = (usize, &str)> {
    let ends = |letter: char| letter.is_whitespace() || "\"'`()[]{}<>,;|=".contains(letter);
    let mut at = 0;
    body.split(ends).filter_map(move |word| {
        let start = at;
        // A separator here is one byte, or white space.
        let behind = body.get(start + word.len()..).and_then(|rest| rest.chars().next());
        at = start + word.len() + behind.map_or(0, char::len_utf8);
        let absolute = word.starts_with('/') && !word.starts_with("//") || word.starts_with("~/");
        (absolute && word.len() > 2).then_some((start, word))
    })
}
