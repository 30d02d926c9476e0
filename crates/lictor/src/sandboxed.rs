//! What git cannot do inside of `lictor run`, told before it starts: it would fail half-way, with files of one commit and
//! a head of another.
//!
//! Governing files are read-only there, and so is everything outside of the project and a few other places. A command
//! that would write a governing file (switching to a commit in which it differs), git's own configuration, or a work tree
//! beside the project is refused with what to do instead. This judges nothing: whatever passes here is judged as
//! everywhere.

use std::path::{Path, PathBuf};

use lictor_agents::Block;
use lictor_core::Facts;
use lictor_core::facts::{Command, Effect, GitEffect};
use lictor_ledger::repository::quiet;

use crate::dirs::absolute;

/// What can be written in the sandbox.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    /// Read-only, wherever it lies.
    pub(crate) governing: &'a [PathBuf],
    /// All that can be written, but for what governs.
    pub(crate) writable: &'a [PathBuf],
    /// Read-only, also where it lies in a temporary directory; places in it that can be written are listed themselves.
    pub(crate) home: &'a Path,
}

impl Places<'_> {
    fn can_write(&self, path: &Path) -> bool {
        let above_home = |place: &Path| path.starts_with(self.home) && self.home.starts_with(place);
        self.writable.iter().any(|place| path.starts_with(place) && !above_home(place))
    }
}

/// Why git cannot do what these commands want, in a sandbox with those places.
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

/// A git command: where it works, what it does, with what.
struct Git<'a> {
    directory: PathBuf,
    verb: &'a str,
    words: Vec<&'a str>,
}

impl<'a> Git<'a> {
    fn read(command: &'a Command, cwd: &Path) -> Option<Self> {
        if Path::new(&command.program).file_name()? != "git" {
            return None;
        }
        let mut directory = cwd.to_owned();
        let mut args = command.args.iter().map(|arg| arg.as_deref().unwrap_or_default());
        let verb = loop {
            match args.next()? {
                "-C" => directory.push(args.next()?),
                "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--config-env" | "--exec-path" => {
                    args.next()?;
                }
                option if option.starts_with('-') => {}
                verb => break verb,
            }
        };
        Some(Self { directory, verb, words: args.collect() })
    }

    fn has(&self, options: &[&str]) -> bool {
        self.words.iter().any(|word| {
            options.iter().any(|option| word == option || word.starts_with(&format!("{option}=")))
        })
    }

    /// What it would write into git's configuration.
    fn configures(&self) -> Option<&'static str> {
        let first = self.words.first().copied().unwrap_or_default();
        match self.verb {
            "push" if self.has(&["-u", "--set-upstream"]) => {
                Some("which branch yours follows; `git push <remote> <branch>` without `-u` works")
            }
            "branch" | "switch" | "checkout"
                if self.has(&["-u", "--set-upstream-to", "--unset-upstream", "-t", "--track"]) =>
            {
                Some("which branch yours follows; make the branch without following another")
            }
            "remote" if matches!(first, "add" | "remove" | "rm" | "rename" | "set-url" | "set-head") => {
                Some("the list of remotes; `git fetch <address>` and `git push <address>` work without one")
            }
            "submodule" if matches!(first, "add" | "init" | "deinit" | "sync") => {
                Some("the list of submodules")
            }
            _ => None,
        }
    }

    /// Where it would make another work tree.
    fn new_work_tree(&self) -> Option<PathBuf> {
        let (first, rest) = self.words.split_first()?;
        // `move` has the old place before the new one.
        let skipped = match (self.verb, *first) {
            ("worktree", "add") => 0,
            ("worktree", "move") => 1,
            _ => return None,
        };
        let mut words = rest.iter();
        let mut names = std::iter::from_fn(|| {
            loop {
                match *words.next()? {
                    "-b" | "-B" | "--reason" => _ = words.next(),
                    option if option.starts_with('-') => {}
                    name => break Some(name),
                }
            }
        });
        let place = names.nth(skipped).filter(|name| !name.is_empty())?;
        // The places that can be written are known by their real names.
        let directory = std::fs::canonicalize(&self.directory).unwrap_or_else(|_| self.directory.clone());
        Some(absolute(Path::new(place), &directory))
    }

    /// The commits whose files it would put into the work tree.
    fn targets(&self) -> Vec<&'a str> {
        let moves = match self.verb {
            "checkout" | "switch" | "merge" | "rebase" | "cherry-pick" | "revert" | "pull" => true,
            "reset" => self.has(&["--hard", "--merge", "--keep"]),
            "stash" => return vec!["stash@{0}"].into_iter().filter(|_| self.restores_stash()).collect(),
            _ => false,
        };
        if !moves || self.has(&["--abort", "--quit"]) {
            return Vec::new();
        }
        // Paths follow `--`; they are judged as files.
        let names = self.words.iter().copied().take_while(|word| *word != "--");
        let mut names: Vec<&str> = names.filter(|word| !word.starts_with('-')).collect();
        if names.is_empty() && matches!(self.verb, "merge" | "rebase" | "pull") {
            names.push("@{upstream}");
        }
        if names.is_empty() && self.words.contains(&"-") {
            names.push("@{-1}");
        }
        names
    }

    fn restores_stash(&self) -> bool {
        self.words.first().is_some_and(|word| matches!(*word, "pop" | "apply" | "branch"))
    }

    fn ask(&self, args: &[&str]) -> Option<String> {
        let output = quiet::<&str>(&self.directory, &[]).args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The governing files that differ between here and that commit.
    fn differing(&self, target: &str, governing: &[PathBuf]) -> Vec<String> {
        let Some(commit) = self.ask(&["rev-parse", "--verify", "--quiet", &format!("{target}^{{commit}}")])
        else {
            return Vec::new();
        };
        let Some(top) = self.ask(&["rev-parse", "--show-toplevel"]) else { return Vec::new() };
        let top = Path::new(top.trim_end_matches('\n'));
        let inside = governing.iter().filter_map(|path| path.strip_prefix(top).ok()?.to_str());
        let inside: Vec<String> = inside
            .filter(|path| !path.starts_with(".git/"))
            .map(|path| format!(":(top,literal){path}"))
            .collect();
        if inside.is_empty() {
            return Vec::new();
        }
        let mut args =
            vec!["diff", "--name-only", "--no-ext-diff", "--no-textconv", "HEAD", commit.trim(), "--"];
        args.extend(inside.iter().map(String::as_str));
        self.ask(&args).unwrap_or_default().lines().map(str::to_owned).collect()
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
    git.targets().into_iter().find_map(|target| {
        let differing = git.differing(target, places.governing);
        (!differing.is_empty()).then(|| Block {
            reason: format!(
                "inside of `lictor run` files that govern you are read-only, and `{target}` has another {}",
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
