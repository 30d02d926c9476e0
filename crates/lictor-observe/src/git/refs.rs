//! Branches and tags, and which commits they reach, read without running git.

use std::collections::{BTreeMap, BTreeSet};

use super::objects::{Id, Objects, id_of};
use super::{LIMIT, directories, state::repository_of};
use crate::observer::{Observer, Seen};

/// So many names of refs are read.
const MOST_REFS: usize = 2_000;
/// So many commits are followed from all refs together.
const MOST_COMMITS: usize = 500;
/// The most of a file of packed refs.
const PACKED: usize = 4 * 1024 * 1024;

/// The refs of a repository and their commits.
pub(crate) struct Refs<'a> {
    objects: Objects<'a>,
    observer: &'a dyn Observer,
    all: BTreeMap<String, Id>,
}

/// The directory with the branches of a directory's repository: for a linked work tree, the common directory.
pub(crate) fn common_directory(directory: &str, observer: &dyn Observer) -> Option<String> {
    let below = format!("{}/.", directory.trim_end_matches('/'));
    let directories = directories(repository_of(&below, observer)?, observer);
    directories.into_iter().find(|dir| observer.look(&format!("{dir}/refs/heads")) == Seen::Directory)
}

impl<'a> Refs<'a> {
    /// The refs below a directory. `None` when there are too many.
    pub(crate) fn of(git_dir: &'a str, observer: &'a dyn Observer) -> Option<Self> {
        let all = all(git_dir, observer)?;
        Some(Self { objects: Objects::of(git_dir, observer), observer, all })
    }

    /// The branch that is checked out in a work tree, and the last commit of it. A detached one has no branch.
    pub(crate) fn head(&self, directory: &str) -> Option<(Option<String>, Id)> {
        let below = format!("{}/.", directory.trim_end_matches('/'));
        let own = directories(repository_of(&below, self.observer)?, self.observer).pop()?;
        let head = self.observer.text(&format!("{own}/HEAD"), LIMIT)?;
        match head.trim().strip_prefix("ref: ") {
            Some(name) => Some((Some(name.to_owned()), *self.all.get(name)?)),
            None => Some((None, id_of(head.trim())?)),
        }
    }

    /// The commit of a plain name.
    pub(crate) fn named(&self, name: &str) -> Option<Id> {
        let places = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
        let found = places.iter().find_map(|place| self.all.get(&format!("{place}{name}")));
        found.copied().or_else(|| id_of(name))
    }

    /// Whether other branches, remote branches or tags than these reference the commits. Unreadable refs do not
    /// count.
    pub(crate) fn keep(&self, commits: &[Id], except: &dyn Fn(&str) -> bool) -> bool {
        let mut missing: BTreeSet<Id> = commits.iter().copied().collect();
        let mut pending: Vec<Id> =
            self.all.iter().filter(|(name, _)| !except(name)).map(|(_, id)| *id).collect();
        let mut seen = BTreeSet::new();
        missing.retain(|id| !pending.contains(id));
        while let Some(id) = pending.pop().filter(|_| !missing.is_empty() && seen.len() < MOST_COMMITS) {
            if seen.insert(id) {
                for parent in self.objects.parents(&id) {
                    missing.remove(&parent);
                    pending.push(parent);
                }
            }
        }
        missing.is_empty()
    }

    /// The entries of a directory in a commit.
    pub(crate) fn entries(&self, commit: &Id, directory: &str) -> Option<BTreeMap<String, Id>> {
        let mut tree = self.objects.tree_of(commit)?;
        for folder in directory.split('/').filter(|folder| !folder.is_empty()) {
            let entries = self.objects.tree(&tree)?;
            match entries.into_iter().find(|(name, _)| name == folder) {
                Some((_, below)) => tree = below,
                None => return Some(BTreeMap::new()),
            }
        }
        Some(self.objects.tree(&tree)?.into_iter().collect())
    }
}

/// Whether the commits of all these branches are kept by others.
pub(crate) fn are_kept_elsewhere(
    directory: &str,
    branches: &BTreeSet<&str>,
    observer: &dyn Observer,
) -> bool {
    let Some(git_dir) = common_directory(directory, observer) else { return false };
    let Some(refs) = Refs::of(&git_dir, observer) else { return false };
    let is_deleted =
        |name: &str| name.strip_prefix("refs/heads/").is_some_and(|name| branches.contains(name));
    let gone: Vec<Id> = refs.all.iter().filter(|(name, _)| is_deleted(name)).map(|(_, id)| *id).collect();
    gone.len() == branches.len() && refs.keep(&gone, &is_deleted)
}

/// Every ref below `refs` with its target; a loose ref overrides a packed one.
fn all(git_dir: &str, observer: &dyn Observer) -> Option<BTreeMap<String, Id>> {
    let mut refs = BTreeMap::new();
    for line in observer.text(&format!("{git_dir}/packed-refs"), PACKED).unwrap_or_default().lines() {
        if let Some((id, name)) = line.split_once(' ').and_then(|(id, name)| Some((id_of(id)?, name))) {
            refs.insert(name.to_owned(), id);
        }
    }
    let mut pending = vec!["refs/heads".to_owned(), "refs/remotes".to_owned(), "refs/tags".to_owned()];
    let mut seen = 0;
    while let Some(folder) = pending.pop() {
        let listing = observer.names(&format!("{git_dir}/{folder}"), MOST_REFS).unwrap_or_default();
        seen += listing.names.len();
        if listing.cut || seen > MOST_REFS {
            return None;
        }
        for name in listing.names {
            let name = format!("{folder}/{name}");
            match observer.look(&format!("{git_dir}/{name}")) {
                Seen::Directory => pending.push(name),
                _ => {
                    let text = observer.text(&format!("{git_dir}/{name}"), LIMIT).unwrap_or_default();
                    // `refs/remotes/origin/HEAD` is a symbolic ref.
                    if let Some(id) = id_of(text.trim()) {
                        refs.insert(name, id);
                    }
                }
            }
        }
    }
    Some(refs)
}

#[cfg(test)]
pub(crate) mod tests;
