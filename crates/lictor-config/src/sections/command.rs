//! Programs that a policy runs.

use serde::{Deserialize, Serialize};

use super::section::{Section, value};
use crate::reader::{Fields, Reader};
use crate::table::{Key, PATHS, Shape, Table};
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

/// The default timeout of a program.
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

pub(crate) const READS: Key = Key::new(
    "reads",
    PATHS,
    "[Makefile, \"scripts/**\"]",
    "What of the project decides what the program does: files, globs, directories. `lictor trust` pins it with the program; \
     when it changes, a person has to look again.",
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
    /// The project files that determine what it does, to be pinned with it.
    pub reads: Vec<String>,
}

/// Reads a map that is nothing but a command.
pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree, table: &'static Table) -> Option<Command> {
    let f = r.fields(tree, table)?;
    of(r, &f)
}

/// The command that the fields `command`, `timeout` and `reads` give.
pub(crate) fn of(r: &mut Reader<'_>, f: &Fields<'_>) -> Option<Command> {
    let timeout = r.field(f, "timeout", Reader::duration);
    let reads = reads(r, f);
    let argv = r.field(f, "command", argv)?;
    Some(Command { argv, timeout: timeout.unwrap_or(DEFAULT_TIMEOUT), reads })
}

/// Refuses keys that only apply to programs beside an expression.
pub(crate) fn only_for_programs(r: &mut Reader<'_>, f: &Fields<'_>) {
    if let Some(place) = f.get("timeout") {
        r.error(place.span, "an expression has no timeout", "leave it out; its cost is bounded");
    }
    if let Some(place) = f.get("reads") {
        r.error(place.span, "an expression reads no files", "leave it out");
    }
}

/// The project files that a program reads.
pub(crate) fn reads(r: &mut Reader<'_>, f: &Fields<'_>) -> Vec<String> {
    r.field(f, "reads", Reader::paths).unwrap_or_default()
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
