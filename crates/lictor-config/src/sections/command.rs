//! Programs that a policy runs.

use serde::{Deserialize, Serialize};

use super::section::{Section, value};
use crate::reader::{Fields, Reader};
use crate::table::{Key, Shape, Table};
use crate::yaml::{Tree, Yaml};

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "notify",
        Shape::Fields(&NOTIFY),
        "{command: [notify-send]}",
        "A program that is told about questions and blocks.",
    )
    .trusted()],
    read: |r, file, said| said.notify = value(r, file, "notify", |r, tree| read(r, tree, &NOTIFY)),
    guards: &[],
};

/// How long a program may take when nobody says.
const DEFAULT_TIMEOUT: u64 = 4_000;

pub(crate) const COMMAND: Key = Key::new(
    "command",
    Shape::Argv,
    "[scripts/check.sh]",
    "The program and its arguments. No shell. A relative path is taken from the project's root. It gets the call as \
     JSON on standard input.",
);
pub(crate) const TIMEOUT: Key = Key::new(
    "timeout",
    Shape::Duration,
    "2s",
    "How long it may take; then its whole process group is ended and the answer is an error. 4s when it is not said.",
);

pub(crate) static NOTIFY: Table = Table {
    name: "notify",
    about: "A program that gets the question or block as JSON on standard input. What it answers is ignored.",
    keys: &[COMMAND.required(), TIMEOUT],
};

/// A program, its arguments, and how long it may take.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Command {
    /// The program and its arguments. Never empty.
    pub argv: Vec<String>,
    /// In milliseconds.
    pub timeout: u64,
}

/// Reads a map that is nothing but a command.
pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree, table: &'static Table) -> Option<Command> {
    let f = r.fields(tree, table)?;
    of(r, &f)
}

/// The command that the fields `command` and `timeout` give.
pub(crate) fn of(r: &mut Reader<'_>, f: &Fields<'_>) -> Option<Command> {
    let timeout = r.field(f, "timeout", Reader::duration);
    let argv = r.field(f, "command", argv)?;
    Some(Command { argv, timeout: timeout.unwrap_or(DEFAULT_TIMEOUT) })
}

/// A program and its arguments.
pub(crate) fn argv(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<Vec<String>> {
    if let Yaml::Scalar { text, .. } = &tree.value
        && text.split_whitespace().count() > 1
    {
        let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || " ./_-=:".contains(c));
        let list = text.split_whitespace().collect::<Vec<_>>().join(", ");
        let list = if plain { list } else { "program, argument, …".to_owned() };
        let message = format!("{what} is run without a shell, so it is a list of words");
        r.error(tree.span, message, format!("write `[{list}]`"));
        return None;
    }
    let words = r.each(tree, what, Reader::text)?;
    if words.first().is_none_or(|program| program.trim().is_empty()) {
        r.error(tree.span, format!("{what} names no program"), "for example `[scripts/check.sh]`");
        return None;
    }
    Some(words)
}
