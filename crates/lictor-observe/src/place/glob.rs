//! Globs: the fixed part, how much the rest matches, and the relevant matches.

use lictor_core::facts::{Access, Place};
use lictor_shell::Listed;

use super::Looker;
use crate::git;
use crate::observer::Seen;

/// The maximum number of entries that are checked for one operand.
const MAX_ENTRIES: usize = 4096;
/// How deep a tree is searched.
const MAX_DEPTH: usize = 6;
/// How many matches are reported for one operand.
const MAX_MATCHES: usize = 64;

/// Longer files are assumed to contain the searched text.
const MAX_SEARCHED: usize = 256 * 1024;

/// What is known about the files in a list of names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names<'a> {
    /// Which ones it can contain.
    pub(crate) listed: Listed,
    /// Each contains this text, case-insensitive.
    pub(crate) holding: Option<&'a str>,
}

/// A glob, taken apart.
pub(super) struct Shape<'a> {
    /// The directory in front of the first part with a wildcard.
    pub(super) fixed: &'a str,
    /// The rest.
    pub(super) pattern: &'a str,
    /// Matches every (visible or hidden) entry of the fixed directory.
    pub(super) everything: bool,
    /// `..` after a wildcard: may lead anywhere.
    pub(super) climbs: bool,
}

pub(super) fn shape(path: &str) -> Shape<'_> {
    let wild = path.find(['*', '?', '[', '{', '(']).unwrap_or(path.len());
    // The operator of an extended pattern precedes its bracket: `!(keep)`.
    let (head, _) = path.split_at(wild);
    let cut = head.rfind('/').map_or(0, |slash| slash + 1);
    let (fixed, pattern) = path.split_at(cut);
    Shape {
        fixed: if fixed.is_empty() { "." } else { fixed },
        pattern,
        everything: is_everything(pattern),
        climbs: pattern.split('/').any(|part| part == ".."),
    }
}

/// Whether the pattern matches everything in a directory: `*`, `.*`, `**`, `**/*`, `?*`, `.[!.]*`, `{*,.*}`, and
/// all but something: `!(keep)`.
fn is_everything(pattern: &str) -> bool {
    pattern.trim_matches('/').split('/').all(|part| {
        if part.starts_with("!(") {
            return true;
        }
        let mut in_class = false;
        let mut star = false;
        let mut letters = part.chars().peekable();
        let plain = std::iter::from_fn(|| letters.next().map(|char| (char, letters.peek().copied()))).all(
            |(char, next)| {
                match char {
                    // A class matches most names when it is negated, or contains a range: `[!.]`, `[a-z]`, not
                    // `[oa]`.
                    '[' if is_broad(part, next) => in_class = true,
                    '[' => return false,
                    ']' => in_class = false,
                    '*' => star = true,
                    '.' | '?' | '{' | '}' | ',' => {}
                    _ => return in_class,
                }
                true
            },
        );
        plain && star
    })
}

/// Whether a character class matches most letters.
fn is_broad(part: &str, first: Option<char>) -> bool {
    let class = part.split('[').nth(1).and_then(|rest| rest.split(']').next()).unwrap_or_default();
    matches!(first, Some('!' | '^')) || class.contains('-') || class.contains("[:")
}

/// Whether the pattern takes in all names but hidden ones: `*`, `**`, `**/*`, `src/*`.
fn leaves_hidden_out(pattern: &str) -> bool {
    pattern.split('/').all(|part| !part.starts_with(['.', '{', '[', '!', '@', '+', '(']))
        && pattern.rsplit('/').next().is_some_and(is_everything)
}

/// Whether a file, or a directory above it, is hidden.
fn is_hidden(relative: &str) -> bool {
    relative.split('/').any(|part| part.starts_with('.'))
}

/// Whether a specific part of the pattern matches this name.
pub(super) fn means(pattern: &str, name: &str) -> bool {
    pattern
        .split('/')
        .any(|part| !part.is_empty() && !is_everything(part) && fast_glob::glob_match(part, name))
}

/// The notable files in a glob or a changed tree, which are judged separately: links, secrets, Lictor's own
/// files, files that policy watches. `word` is the operand after expansion: as written it may be a variable. Also
/// `true` when there were too many files to check.
pub(crate) fn remarkable(
    looker: &Looker<'_>,
    place: &Place,
    word: &str,
    access: Access,
    recursive: bool,
    names: Option<Names<'_>>,
) -> (Vec<Place>, bool) {
    let tree = recursive && !access.is_read_only() && !looker.project.watched.is_empty();
    if place.path.is_empty() || access == Access::List || !(place.glob || tree) {
        return (Vec::new(), false);
    }
    let pattern = place.glob.then(|| shape(word).pattern.to_owned()).filter(|pattern| !pattern.is_empty());
    let mut search = Search {
        looker,
        access,
        recursive,
        named: pattern.is_some(),
        part: !crate::zone::is_at_or_below(&looker.project.root, &place.path),
        names,
        found: Vec::new(),
        seen: 0,
        cut: false,
    };
    search.below(&place.path, "", pattern.as_deref(), tree, 0);
    (search.found, search.cut)
}

struct Search<'a> {
    looker: &'a Looker<'a>,
    access: Access,
    recursive: bool,
    /// The matches come from a pattern, not only from a tree.
    named: bool,
    /// They lie in a part of the project, or outside.
    part: bool,
    /// They come out of a list.
    names: Option<Names<'a>>,
    found: Vec<Place>,
    seen: usize,
    cut: bool,
}

impl Search<'_> {
    fn below(&mut self, directory: &str, relative: &str, pattern: Option<&str>, tree: bool, depth: usize) {
        let Some(listing) = self.looker.observer.names(directory, MAX_ENTRIES.saturating_sub(self.seen))
        else {
            return;
        };
        self.seen += listing.names.len();
        self.cut |= listing.cut && tree;
        let nested = |pattern: &str| pattern.trim_matches('/').contains('/') || pattern.contains("**");
        let deep = tree || pattern.is_some_and(nested);
        for name in listing.names {
            let path = format!("{}/{name}", directory.trim_end_matches('/'));
            let relative = if relative.is_empty() { name } else { format!("{relative}/{name}") };
            let matches = pattern.is_none_or(|pattern| self.matches(pattern, &relative));
            if matches
                && self.found.len() < MAX_MATCHES
                && self.is_remarkable(&path)
                && self.is_listed(&path, &relative)
            {
                self.found.push(self.looker.path(&path, self.access, self.recursive));
            }
            if deep && depth < MAX_DEPTH && self.looker.observer.look(&path) == Seen::Directory {
                self.below(&path, &relative, pattern, tree, depth + 1);
            }
        }
    }

    /// For reads the shell's rules apply: `*` excludes hidden names, and so do lists of tracked files (`**`). For
    /// deletions they do not: a shell option may include hidden names.
    fn matches(&self, pattern: &str, relative: &str) -> bool {
        let tracked = self.names.is_some_and(|names| names.listed == (Listed::Tracked { all: true }));
        let hidden = self.access.is_read_only() && !tracked && is_hidden(relative);
        let mut pattern = pattern.trim_end_matches('/');
        // Some of the files below: any of them may be changed.
        let changes = matches!(self.access, Access::Modify | Access::Write | Access::Append | Access::Empty);
        if (changes || self.loses_part()) && pattern.ends_with("**/?") {
            pattern = pattern.trim_end_matches("/?");
        }
        fast_glob::glob_match(pattern, relative) && !(hidden && leaves_hidden_out(pattern))
    }

    /// Whether a part of one directory is deleted. In the whole project that is ordinary cleanup.
    fn loses_part(&self) -> bool {
        self.part && matches!(self.access, Access::Delete | Access::Destroy | Access::MoveAway)
    }

    /// Whether a list of names can contain this file. A search does not list directories.
    fn is_listed(&self, path: &str, relative: &str) -> bool {
        let Some(names) = self.names else { return true };
        let observer = self.looker.observer;
        let kept = match names.listed {
            Listed::All => true,
            Listed::Visible => !is_hidden(relative),
            Listed::Tracked { .. } => git::untracked(path, observer).is_none(),
        };
        kept && names.holding.is_none_or(|text| {
            let content = observer.text(path, MAX_SEARCHED);
            observer.look(path) != Seen::Directory
                && content.is_none_or(|content| content.to_lowercase().contains(&text.to_lowercase()))
        })
    }

    /// A glob names what it matches; a tree that is only added to leaves its files in place.
    fn reaches_own(&self) -> bool {
        let loses =
            matches!(self.access, Access::Delete | Access::Destroy | Access::Empty | Access::MoveAway);
        loses || self.named && !self.access.is_read_only()
    }

    fn is_remarkable(&self, path: &str) -> bool {
        let Looker { project, observer, .. } = self.looker;
        // A moved directory includes its contents.
        let tree =
            self.recursive || self.access == Access::MoveAway || self.looker.locks_up(path, self.access);
        self.looker.names_secret(path)
            || self.looker.is_watched(path)
            || self.reaches_own() && crate::governing_file::is_own(path, tree, project, *observer)
            || !matches!(self.access, Access::Delete | Access::MoveAway) && observer.look(path) == Seen::Link
    }
}
