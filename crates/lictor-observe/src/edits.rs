//! Files that a session edits: their contents, and their earlier contents in the session.

use lictor_core::facts::{Access, Effect, Existence, Place};
use lictor_core::session::{Blob, FileState};
use lictor_core::{Action, ActionKind, Facts};

use crate::git;
use crate::observer::Observer;

/// Larger files are not read: every edit of them would be slow.
const MOST_BYTES: usize = 1024 * 1024;
/// The maximum number of files per edit; further ones are ignored.
const MOST_FILES: usize = 32;

/// A session's own edits.
pub trait OwnEdits: Send + Sync {
    /// The contents of a file that only the session has changed since the first of them, newest last.
    fn contents(&self, path: &str) -> Vec<Blob>;
}

/// No session, or one of which nothing is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEdits;

impl OwnEdits for NoEdits {
    fn contents(&self, _: &str) -> Vec<Blob> {
        Vec::new()
    }
}

/// The current contents of project files that a tool edits, as far as version control can restore them. Files
/// that a command changes are not tracked: it may take long, and other processes may change them meanwhile.
#[must_use]
pub fn edited(action: &Action, facts: &Facts, observer: &dyn Observer) -> Vec<FileState> {
    if action.kind != ActionKind::Write {
        return Vec::new();
    }
    let edits = facts.effects.iter().filter_map(|effect| match effect {
        Effect::File { access, target, recursive: false, .. } if changes(*access) => Some(target),
        _ => None,
    });
    let known = edits.filter(|place| is_known_file(place)).take(MOST_FILES);
    known
        .filter(|place| git::repository_of(&place.path, observer).is_some())
        .map(|place| FileState {
            content: match place.existence {
                Existence::Missing => Some(Blob::MISSING),
                _ => git::blob(&place.path, MOST_BYTES, observer),
            },
            path: place.path.clone(),
        })
        .collect()
}

fn changes(access: Access) -> bool {
    matches!(access, Access::Write | Access::Modify | Access::Append | Access::Empty)
}

/// A file under its own name: for a link, git would restore the link.
fn is_known_file(place: &Place) -> bool {
    let file = matches!(place.existence, Existence::File | Existence::EmptyFile | Existence::Missing);
    file && place.in_project.is_some() && place.real.is_none() && !place.glob && !place.malformed
}

#[cfg(test)]
mod tests;
