//! The git notes that anchor the end of the record.

use super::Git;
use crate::operand::Arg;

/// The name of the ref of those notes.
const REF: &str = "notes/lictor";

/// Whether a command would change the notes that hold the record's anchor, by whatever means.
pub(super) fn of_record(git: &Git<'_, '_>, name: &str) -> bool {
    let named = |arg: &Arg| arg.prefix().contains(REF);
    match name {
        "notes" => !only_shows(git.args) && (is_told(git) || prunes(git.args)),
        // A refspec that writes into them, by its name or as one of all notes.
        "fetch" | "pull" | "push" => git.args.iter().any(|arg| {
            let target = arg.prefix().split_once(':').map(|(_, target)| target);
            target.is_some_and(|target| target.contains(REF) || target.contains("refs/notes/*"))
        }),
        "update-ref" | "symbolic-ref" => git.args.iter().any(named),
        _ => false,
    }
}

/// Whether `git notes` works on them: by its option, by a variable or by a setting.
fn is_told(git: &Git<'_, '_>) -> bool {
    let set = |name: &str, value: &Arg| {
        matches!(name, "GIT_NOTES_REF" | "GIT_NOTES_REWRITE_REF") && value.prefix().contains("lictor")
            || name.starts_with("GIT_CONFIG_VALUE_") && value.prefix().contains(REF)
    };
    git.args.iter().any(|arg| arg.prefix().contains("lictor"))
        || git.call.assignments.iter().any(|(name, value)| set(name, value))
}

/// Takes away notes of commits that are gone, in every list.
fn prunes(args: &[Arg]) -> bool {
    args.iter().any(|arg| arg.known() == Some("prune"))
        && !args.iter().any(|arg| matches!(arg.known(), Some("-n" | "--dry-run")))
}

fn only_shows(args: &[Arg]) -> bool {
    let mut words = args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-'));
    words.any(|word| matches!(word, "show" | "list" | "get-ref"))
}
