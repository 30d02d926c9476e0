//! What the line itself created: cloned repositories, new branches, copies and patches. Deleting these, or
//! discarding what they preserve, loses nothing that existed before.

use lictor_core::facts::{Access, Effect, GitEffect};

use super::Walker;
use super::simple::Context;
use crate::operand::{Arg, Cwd, Incoming, Operand};
use crate::paths;

/// What the line has created or preserved so far.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// Work trees that did not exist before.
    trees: Vec<String>,
    branches: Vec<String>,
    /// Files with a copy or a patch.
    kept: Vec<String>,
    /// All changes to tracked files are in a patch or a stash.
    kept_all: bool,
}

impl Walker<'_> {
    /// Notes what a command makes or keeps. `prints_to_file` when its output goes into a file.
    pub(super) fn note_made(&mut self, context: &Context<'_>, prints_to_file: bool) {
        match context.program {
            "cp" | "gcp" | "rsync" | "install" => {
                let names: Vec<&str> = context.args.iter().filter_map(Arg::known).collect();
                let sources = names.split_last().map(|(_, sources)| sources).unwrap_or_default();
                for source in sources.iter().filter(|source| !source.starts_with('-')) {
                    self.made.kept.push(paths::key(context.cwd, source));
                }
            }
            "cat" if prints_to_file => {
                for source in context.args.iter().filter_map(Arg::known) {
                    self.made.kept.push(paths::key(context.cwd, source));
                }
            }
            "kind" | "k3d" | "minikube" => {
                let known: Vec<&str> = context.args.iter().filter_map(Arg::known).collect();
                if known.iter().any(|word| matches!(*word, "create" | "start")) {
                    let names = known.iter().filter(|word| {
                        !word.starts_with('-') && !matches!(**word, "create" | "cluster" | "start")
                    });
                    self.containers.extend(names.map(|name| (*name).to_owned()));
                }
            }
            "docker" | "podman" | "nerdctl" => {
                let known: Vec<&str> = context.args.iter().filter_map(Arg::known).collect();
                if let ["volume" | "network", "create", .., name] = known.as_slice() {
                    self.containers.push((*name).to_owned());
                }
                let mut args = known.into_iter();
                while let Some(arg) = args.next() {
                    let name =
                        arg.strip_prefix("--name").map(|rest| rest.strip_prefix('=').or_else(|| args.next()));
                    self.containers.extend(name.flatten().map(str::to_owned));
                }
            }
            "git" => self.note_git(context, prints_to_file),
            _ => {}
        }
    }

    fn note_git(&mut self, context: &Context<'_>, prints_to_file: bool) {
        let (cwd, words) = git_words(context);
        let options = |names: &[&str]| words.iter().any(|word| names.contains(word));
        let operands: Vec<&str> =
            words.iter().skip(1).filter(|word| !word.starts_with('-')).copied().collect();
        let behind = |names: &[&str]| {
            words.windows(2).find_map(|pair| match pair {
                [option, value] if names.contains(option) => Some((*value).to_owned()),
                _ => None,
            })
        };
        match words.first().copied().unwrap_or_default() {
            "clone" => {
                let directory = match operands.as_slice() {
                    [.., url, directory] if url.contains(['/', ':']) => (*directory).to_owned(),
                    [.., url] => {
                        let name = url.trim_end_matches('/').trim_end_matches(".git");
                        name.rsplit(['/', ':']).next().unwrap_or_default().to_owned()
                    }
                    [] => return,
                };
                self.made.trees.push(paths::key(&cwd, &directory));
            }
            "worktree" if operands.first() == Some(&"add") => {
                let branch = behind(&["-b", "-B"]);
                let path = operands.iter().skip(1).find(|word| branch.as_deref() != Some(**word));
                self.made.trees.extend(path.map(|path| paths::key(&cwd, path)));
                self.made.branches.extend(branch);
            }
            "checkout" | "switch" => self.made.branches.extend(behind(&["-b", "-c", "--create"])),
            "branch" if !words.iter().any(|word| word.starts_with('-')) => {
                self.made.branches.extend(operands.first().map(|name| (*name).to_owned()));
            }
            "diff"
                if prints_to_file
                    && !options(&["--stat", "--name-only", "--name-status", "--cached", "--staged"]) =>
            {
                match operands.as_slice() {
                    [] | ["HEAD"] => self.made.kept_all = true,
                    paths => self.made.kept.extend(paths.iter().map(|path| paths::key(&cwd, path))),
                }
            }
            _ => {}
        }
    }

    /// Whether an effect only undoes what the line made, or loses what the line kept before.
    pub(super) fn is_own_scratch(&self, effect: &Effect<Operand>, context: &Context<'_>) -> bool {
        match effect {
            Effect::File { access: Access::Restore, target, .. } => {
                let kept = |path| self.made.kept.contains(&paths::key(&target.cwd, path));
                match target.incoming.as_deref() {
                    Some(Incoming::Submodules) => self.is_scratch(&target.cwd),
                    Some(Incoming::Nothing) => {
                        let made = |path| self.made.trees.contains(&paths::key(&target.cwd, path));
                        self.is_scratch(&target.cwd) || named(&target.arg).is_some_and(made)
                    }
                    _ => {
                        self.made.kept_all
                            || target.arg.known().is_some_and(kept)
                            || self.is_scratch(&target.cwd)
                    }
                }
            }
            Effect::Git { effect, target } => {
                let (cwd, words) = git_words(context);
                if is_local(*effect) && self.is_scratch(&cwd) {
                    return true;
                }
                match effect {
                    GitEffect::DiscardWork => {
                        self.made.kept_all && !matches!(words.first(), Some(&("clean" | "submodule")))
                    }
                    GitEffect::DiscardCommits => {
                        let names = target.as_deref().unwrap_or_default();
                        !names.is_empty()
                            && names
                                .split_whitespace()
                                .all(|name| self.made.branches.iter().any(|made| made == name))
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Whether a file in a temporary place contains only text that the line itself wrote.
    pub(super) fn is_own_text(&self, target: &Operand) -> bool {
        let Some(path) = target.arg.known() else { return false };
        let key = paths::key(&target.cwd, path);
        paths::is_temporary(&key)
            && self.state.file(&key).is_some_and(|content| {
                content.text.is_some()
                    && content.link.is_none()
                    && content.taint == crate::operand::Taint::default()
            })
    }

    /// Whether a directory is in a temporary place or in a tree that the line created. The project and the home
    /// directory are neither, wherever they are.
    pub(super) fn is_scratch(&self, directory: &Cwd) -> bool {
        let Cwd::Known(path) = directory else { return false };
        if self.made.trees.iter().any(|tree| paths::is_at_or_below(path, tree)) {
            return true;
        }
        let ours = [self.outside().project_root(), self.outside().variable("HOME")];
        let holds_ours = ours
            .iter()
            .flatten()
            .any(|top| paths::is_at_or_below(path, top) || paths::is_at_or_below(top, path));
        paths::is_temporary(path) && !holds_ours
    }
}

/// Effects that stay in the repository.
fn is_local(effect: GitEffect) -> bool {
    matches!(
        effect,
        GitEffect::DiscardWork
            | GitEffect::DropStash
            | GitEffect::DiscardCommits
            | GitEffect::RewriteHistory
            | GitEffect::ExpireHistory
    )
}

/// A word, even if only its prefix is known: equal text on the line has equal meaning.
fn named(arg: &Arg) -> Option<&str> {
    arg.known().or_else(|| (!arg.prefix().is_empty()).then_some(&*arg.text))
}

/// Git's directory, and its words after the global options.
fn git_words<'a>(context: &'a Context<'_>) -> (Cwd, Vec<&'a str>) {
    let mut cwd = context.cwd.clone();
    let mut args = context.args.iter();
    while let Some(arg) = args.next() {
        match arg.known() {
            Some("-C") => {
                if let Some(directory) = args.next() {
                    cwd = match directory.known() {
                        Some(directory) => paths::enter(&cwd, directory),
                        None => Cwd::Unknown,
                    };
                }
            }
            Some("-c" | "--git-dir" | "--work-tree") => {
                args.next();
            }
            Some(option) if option.starts_with('-') => {}
            _ => return (cwd, std::iter::once(arg).chain(args).filter_map(named).collect()),
        }
    }
    (cwd, Vec::new())
}
