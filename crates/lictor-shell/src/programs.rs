//! What the argument vector of each known program does.
//!
//! [`judge`] looks the program up by its base name and writes effects, what it runs in turn and what it prints
//! into a [`Report`]. The walker of the tree adds the `Run` effect itself.

use crate::call::{Call, Report};

/// Reports what one call does. An unknown program reports nothing and leaves `known_program` false.
pub fn judge(call: &Call<'_>, report: &mut Report) {
    let _ = (call, report);
}

/// The words for patterns like `bash("git push")`: the program, then its arguments without the options (and their
/// values) that may stand in front of a subcommand (`git -C dir push -f` → `git push -f`).
#[must_use]
pub fn words(call: &Call<'_>) -> Vec<String> {
    std::iter::once(call.program.to_owned()).chain(call.args.iter().map(|arg| arg.text.clone())).collect()
}
