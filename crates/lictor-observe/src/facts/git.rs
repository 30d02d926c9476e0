//! Facts from git's own files: whether something is lost, which files are tracked.

use std::collections::BTreeSet;

use lictor_core::facts::{Access, Command, Effect, Existence, Facts, GitEffect, Place};
use lictor_shell::describe::Trait;
use lictor_shell::programs::is;
use lictor_shell::{GitChanges, Incoming, Operand};

use crate::git::{self, Untracked};
use crate::governing_file;
use crate::place::Looker;

/// Whether a program is read-only, including git's read-only commands.
fn looks(command: &Command) -> bool {
    let only = [Trait::IsHarmless, Trait::PrintsFiles, Trait::PrintsPart, Trait::LooksThrough];
    command.program != "git" && only.into_iter().any(|wanted| is(&command.program, wanted))
}

/// What a git command of the line changes; `None` if it is not git, or may change anything.
fn changes(command: &Command) -> Option<GitChanges> {
    let verb = command.words.get(1).filter(|_| command.program == "git")?;
    GitChanges::of(verb)
}

/// Whether other files may be known to git after what the line did so far.
pub(super) fn changes_index(facts: &Facts) -> bool {
    let mut files = facts.files();
    facts.commands().any(|command| changes(command).is_some_and(|changes| changes.index))
        || files.any(|(access, place)| !access.is_read_only() && place.path.contains("/.git/"))
}

/// Whether something in front of the last command may change files: when its turn comes, they are not what they are now.
fn changes_files(facts: &Facts) -> bool {
    let harmless = |command: &Command| {
        looks(command) || changes(command).is_some_and(|changes| !changes.index && !changes.tree)
    };
    let before = facts.commands().count().saturating_sub(1);
    !facts.commands().take(before).all(harmless) || facts.files().any(|(access, _)| !access.is_read_only())
}

/// Options that check out another branch without moving an existing one.
const SWITCHES: [&str; 10] =
    ["-", "-q", "--quiet", "-b", "-c", "--create", "-d", "--detach", "-t", "--track"];

/// Whether a command checks a branch out, at most a new one.
fn only_switches(command: &Command) -> bool {
    let plain = |arg: &str| !arg.starts_with('-') || SWITCHES.contains(&arg);
    command.program == "git"
        && command.words.get(1).is_some_and(|verb| matches!(verb.as_str(), "checkout" | "switch"))
        && command.args.iter().all(|arg| arg.as_deref().is_some_and(plain))
}

/// Whether git takes all files out of its store, or prints every line of them.
pub(super) fn takes_all(command: &Command) -> bool {
    let mut words = command.args.iter().flatten().map(String::as_str).filter(|word| !word.starts_with('-'));
    match words.find(|word| matches!(*word, "archive" | "checkout-index" | "grep")) {
        Some("grep") => {
            words.next().is_some_and(|pattern| pattern.chars().all(|letter| ".*^$".contains(letter)))
        }
        found => found.is_some(),
    }
}

/// The replacement of the last commit.
enum Replaced {
    /// The same one.
    ByItself,
    /// Another one; whether other refs keep the last one.
    Kept(bool),
}

impl Looker<'_> {
    /// The whole work tree is restored, replaced by another commit's, or removed. Work is lost if it has
    /// uncommitted content, and commits if only the moved branch references them.
    pub(super) fn restored(&self, facts: &mut Facts, target: &Operand) {
        let tree = self.operand(target, Access::List, true).path;
        let clean = |tree: &str| git::tree_holds_nothing_new(tree, self.observer, self.edits);
        let known = |tree: &str| {
            let governs = |path: &str| governing_file::is_own(path, false, self.project, self.observer);
            git::has_only_known_files(tree, self.observer, &governs)
        };
        let mut effect = GitEffect::DiscardWork;
        let kept = match target.incoming.as_deref() {
            Some(Incoming::Nothing) => clean(&tree) && known(&tree),
            Some(Incoming::Submodules) => git::submodules(&tree, self.observer)
                .is_some_and(|trees| trees.iter().all(|tree| clean(tree) && known(tree))),
            Some(Incoming::Commit { name, moves }) if clean(&tree) => {
                match self.replaced_head(facts, &tree, name.known()) {
                    Some(Replaced::ByItself) => true,
                    Some(Replaced::Kept(kept)) if *moves && !kept => {
                        effect = GitEffect::DiscardCommits;
                        false
                    }
                    // A file that git does not know may be in the way.
                    Some(Replaced::Kept(_)) => known(&tree),
                    None => false,
                }
            }
            Some(Incoming::Commit { .. }) => false,
            _ => clean(&tree),
        };
        if changes_files(facts) || !kept {
            facts.effects.push(Effect::Git { effect, target: None });
        }
    }

    /// How another commit, by its name, affects the last one of a work tree. `None` when that cannot be
    /// determined.
    fn replaced_head(&self, facts: &Facts, tree: &str, name: Option<&str>) -> Option<Replaced> {
        let git_dir = git::common_directory(tree, self.observer)?;
        let refs = git::Refs::of(&git_dir, self.observer)?;
        let (branch, head) = refs.head(tree)?;
        let moves = |command: &Command| changes(command).is_none_or(|changes| changes.refs);
        let before = facts.commands().count().saturating_sub(1);
        let moved = facts.commands().take(before).any(|command| command.program == "git" && moves(command));
        if !moved && name.and_then(|name| refs.named(name)) == Some(head) {
            return Some(Replaced::ByItself);
        }
        let own = |name: &str| branch.as_deref() == Some(name);
        Some(Replaced::Kept(refs.keep(&[head], &own)))
    }

    /// Whether `git branch -D` deletes only branches whose commits other branches or tags have, too.
    pub(super) fn is_kept_elsewhere(&self, facts: &Facts, names: &str) -> bool {
        let count = facts.commands().count();
        let Some(command) = facts.commands().last() else { return false };
        // If another command moves branches, their current position is not valid.
        let moves = |command: &Command| {
            !looks(command) && !only_switches(command) && changes(command).is_none_or(|changes| changes.refs)
        };
        let deletes = command.program == "git"
            && command.words.get(1).is_some_and(|verb| verb == "branch")
            && !command.args.iter().flatten().any(|arg| matches!(arg.as_str(), "-r" | "--remotes" | "-f"));
        if !deletes || facts.commands().take(count.saturating_sub(1)).any(moves) {
            return false;
        }
        let directory = command.directory.clone().unwrap_or_else(|| self.cwd.to_owned());
        let names: BTreeSet<&str> = names.split_whitespace().collect();
        git::are_kept_elsewhere(&directory, &names, self.observer)
    }

    /// Watched files at or below a place whose content git prints. Untracked files are not among them.
    pub(super) fn shown(&self, facts: &mut Facts, place: &Place) {
        if self.project.watched.is_empty() {
            return;
        }
        let mut paths = vec![place.path.clone()];
        if place.existence == Existence::Directory {
            paths = self.watched_below(&place.path);
        }
        paths.retain(|path| self.is_watched(path) && git::untracked(path, self.observer).is_none());
        for path in paths {
            let target = self.path(&path, Access::Read, false);
            facts.effects.push(Effect::File { access: Access::Read, target, recursive: false, by: None });
        }
    }

    /// Files that govern, are in no commit, and would be put aside with other untracked ones.
    pub(super) fn stashed(&self, facts: &mut Facts, all: bool, paths: Option<&str>) {
        let inside = |path: &str| paths.is_none_or(|paths| paths.split(' ').any(|word| is_meant(word, path)));
        // Files that the same line removes from the index are no longer tracked at that point.
        let forgets = facts.commands().any(|command| {
            command.words.get(1).is_some_and(|verb| verb == "rm" || verb == "update-index")
                && command.args.iter().flatten().any(|arg| arg == "--cached" || arg.ends_with("-remove"))
        });
        for path in governing_file::files(self.project, self.observer) {
            let here =
                self.project.relative(&path).is_some_and(|path| inside(path) && !path.starts_with(".git/"));
            let goes = match git::untracked(&path, self.observer) {
                None => forgets,
                Some(Untracked::Ignored) => all,
                Some(Untracked::Seen) => true,
            };
            if here && goes {
                let target = self.path(&path, Access::MoveAway, false);
                facts.effects.push(Effect::File {
                    access: Access::MoveAway,
                    target,
                    recursive: false,
                    by: None,
                });
            }
        }
    }
}

/// Whether a pathspec may mean a file of the project.
fn is_meant(spec: &str, path: &str) -> bool {
    let spec = spec.trim_start_matches("./").trim_end_matches('/');
    let plain =
        !spec.contains(['*', '?', '[', ':', '$']) && !spec.starts_with('/') && !spec.starts_with("..");
    !plain
        || matches!(spec, "" | ".")
        || path.strip_prefix(spec).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
