//! Whether git ignores a file, by the repository's own `.gitignore` files and `info/exclude`.
//!
//! A person's global ignore file is not read: what only that one ignores counts as not ignored.

use fast_glob::glob_match;

use crate::observer::Observer;

/// Longer files are not read.
const LIMIT: usize = 256 * 1024;

/// Whether git leaves this file alone. `inside` is its path below the work tree's root.
pub(super) fn is_ignored(root: &str, git_dir: &str, inside: &str, observer: &dyn Observer) -> bool {
    let mut files = vec![(String::new(), format!("{git_dir}/info/exclude"))];
    let parents = inside.match_indices('/').map(|(at, _)| inside.get(..=at).unwrap_or_default());
    for directory in std::iter::once("").chain(parents) {
        files.push((directory.to_owned(), format!("{root}/{directory}.gitignore")));
    }
    let mut ignored = false;
    for (directory, file) in files {
        let Some(bytes) = observer.bytes(&file, LIMIT) else { continue };
        let below = inside.strip_prefix(&directory).unwrap_or(inside);
        for line in String::from_utf8_lossy(&bytes).lines() {
            let line = line.trim_end();
            let (wanted, pattern) = line.strip_prefix('!').map_or((true, line), |rest| (false, rest));
            if !pattern.is_empty() && !pattern.starts_with('#') && covers(pattern, below) {
                ignored = wanted;
            }
        }
    }
    ignored
}

/// Whether a pattern fits the path or a directory above it.
fn covers(pattern: &str, path: &str) -> bool {
    let directory_only = pattern.ends_with('/');
    let pattern = pattern.trim_end_matches('/');
    let anchored = pattern.trim_start_matches('/');
    let bound = pattern.contains('/');
    let ends = path.match_indices('/').map(|(at, _)| (at, true)).chain([(path.len(), false)]);
    ends.filter(|(_, is_directory)| *is_directory || !directory_only).any(|(end, _)| {
        let part = path.get(..end).unwrap_or_default();
        let name = part.rsplit('/').next().unwrap_or_default();
        glob_match(anchored, if bound { part } else { name })
    })
}

#[cfg(test)]
mod tests;
