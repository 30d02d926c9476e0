//! Commits whose files a git command would put into the work tree, files that it would take out of it, and which of those
//! that govern are among them.
//!
//! Told before git starts: a branch may hold other hook settings and another policy than those in force. What git's words
//! mean is known to the shell reader; here the repository is looked at, with at most one git for each commit.

use std::path::{Path, PathBuf};

use lictor_core::facts::Command;
use lictor_ledger::repository::quiet;
use lictor_observe::GitWords;

/// The tree without files, which git knows without having it.
const EMPTY: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// A git command: where it works, what it does, with what.
pub(crate) struct Git {
    pub(crate) directory: PathBuf,
    pub(crate) words: GitWords,
}

/// What the work tree would be like afterwards.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// As it is written.
    pub(crate) name: String,
    compared: Compared,
}

#[derive(Debug, PartialEq, Eq)]
enum Compared {
    /// Files differ between these two.
    Commits(String, String),
    /// Only what the other side changed since both were one arrives here.
    Since(String),
    /// Known files leave the work tree that are not below one of these directories. With `top` those of the topmost stay.
    Thinned { kept: Vec<String>, top: bool },
}

impl Target {
    /// All files become those of a commit.
    fn here(name: &str) -> Self {
        Self::between(name, "HEAD", name)
    }

    fn since(name: &str) -> Self {
        Self { name: name.to_owned(), compared: Compared::Since(name.to_owned()) }
    }

    fn between(name: &str, before: &str, after: &str) -> Self {
        Self { name: name.to_owned(), compared: Compared::Commits(before.to_owned(), after.to_owned()) }
    }

    /// What a commit, or a range of them, changed itself.
    fn own(name: &str) -> Self {
        match name.split_once("..") {
            Some((from, to)) => Self::between(name, from, to.trim_start_matches('.')),
            None => Self::between(name, &format!("{name}^"), name),
        }
    }
}

/// Where a command runs: behind a `cd`, or where the action is.
pub(crate) fn directory_of<'a>(command: &'a Command, cwd: &'a Path) -> &'a Path {
    command.directory.as_deref().map_or(cwd, Path::new)
}

impl Git {
    /// Reads a command of git.
    pub(crate) fn read(command: &Command, cwd: &Path) -> Option<Self> {
        if Path::new(&command.program).file_name()? != "git" {
            return None;
        }
        let words = GitWords::read(&command.args)?;
        let mut directory = directory_of(command, cwd).to_owned();
        directory.extend(&words.directories);
        Some(Self { directory, words })
    }

    /// What it would put into the work tree, or take out of it.
    pub(crate) fn targets(&self) -> Vec<Target> {
        let words = &self.words;
        if words.has(&["abort", "quit"]) {
            return Vec::new();
        }
        let named = |word: &str| if word == "-" { "@{-1}".to_owned() } else { word.to_owned() };
        let names: Vec<String> = words.operands().into_iter().map(named).collect();
        let each = |target: fn(&str) -> Target| names.iter().map(|name| target(name)).collect::<Vec<_>>();
        match words.verb.as_str() {
            "checkout" => self.checkout(&names),
            "restore" if !words.has(&["S", "staged"]) || words.has(&["W", "worktree"]) => {
                let source = words.value(&["s", "source"]);
                source.filter(|_| self.means_all(&names)).map(Target::here).into_iter().collect()
            }
            // A branch without a beginning has no files at all.
            "switch" if words.has(&["orphan"]) => vec![Target::between("--orphan", "HEAD", EMPTY)],
            "switch" => each(Target::here),
            "reset" if words.has(&["hard", "merge", "keep"]) => each(Target::here),
            "read-tree" if words.has(&["u"]) && !words.has(&["prefix"]) => each(Target::here),
            "bisect" => names.iter().skip(1).map(|name| Target::here(name)).collect(),
            "merge" | "rebase" | "pull" if names.is_empty() => vec![Target::since("@{upstream}")],
            "merge" => each(Target::since),
            "rebase" => {
                let onto = words.value(&["onto"]).map(Target::since);
                onto.into_iter().chain(each(Target::since)).collect()
            }
            "pull" => {
                // From another place a branch has the name that it has here, or none.
                let tracked = names.split_first().into_iter().flat_map(|(remote, branches)| {
                    branches.iter().flat_map(move |branch| [format!("{remote}/{branch}"), branch.clone()])
                });
                tracked.map(|name| Target::since(&name)).collect()
            }
            "cherry-pick" | "revert" => each(Target::own),
            "stash" => self.unstashed(),
            "sparse-checkout" => self.thinned(),
            _ => Vec::new(),
        }
    }

    /// What its output holds that another command may put into the work tree: a patch, an archive, a bundle.
    pub(crate) fn printed(&self) -> Vec<Target> {
        let words = &self.words;
        let names = words.operands();
        let revisions = || names.iter().filter(|name| !name.is_empty());
        match (words.verb.as_str(), names.as_slice()) {
            ("archive", [revision, ..]) => vec![Target::here(revision)],
            ("diff", [before, after, ..]) => {
                vec![Target::between(after, before, after), Target::here(before)]
            }
            ("diff", [range]) if range.contains("..") => vec![Target::own(range)],
            ("diff", [revision]) => vec![Target::here(revision)],
            ("show" | "log" | "whatchanged" | "diff-tree" | "format-patch", []) => vec![Target::own("HEAD")],
            ("show", _) => revisions().map(|name| Target::own(name)).collect(),
            // Those of several commits are in what came since both sides were one.
            ("log" | "whatchanged" | "diff-tree" | "format-patch", _) => {
                revisions().flat_map(|name| [Target::own(name), Target::here(name)]).collect()
            }
            ("stash", ["show", ..]) => {
                vec![Target::own(names.get(1).copied().unwrap_or("stash@{0}"))]
            }
            _ => Vec::new(),
        }
    }

    /// What `git fetch` leaves under the name that a merge behind it uses.
    pub(crate) fn fetched(&self) -> Vec<Target> {
        let names = self.words.operands();
        let Some((remote, branches)) = names.split_first() else { return Vec::new() };
        let source =
            |name: &&str| name.split(':').next().unwrap_or_default().trim_start_matches('+').to_owned();
        let branches = branches.iter().map(source);
        branches.flat_map(|name| [Target::since(&name), Target::since(&format!("{remote}/{name}"))]).collect()
    }

    /// Whether a path is among those that the command is told to keep to.
    pub(crate) fn keeps_to(&self, path: &str) -> bool {
        let operands = self.words.operands();
        let mut named = self.words.behind();
        if self.words.verb == "archive" {
            named.extend(operands.iter().skip(1));
        }
        named.is_empty() || named.iter().any(|name| covers(name, path))
    }

    /// The files among those that git does not know yet and that this command tells it of.
    pub(crate) fn taken_up(&self, pathspecs: &[String]) -> Vec<String> {
        if !matches!(self.words.verb.as_str(), "add" | "stage") || self.words.has(&["n", "dry-run"]) {
            return Vec::new();
        }
        let all = self.words.has(&["A", "all"]);
        let (operands, behind) = (self.words.operands(), self.words.behind());
        let mut args = vec!["ls-files", "--others", "--exclude-standard", "--full-name", "--"];
        args.extend(pathspecs.iter().map(String::as_str));
        let told = self.ask(&args).unwrap_or_default();
        let named = |path: &str| operands.iter().chain(&behind).any(|name| covers(name, path));
        told.lines().filter(|path| all || named(path)).map(str::to_owned).collect()
    }

    /// Whether it takes files out of the work tree that git knows only since a moment ago.
    pub(crate) fn takes_away(&self) -> bool {
        let words = &self.words;
        match words.verb.as_str() {
            "stash" => matches!(words.word(0), "" | "push" | "save" | "-"),
            "reset" => words.has(&["hard", "merge", "keep"]),
            "checkout" => !words.has(&["b", "B"]) && words.behind().is_empty() && words.operands().len() == 1,
            "switch" => !words.has(&["c", "C", "create", "force-create"]) || words.operands().len() > 1,
            "revert" | "rebase" => !words.has(&["abort", "quit", "continue", "skip"]),
            _ => false,
        }
    }

    /// Files that are named one by one are judged as files.
    fn checkout(&self, names: &[String]) -> Vec<Target> {
        let Some((first, rest)) = names.split_first() else { return Vec::new() };
        if self.words.has(&["b", "B", "orphan"]) {
            return vec![Target::here(first)];
        }
        let behind = self.words.behind();
        let takes_paths = !rest.is_empty() || !behind.is_empty();
        if takes_paths && !self.means_all(rest) {
            return Vec::new();
        }
        vec![Target::here(first)]
    }

    /// Whether paths are given that stand for more than single files.
    fn means_all(&self, names: &[String]) -> bool {
        let behind = self.words.behind();
        let mut paths = names.iter().map(String::as_str).chain(behind);
        paths.any(|path| {
            path.starts_with(':')
                || path.contains(['*', '?', '['])
                || matches!(path.trim_end_matches('/'), "" | "." | "..")
        })
    }

    /// What a stash holds: its changes, and files that git did not know.
    fn unstashed(&self) -> Vec<Target> {
        let at = match self.words.word(0) {
            "pop" | "apply" => 1,
            "branch" => 2,
            _ => return Vec::new(),
        };
        let name = match self.words.word(at) {
            "" => "stash@{0}".to_owned(),
            number if number.bytes().all(|byte| byte.is_ascii_digit()) => format!("stash@{{{number}}}"),
            name => name.to_owned(),
        };
        let untracked = Target::between(&name, EMPTY, &format!("{name}^3"));
        vec![Target::own(&name), untracked]
    }

    /// Directories that stay; the rest of what git knows leaves the work tree.
    fn thinned(&self) -> Vec<Target> {
        let operands = self.words.operands();
        let Some((sub, named)) = operands.split_first().filter(|(sub, _)| matches!(**sub, "set" | "init"))
        else {
            return Vec::new();
        };
        // Patterns of git's own kind may leave out whatever they like.
        let top = !self.words.has(&["no-cone"]);
        let kept =
            named.iter().chain(&self.words.behind()).filter(|_| top).map(|path| tidied(path)).collect();
        let name = format!("{sub} {}", named.join(" ")).trim_end().to_owned();
        vec![Target { name, compared: Compared::Thinned { kept, top } }]
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

    /// The files among those that would be other ones, or gone. None where git does not know the commit: it does nothing then.
    pub(crate) fn differing(&self, target: &Target, pathspecs: &[String]) -> Vec<String> {
        if pathspecs.is_empty() || target.name.is_empty() {
            return Vec::new();
        }
        let since;
        let (mut args, kept) = match &target.compared {
            Compared::Commits(before, after) => (vec!["diff", before, after], None),
            Compared::Since(name) => {
                since = format!("HEAD...{name}");
                (vec!["diff", since.as_str()], None)
            }
            Compared::Thinned { kept, top } => (vec!["ls-files", "--full-name"], Some((kept, *top))),
        };
        if args.first() == Some(&"diff") {
            args.splice(1..1, ["--name-only", "--no-renames", "--no-ext-diff", "--no-textconv"]);
        }
        args.push("--");
        args.extend(pathspecs.iter().map(String::as_str));
        let told = self.ask(&args).unwrap_or_default();
        let stays = |path: &str| {
            kept.is_some_and(|(kept, top)| {
                top && !path.contains('/')
                    || kept.iter().any(|directory| Path::new(path).starts_with(directory))
            })
        };
        told.lines().filter(|path| !stays(path)).map(str::to_owned).collect()
    }
}

/// A directory's name as git's own list has it.
fn tidied(path: &str) -> String {
    path.trim_start_matches("./").trim_matches('/').to_owned()
}

/// Whether a word of git names a path: itself, a directory above it, a pattern.
fn covers(name: &str, path: &str) -> bool {
    let name = tidied(name);
    matches!(name.as_str(), "" | ".")
        || name.starts_with(':')
        || name.contains(['*', '?', '['])
        || Path::new(path).starts_with(&name)
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
