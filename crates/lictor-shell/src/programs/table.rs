//! The shipped descriptions, by name: compiled from `programs/*.yaml`.

mod slots;

use std::borrow::Cow;

use crate::call::{Call, Report};
use crate::describe::*;

/// A function for what a description cannot express. Its call has the words after the pattern of the rule.
pub(super) type Function = fn(&Call<'_>, &mut Report);

/// One description.
pub(crate) struct Entry {
    /// Its file.
    pub(crate) family: Family,
    /// The description of the program.
    pub(crate) program: Program,
}

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// The description of a program, by its exact name.
///
/// `mkfs.*` stands for every name with that start and a dot, `<agent>` for every program that starts an agent.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    let at = entry_of(name)
        .or_else(|| entry_of(&format!("{}.*", name.split_once('.')?.0)))
        .or_else(|| entry_of(lictor_agents::launch::by_program(name).map(|_| "<agent>")?))?;
    ENTRIES.get(at)
}

/// Whether something is true of every call of a program, by its exact name.
pub(crate) fn is(name: &str, wanted: Trait) -> bool {
    entry_of(name)
        .and_then(|at| ENTRIES.get(at))
        .is_some_and(|entry| entry.program.traits.with(wanted) == entry.program.traits)
}

/// The number of the entry with that name.
fn entry_of(name: &str) -> Option<usize> {
    for slot in slots::of(name) {
        // A free slot ends the search; the others contain the number of a name, counted from one.
        let number = usize::from(*SLOTS.get(slot)?).checked_sub(1)?;
        match NAMES.get(number) {
            Some((known, entry)) if *known == name => return Some(*entry),
            _ => {}
        }
    }
    None
}

/// Runs the function of a number.
pub(super) fn run(number: u16, call: &Call<'_>, report: &mut Report) {
    if let Some(function) = FUNCTIONS.get(usize::from(number)) {
        function(call, report);
    }
}

#[cfg(test)]
mod tests;
