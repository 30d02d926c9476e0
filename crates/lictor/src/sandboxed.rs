//! Refuses git commands that cannot work inside `lictor run`, before they start: they would fail half-way, with
//! files of one commit and the head of another.
//!
//! Governing files are read-only there, and so is everything outside of the project and a few other places. A
//! command that would write a governing file (switching to a commit in which it differs), git's own
//! configuration, or a work tree beside the project is refused with a fix. This is not a policy check: commands
//! that pass here are judged as usual.

use std::path::{Path, PathBuf};

use lictor_agents::Block;
use lictor_core::Facts;
use lictor_core::facts::{Command, Effect, GitEffect};

use crate::dirs::absolute;
use crate::git_switch::{self, Git};

/// What can be written in the sandbox.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    /// Read-only everywhere.
    pub(crate) governing: &'a [PathBuf],
    /// Writable, except for governing files.
    pub(crate) writable: &'a [PathBuf],
    /// Read-only, even in a temporary directory; writable places in it are listed separately.
    pub(crate) home: &'a Path,
}

impl Places<'_> {
    fn can_write(&self, path: &Path) -> bool {
        let above_home = |place: &Path| path.starts_with(self.home) && self.home.starts_with(place);
        self.writable.iter().any(|place| path.starts_with(place) && !above_home(place))
    }
}

/// Why these git commands cannot work in a sandbox with these places.
pub(crate) fn refusal(facts: &Facts, cwd: &Path, places: Places<'_>) -> Option<Block> {
    let configures = facts.effects.iter().any(|effect| {
        let wanted = [GitEffect::Configure, GitEffect::ConfigureExecution];
        matches!(effect, Effect::Git { effect, .. } if wanted.contains(effect))
    });
    if configures {
        return Some(configuration("git's configuration"));
    }
    facts.commands().find_map(|command| git(command, cwd, places))
}

impl Git {
    /// What it would write into git's configuration.
    fn configures(&self) -> Option<&'static str> {
        let words = &self.words;
        match words.verb.as_str() {
            "push" if words.has(&["u", "set-upstream"]) => {
                Some("which branch yours follows; `git push <remote> <branch>` without `-u` works")
            }
            "branch" | "switch" | "checkout"
                if words.has(&["u", "set-upstream-to", "unset-upstream", "t", "track"]) =>
            {
                Some("which branch yours follows; make the branch without following another")
            }
            "remote"
                if matches!(
                    words.word(0),
                    "add" | "remove" | "rm" | "rename" | "set-url" | "set-head" | "set-branches"
                ) =>
            {
                Some("the list of remotes; `git fetch <address>` and `git push <address>` work without one")
            }
            "submodule" if matches!(words.word(0), "add" | "init" | "deinit" | "sync" | "set-url") => {
                Some("the list of submodules")
            }
            "sparse-checkout" if !matches!(words.word(0), "list" | "check-rules" | "reapply") => {
                Some("which files the work tree holds")
            }
            _ => None,
        }
    }

    /// Where it would make another work tree.
    fn new_work_tree(&self) -> Option<PathBuf> {
        // `move` has the old path before the new one.
        let at = match (self.words.verb.as_str(), self.words.word(0)) {
            ("worktree", "add") => 1,
            ("worktree", "move") => 2,
            _ => return None,
        };
        let place = Some(self.words.word(at)).filter(|name| !name.is_empty())?;
        // The writable places are canonicalized.
        let directory = std::fs::canonicalize(&self.directory).unwrap_or_else(|_| self.directory.clone());
        Some(absolute(Path::new(place), &directory))
    }
}

fn git(command: &Command, cwd: &Path, places: Places<'_>) -> Option<Block> {
    let git = Git::read(command, cwd)?;
    if let Some(what) = git.configures() {
        return Some(configuration(what));
    }
    if let Some(outside) = git.new_work_tree().filter(|tree| !places.can_write(tree)) {
        return Some(work_tree(&outside));
    }
    let targets = git.targets();
    let top = if targets.is_empty() { None } else { git.top() };
    let inside = |path: &PathBuf| git_switch::exactly(path.strip_prefix(top.as_deref()?).ok()?);
    let governing: Vec<String> = places.governing.iter().filter_map(inside).collect();
    targets.into_iter().find_map(|target| {
        let differing = git.differing(&target, &governing);
        (!differing.is_empty()).then(|| Block {
            reason: format!(
                "inside of `lictor run` files that govern you are read-only, and `{}` has another {}",
                target.name,
                differing.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
            ),
            fix: "work on a branch in which they are the same, or ask a person to switch outside and start you again"
                .to_owned(),
            id: None,
        })
    })
}

fn work_tree(place: &Path) -> Block {
    Block {
        reason: format!("inside of `lictor run` nothing can be written at `{}`", place.display()),
        fix: "make the work tree in the project, in a directory that git ignores, or ask a person to make it outside"
            .to_owned(),
        id: None,
    }
}

fn configuration(what: &str) -> Block {
    Block {
        reason: format!("inside of `lictor run` git cannot write {what}"),
        fix: "do without it, or ask a person to do it outside".to_owned(),
        id: None,
    }
}

#[cfg(test)]
mod tests;
