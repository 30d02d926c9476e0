//! Commits whose files a git command would put into the work tree, and which of the files that govern differ there.
//!
//! Told before git starts: a branch may hold other hook settings and another policy than those in force.

use std::path::{Path, PathBuf};

use lictor_core::facts::Command;
use lictor_ledger::repository::quiet;

/// A git command: where it works, what it does, with what.
pub(crate) struct Git<'a> {
    pub(crate) directory: PathBuf,
    pub(crate) verb: &'a str,
    pub(crate) words: Vec<&'a str>,
}

/// A commit, and with what it is compared to see what would change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// As it is written.
    pub(crate) name: String,
    /// What the files are now, for git.
    before: String,
}

impl<'a> Git<'a> {
    /// Reads a command of git.
    pub(crate) fn read(command: &'a Command, cwd: &Path) -> Option<Self> {
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

    /// Whether one of these options is there.
    pub(crate) fn has(&self, options: &[&str]) -> bool {
        self.words.iter().any(|word| {
            options.iter().any(|option| word == option || word.starts_with(&format!("{option}=")))
        })
    }

    /// The commits whose files it would put into the work tree.
    pub(crate) fn targets(&self) -> Vec<Target> {
        let here = |name: &str| Target { name: name.to_owned(), before: "HEAD".to_owned() };
        // Only what the other side changed since both were one arrives here.
        let since = |name: &str| Target { name: name.to_owned(), before: format!("HEAD...{name}") };
        // A commit brings what it changed itself.
        let own = |name: &str, before: String| Target { name: name.to_owned(), before };
        if self.has(&["--abort", "--quit"]) {
            return Vec::new();
        }
        let names = self.names();
        let all = names.iter().copied();
        match self.verb {
            "checkout" | "switch" if self.takes_paths(&names) => Vec::new(),
            "checkout" | "switch" => all.map(here).collect(),
            "reset" if self.has(&["--hard", "--merge", "--keep"]) => all.map(here).collect(),
            "merge" | "rebase" | "pull" if names.is_empty() => vec![since("@{upstream}")],
            "merge" | "rebase" => all.map(since).collect(),
            "pull" => {
                let tracked = names.split_first().into_iter().flat_map(|(remote, branches)| {
                    branches.iter().map(move |branch| format!("{remote}/{branch}"))
                });
                tracked.map(|name| since(&name)).collect()
            }
            "cherry-pick" | "revert" => all.map(|name| own(name, format!("{name}^"))).collect(),
            "stash" if self.words.first().is_some_and(|word| matches!(*word, "pop" | "apply" | "branch")) => {
                let name =
                    names.iter().find(|name| name.starts_with("stash@")).copied().unwrap_or("stash@{0}");
                vec![own(name, format!("{name}^"))]
            }
            _ => Vec::new(),
        }
    }

    /// The words that may name commits: what follows `--` are paths.
    fn names(&self) -> Vec<&'a str> {
        let names = self.words.iter().copied().take_while(|word| *word != "--");
        let mut names: Vec<&str> = names.filter(|word| !word.starts_with('-')).collect();
        if names.is_empty() && self.words.contains(&"-") {
            names.push("@{-1}");
        }
        names
    }

    /// Whether it takes files out of a commit and stays where it is. They are judged as files.
    fn takes_paths(&self, names: &[&str]) -> bool {
        let behind =
            self.words.iter().position(|word| *word == "--").is_some_and(|at| at + 1 < self.words.len());
        self.verb == "checkout" && (behind || names.len() > 1 && !self.has(&["-b", "-B", "--orphan"]))
    }

    fn ask(&self, args: &[&str]) -> Option<String> {
        let output = quiet::<&str>(&self.directory, &[]).args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The directory that holds the repository's files.
    pub(crate) fn top(&self) -> Option<PathBuf> {
        let top = self.ask(&["rev-parse", "--show-toplevel"])?;
        Some(PathBuf::from(top.trim_end_matches('\n')))
    }

    /// The files among those that would be other ones.
    pub(crate) fn differing(&self, target: &Target, pathspecs: &[String]) -> Vec<String> {
        let name = format!("{}^{{commit}}", target.name);
        if pathspecs.is_empty() || self.ask(&["rev-parse", "--verify", "--quiet", &name]).is_none() {
            return Vec::new();
        }
        let mut args = vec!["diff", "--name-only", "--no-ext-diff", "--no-textconv", target.before.as_str()];
        if !target.before.contains("...") {
            args.push(&target.name);
        }
        args.push("--");
        args.extend(pathspecs.iter().map(String::as_str));
        self.ask(&args).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

/// Patterns for git of those paths, in whatever directory of a repository.
pub(crate) fn anywhere<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<String> {
    paths.flat_map(|path| [format!(":(top,glob)**/{path}"), format!(":(top,glob)**/{path}/**")]).collect()
}

/// A pattern for git of exactly that path from the top.
pub(crate) fn exactly(path: &Path) -> Option<String> {
    let path = path.to_str().filter(|path| !path.starts_with(".git/"))?;
    Some(format!(":(top,literal){path}"))
}
