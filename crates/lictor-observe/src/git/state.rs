//! Whether git has everything that a file holds, read from the index without running git.
//!
//! Running git would run what the repository configures: filters, monitors, hooks. The index says enough: what git
//! last saw of each file, and which directories are as they were when a tree was last written.

mod index;

use sha1::{Digest as _, Sha1};

use crate::observer::{Observer, Stat};
use index::{Entry, Index};

/// Larger indexes are not looked at.
const INDEX_LIMIT: usize = 64 * 1024 * 1024;
/// Larger files are not compared by content.
const FILE_LIMIT: usize = 8 * 1024 * 1024;
/// The most files below a directory that are looked at.
const MOST_FILES: usize = 2_000;
/// The same for a whole work tree.
const MOST_FILES_OF_A_TREE: usize = 20_000;

/// Whether restoring `path` loses nothing: every file that git knows there is as it was committed or gone, or there is
/// nothing at all. `false` when that cannot be told.
pub(crate) fn holds_nothing_new(path: &str, observer: &dyn Observer) -> bool {
    looked_at(path, observer).unwrap_or(false)
}

/// The same of the whole work tree that a directory lies in.
pub(crate) fn tree_holds_nothing_new(directory: &str, observer: &dyn Observer) -> bool {
    let below = format!("{directory}/.");
    let Some(root) = repository_of(&below, observer) else { return false };
    let clean = |index: &Index, written: &Stat| {
        let mut entries = index.entries.iter();
        index.entries.len() <= MOST_FILES_OF_A_TREE
            && entries.all(|entry| {
                index.is_as_committed(&entry.name)
                    && is_unchanged(entry, &format!("{root}/{}", entry.name), written, observer)
            })
    };
    read_index(root, observer)
        .is_some_and(|(index, written)| !index.entries.is_empty() && clean(&index, &written))
}

/// The index of a work tree, and when it was written.
fn read_index(root: &str, observer: &dyn Observer) -> Option<(Index, Stat)> {
    let git_dir = super::directories(root, observer).pop()?;
    let file = format!("{git_dir}/index");
    let bytes = observer.bytes(&file, INDEX_LIMIT)?;
    Some((Index::read(&bytes)?, observer.stat(&file)?))
}

fn looked_at(path: &str, observer: &dyn Observer) -> Option<bool> {
    let root = repository_of(path, observer)?;
    let (index, written) = read_index(root, observer)?;
    let inside = path.strip_prefix(root)?.strip_prefix('/').filter(|inside| !inside.is_empty())?;
    let mut matched = 0;
    for entry in &index.entries {
        let name = entry.name.as_str();
        let fits = name.strip_prefix(inside).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if !fits {
            continue;
        }
        matched += 1;
        if matched > MOST_FILES || !index.is_as_committed(name) {
            return Some(false);
        }
        if !is_unchanged(entry, &format!("{root}/{name}"), &written, observer) {
            return Some(false);
        }
    }
    // A file that git does not know could be overwritten by one of another commit.
    Some(matched > 0 || observer.stat(path).is_none())
}

/// A file that git does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Untracked {
    /// It would be put aside and cleaned away.
    Seen,
    /// Only with `--all`.
    Ignored,
}

/// How git sees a file that it does not know; `None` where it knows it. What cannot be told is not known.
pub(crate) fn untracked(path: &str, observer: &dyn Observer) -> Option<Untracked> {
    let Some((root, inside)) = repository_of(path, observer)
        .and_then(|root| Some((root, path.strip_prefix(root)?.strip_prefix('/')?)))
    else {
        return Some(Untracked::Seen);
    };
    let Some(git_dir) = super::directories(root, observer).pop() else { return Some(Untracked::Seen) };
    let index = observer.bytes(&format!("{git_dir}/index"), INDEX_LIMIT);
    let known =
        index.and_then(|bytes| Some(Index::read(&bytes)?.entries.iter().any(|entry| entry.name == inside)));
    match known {
        Some(true) => None,
        _ if super::ignored::is_ignored(root, &git_dir, inside, observer) => Some(Untracked::Ignored),
        _ => Some(Untracked::Seen),
    }
}

/// The work tree that a path lies in.
fn repository_of<'a>(path: &'a str, observer: &dyn Observer) -> Option<&'a str> {
    let mut at = path;
    while let Some((parent, _)) = at.rsplit_once('/').filter(|(parent, _)| !parent.is_empty()) {
        if observer.look(&format!("{parent}/.git")) != crate::observer::Seen::Missing {
            return Some(parent);
        }
        at = parent;
    }
    None
}

fn is_unchanged(entry: &Entry, path: &str, index_written: &Stat, observer: &dyn Observer) -> bool {
    if !entry.is_plain_file {
        return false;
    }
    let Some(now) = observer.stat(path) else {
        // What is gone is not lost by being put back.
        return observer.look(path) == crate::observer::Seen::Missing;
    };
    // A file written in the same instant as the index may have changed after git looked.
    let settled = now.modified < index_written.modified;
    let as_seen = entry.size == now.size && entry.modified == now.modified && entry.changed == now.changed;
    (settled && as_seen) || same_content(entry, path, observer)
}

fn same_content(entry: &Entry, path: &str, observer: &dyn Observer) -> bool {
    let Some(bytes) = observer.bytes(path, FILE_LIMIT) else { return false };
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(&bytes);
    hash.finalize().as_slice() == entry.id
}

#[cfg(test)]
mod tests;
