//! The option syntax of git's commands, from their descriptions.

use super::super::options::{Grammar, Spelling};
use super::super::table;

/// Options in front of the command.
pub(crate) fn global() -> Grammar {
    described("git").unwrap_or(Grammar::until_operand("", ""))
}

/// The options of a command. Those that are not described are read like a merge.
pub(super) fn of(command: &str) -> Grammar {
    described(&format!("git-{command}"))
        .or_else(|| described("git-merge"))
        .unwrap_or(Grammar::anywhere("", ""))
}

fn described(name: &str) -> Option<Grammar> {
    table::find(name).map(|entry| Spelling::of(&entry.program.options))
}
