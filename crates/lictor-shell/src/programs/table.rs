//! The descriptions that are shipped, by name: compiled from `programs/*.yaml`.

use std::borrow::Cow;

use crate::call::{Call, Report};
use crate::describe::*;

/// A function for what a description cannot say. Its call has the words behind the pattern of the rule.
pub(super) type Function = fn(&Call<'_>, &mut Report);

/// One description.
pub(crate) struct Entry {
    /// The file it stands in.
    pub(crate) family: Family,
    /// What the program does.
    pub(crate) program: Program,
}

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// The description of a program, by its exact name.
///
/// `mkfs.*` stands for every name with that start and a dot, `<agent>` for every program that starts an agent.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    let at = |name: &str| NAMES.binary_search_by(|(known, _)| (*known).cmp(name)).ok();
    let at = at(name)
        .or_else(|| at(&format!("{}.*", name.split_once('.')?.0)))
        .or_else(|| at(lictor_agents::launch::by_program(name).map(|_| "<agent>")?))?;
    let (_, entry) = NAMES.get(at)?;
    ENTRIES.get(*entry)
}

/// Runs the function of a number.
pub(super) fn run(number: u16, call: &Call<'_>, report: &mut Report) {
    if let Some(function) = FUNCTIONS.get(usize::from(number)) {
        function(call, report);
    }
}

#[cfg(test)]
mod tests;
