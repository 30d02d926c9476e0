//! Whether git has the whole content of a file, read from the index without running git.
//!
//! Running git would run what the repository configures: filters, monitors, hooks. The index is enough: it has
//! git's last view of each file, and which directories are unchanged since a tree was last written.

mod index;

use std::collections::{BTreeMap, BTreeSet};

use lictor_core::session::Blob;
use sha1::{Digest as _, Sha1};

use super::objects::Id;
use super::refs::{Refs, common_directory};
use crate::edits::OwnEdits;
use crate::observer::{Observer, Seen, Stat};
use index::{Entry, Index, Kind};

/// Larger indexes are not read.
const INDEX_LIMIT: usize = 64 * 1024 * 1024;
/// Larger files are not compared by content.
const FILE_LIMIT: usize = 8 * 1024 * 1024;
/// The maximum number of files below a directory that are checked.
const MOST_FILES: usize = 2_000;
/// The same for a whole work tree.
const MOST_FILES_OF_A_TREE: usize = 20_000;

/// The maximum number of files of a tree that are compared with the session's edits.
const MOST_OWN_EDITS: usize = 100;

/// Whether restoring `path` loses at most the session's own work: every tracked file there is as committed,
/// missing or changed by the session alone, or there is none. `false` when that cannot be determined.
pub(crate) fn holds_nothing_new(path: &str, observer: &dyn Observer, edits: &dyn OwnEdits) -> bool {
    looked_at(path, observer, edits).unwrap_or(false)
}

/// The same for the whole work tree of a directory.
pub(crate) fn tree_holds_nothing_new(directory: &str, observer: &dyn Observer, edits: &dyn OwnEdits) -> bool {
    let below = format!("{directory}/.");
    let Some(root) = repository_of(&below, observer) else { return false };
    let clean = |index: &Index, written: &Stat| {
        let mut committed = Committed::new(root, observer);
        let mut entries = index.entries.iter();
        let mut edited = 0;
        index.entries.len() <= MOST_FILES_OF_A_TREE
            && entries.all(|entry| {
                let path = format!("{root}/{}", entry.name);
                let mut own = || {
                    edited += 1;
                    edited <= MOST_OWN_EDITS && is_own_edit(entry, &path, observer, edits)
                };
                committed.has(index, entry) && (is_unchanged(entry, &path, written, observer) || own())
            })
    };
    read_index(root, observer)
        .is_some_and(|(index, written)| !index.entries.is_empty() && clean(&index, &written))
}

/// Whether every file of a work tree is tracked or ignored, except those in `apart`. `false` when that cannot be
/// determined.
pub(crate) fn has_only_known_files(
    directory: &str,
    observer: &dyn Observer,
    apart: &dyn Fn(&str) -> bool,
) -> bool {
    let below = format!("{directory}/.");
    let Some(root) = repository_of(&below, observer) else { return false };
    let (Some((index, _)), Some(git_dir)) =
        (read_index(root, observer), super::directories(root, observer).pop())
    else {
        return false;
    };
    let names: BTreeSet<&str> = index.entries.iter().map(|entry| entry.name.as_str()).collect();
    let folders: BTreeSet<&str> = names
        .iter()
        .flat_map(|name| name.match_indices('/').map(|(at, _)| name.get(..at).unwrap_or_default()))
        .collect();
    let mut pending = vec![String::new()];
    let mut seen = 0;
    while let Some(folder) = pending.pop() {
        let listing = observer.names(&format!("{root}/{folder}"), MOST_FILES_OF_A_TREE).unwrap_or_default();
        seen += listing.names.len();
        if listing.cut || seen > MOST_FILES_OF_A_TREE {
            return false;
        }
        for name in listing.names.into_iter().filter(|name| !(folder.is_empty() && name == ".git")) {
            let inside = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if folders.contains(inside.as_str()) {
                pending.push(inside);
                continue;
            }
            let ignored = |path: &str| super::ignored::is_ignored(root, &git_dir, path, observer);
            let path = format!("{root}/{inside}");
            if names.contains(inside.as_str()) {
                continue;
            }
            match observer.look(&path) {
                Seen::Directory if ignored(&format!("{inside}/.")) => {}
                Seen::Directory => pending.push(inside),
                _ if ignored(&inside) || apart(&path) => {}
                _ => return false,
            }
        }
    }
    true
}

/// The work trees of other repositories that the index names.
pub(crate) fn submodules(directory: &str, observer: &dyn Observer) -> Option<Vec<String>> {
    let below = format!("{directory}/.");
    let root = repository_of(&below, observer)?;
    let (index, _) = read_index(root, observer)?;
    let entries = index.entries.iter().filter(|entry| entry.kind == Kind::Submodule);
    Some(entries.map(|entry| format!("{root}/{}", entry.name)).collect())
}

/// The last commit of a work tree: what it has of directories in which something was staged since.
struct Committed<'a> {
    root: &'a str,
    observer: &'a dyn Observer,
    directories: BTreeMap<String, Option<BTreeMap<String, Id>>>,
}

impl<'a> Committed<'a> {
    fn new(root: &'a str, observer: &'a dyn Observer) -> Self {
        Self { root, observer, directories: BTreeMap::new() }
    }

    /// Whether an entry of the index is what was last committed.
    fn has(&mut self, index: &Index, entry: &Entry) -> bool {
        let (directory, name) = entry.name.rsplit_once('/').unwrap_or(("", &entry.name));
        if index.is_as_written(directory) {
            return true;
        }
        if !self.directories.contains_key(directory) {
            self.directories.insert(directory.to_owned(), self.look(directory));
        }
        self.directories.get(directory).is_some_and(|entries| {
            entries.as_ref().is_some_and(|entries| entries.get(name) == Some(&entry.id))
        })
    }

    fn look(&self, directory: &str) -> Option<BTreeMap<String, Id>> {
        let git_dir = common_directory(self.root, self.observer)?;
        let refs = Refs::of(&git_dir, self.observer)?;
        let (_, head) = refs.head(self.root)?;
        refs.entries(&head, directory)
    }
}

/// The index of a work tree, and when it was written.
fn read_index(root: &str, observer: &dyn Observer) -> Option<(Index, Stat)> {
    let git_dir = super::directories(root, observer).pop()?;
    let file = format!("{git_dir}/index");
    let bytes = observer.bytes(&file, INDEX_LIMIT)?;
    Some((Index::read(&bytes)?, observer.stat(&file)?))
}

fn looked_at(path: &str, observer: &dyn Observer, edits: &dyn OwnEdits) -> Option<bool> {
    let root = repository_of(path, observer)?;
    let (index, written) = read_index(root, observer)?;
    let inside = path.strip_prefix(root)?.strip_prefix('/').filter(|inside| !inside.is_empty())?;
    let mut committed = Committed::new(root, observer);
    let mut matched = 0;
    for entry in &index.entries {
        let name = entry.name.as_str();
        let fits = name.strip_prefix(inside).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if !fits {
            continue;
        }
        matched += 1;
        if matched > MOST_FILES || !committed.has(&index, entry) {
            return Some(false);
        }
        let path = format!("{root}/{name}");
        if !is_unchanged(entry, &path, &written, observer) && !is_own_edit(entry, &path, observer, edits) {
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

/// The state of an untracked file; `None` for a tracked one. If it cannot be determined, the file counts as
/// untracked.
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

/// The work tree of a path.
pub(crate) fn repository_of<'a>(path: &'a str, observer: &dyn Observer) -> Option<&'a str> {
    let mut at = path;
    while let Some((parent, _)) = at.rsplit_once('/').filter(|(parent, _)| !parent.is_empty()) {
        if observer.look(&format!("{parent}/.git")) != Seen::Missing {
            return Some(parent);
        }
        at = parent;
    }
    None
}

fn is_unchanged(entry: &Entry, path: &str, index_written: &Stat, observer: &dyn Observer) -> bool {
    match entry.kind {
        Kind::File => {}
        Kind::Link => {
            let same = |to: String| blob_of(to.as_bytes()) == Blob::from_bytes(entry.id);
            return observer.link(path).map_or(observer.look(path) == Seen::Missing, same);
        }
        // Its files are its own repository's.
        Kind::Submodule => return true,
        Kind::Unsettled => return false,
    }
    let Some(now) = observer.stat(path) else {
        // Restoring a missing file loses nothing.
        return observer.look(path) == Seen::Missing;
    };
    // A file written in the same instant as the index may have changed after git looked.
    let settled = now.modified < index_written.modified;
    let as_seen = entry.size == now.size && entry.modified == now.modified && entry.changed == now.changed;
    (settled && as_seen) || same_content(entry, path, observer)
}

fn same_content(entry: &Entry, path: &str, observer: &dyn Observer) -> bool {
    blob(path, FILE_LIMIT, observer) == Some(Blob::from_bytes(entry.id))
}

/// Whether only the session has changed a file since git's version.
fn is_own_edit(entry: &Entry, path: &str, observer: &dyn Observer, edits: &dyn OwnEdits) -> bool {
    let contents = edits.contents(path);
    let (Some(first), Some(last)) = (contents.first(), contents.last()) else { return false };
    let known = *first == Blob::MISSING || contents.contains(&Blob::from_bytes(entry.id));
    entry.kind == Kind::File && known && blob(path, FILE_LIMIT, observer) == Some(*last)
}

/// The git blob id of a file's content. `None` when it cannot be determined, or the file is longer than `limit`.
pub(crate) fn blob(path: &str, limit: usize, observer: &dyn Observer) -> Option<Blob> {
    // For git, a link's target path is its content.
    if !matches!(observer.look(path), Seen::File { .. }) {
        return None;
    }
    Some(blob_of(&observer.bytes(path, limit)?))
}

fn blob_of(bytes: &[u8]) -> Blob {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    Blob::from_bytes(hash.finalize().into())
}

#[cfg(test)]
mod tests;
