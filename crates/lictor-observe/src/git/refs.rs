//! Branches and tags, and which commits they reach, read without running git.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use super::{LIMIT, directories, state::repository_of};
use crate::observer::{Observer, Seen};

/// So many names of refs are read.
const MOST_REFS: usize = 2_000;
/// So many commits are followed from all refs together.
const MOST_COMMITS: usize = 500;
/// The longest commit that is unpacked.
const COMMIT: u64 = 64 * 1024;
/// The most of a file of packed refs.
const PACKED: usize = 4 * 1024 * 1024;

/// Whether the commits of all these branches are those of other branches, of remote branches or of tags. What cannot be
/// read, commits in packs among it, is not said to be kept.
pub(crate) fn are_kept_elsewhere(
    directory: &str,
    branches: &BTreeSet<&str>,
    observer: &dyn Observer,
) -> bool {
    let below = format!("{}/.", directory.trim_end_matches('/'));
    let git_dir = repository_of(&below, observer).map(|root| directories(root, observer));
    // Of a linked work tree, the branches are in the common directory.
    let Some(git_dir) = git_dir.and_then(|dirs| {
        dirs.into_iter().find(|dir| observer.look(&format!("{dir}/refs/heads")) == Seen::Directory)
    }) else {
        return false;
    };
    let Some(refs) = all(&git_dir, observer) else { return false };
    let is_deleted =
        |name: &str| name.strip_prefix("refs/heads/").is_some_and(|name| branches.contains(name));
    let (gone, kept): (Vec<_>, Vec<_>) = refs.iter().partition(|(name, _)| is_deleted(name));
    if gone.len() != branches.len() {
        return false;
    }
    let mut missing: BTreeSet<&str> = gone.into_iter().map(|(_, id)| id.as_str()).collect();
    let mut pending: Vec<String> = kept.into_iter().map(|(_, id)| id.clone()).collect();
    let mut seen = BTreeSet::new();
    missing.retain(|id| !pending.iter().any(|kept| kept == id));
    while let Some(id) = pending.pop().filter(|_| !missing.is_empty() && seen.len() < MOST_COMMITS) {
        if seen.insert(id.clone()) {
            for parent in parents(&git_dir, &id, observer) {
                missing.remove(parent.as_str());
                pending.push(parent);
            }
        }
    }
    missing.is_empty()
}

/// Every ref below `refs` with what it stands for; that of a file counts before a packed one.
fn all(git_dir: &str, observer: &dyn Observer) -> Option<BTreeMap<String, String>> {
    let mut refs = BTreeMap::new();
    for line in observer.text(&format!("{git_dir}/packed-refs"), PACKED).unwrap_or_default().lines() {
        if let Some((id, name)) = line.split_once(' ').filter(|(id, _)| is_id(id)) {
            refs.insert(name.to_owned(), id.to_owned());
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
                    // `refs/remotes/origin/HEAD` stands for another ref.
                    if let Some(id) = Some(text.trim()).filter(|id| is_id(id)) {
                        refs.insert(name, id.to_owned());
                    }
                }
            }
        }
    }
    Some(refs)
}

fn is_id(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The parents of a commit that is not in a pack; none when it cannot be read.
fn parents(git_dir: &str, id: &str, observer: &dyn Observer) -> Vec<String> {
    let Some((folder, file)) = id.split_at_checked(2) else { return Vec::new() };
    let Some(bytes) = observer.bytes(&format!("{git_dir}/objects/{folder}/{file}"), LIMIT) else {
        return Vec::new();
    };
    let mut text = Vec::new();
    if flate2::read::ZlibDecoder::new(bytes.as_slice()).take(COMMIT).read_to_end(&mut text).is_err() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&text);
    let Some((_, commit)) = text.split_once('\0').filter(|(head, _)| head.starts_with("commit ")) else {
        return Vec::new();
    };
    let head = commit.lines().take_while(|line| !line.is_empty());
    head.filter_map(|line| line.strip_prefix("parent ")).filter(|id| is_id(id)).map(str::to_owned).collect()
}

#[cfg(test)]
pub(crate) mod tests;
