//! Determines which governing files a git command would change: files of commits that it would write into the
//! work tree, and files that it would remove from it.
//!
//! Checked before git starts: a branch may contain other hook settings and another policy than the current ones.
//! The shell parser knows the meaning of git's arguments; this module inspects the repository, with at most one
//! git process per commit.

use std::path::{Path, PathBuf};

use lictor_core::facts::Command;
use lictor_ledger::repository::quiet;
use lictor_observe::GitWords;

/// The empty tree, which git knows without storing it.
const EMPTY: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// A git command: its directory, subcommand and arguments.
pub(crate) struct Git {
    pub(crate) directory: PathBuf,
    pub(crate) words: GitWords,
}

/// The resulting state of the work tree.
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
    /// Only the changes of the other side since the merge base.
    Since(String),
    /// Removes tracked files that are not below one of these directories. With `top`, files in the top directory
    /// stay.
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

    /// The changes of a commit, or of a range of commits.
    fn own(name: &str) -> Self {
        match name.split_once("..") {
            Some((from, to)) => Self::between(name, from, to.trim_start_matches('.')),
            None => Self::between(name, &format!("{name}^"), name),
        }
    }
}

/// The directory of a command: after a `cd`, or the action's.
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

    /// What it would write into the work tree, or remove from it.
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
            // An orphan branch has no files.
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
                // A branch of a remote has the same name here, or none.
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

    /// The content of its output that another command may write into the work tree: a patch, an archive, a
    /// bundle.
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
            // The changes of several commits are those since the merge base.
            ("log" | "whatchanged" | "diff-tree" | "format-patch", _) => {
                revisions().flat_map(|name| [Target::own(name), Target::here(name)]).collect()
            }
            ("stash", ["show", ..]) => {
                vec![Target::own(names.get(1).copied().unwrap_or("stash@{0}"))]
            }
            _ => Vec::new(),
        }
    }

    /// What `git fetch` leaves under the name that a later merge uses.
    pub(crate) fn fetched(&self) -> Vec<Target> {
        let names = self.words.operands();
        let Some((remote, branches)) = names.split_first() else { return Vec::new() };
        let source =
            |name: &&str| name.split(':').next().unwrap_or_default().trim_start_matches('+').to_owned();
        let branches = branches.iter().map(source);
        branches.flat_map(|name| [Target::since(&name), Target::since(&format!("{remote}/{name}"))]).collect()
    }

    /// Whether the command's pathspecs include a path.
    pub(crate) fn keeps_to(&self, path: &str) -> bool {
        let operands = self.words.operands();
        let mut named = self.words.behind();
        if self.words.verb == "archive" {
            named.extend(operands.iter().skip(1));
        }
        named.is_empty() || named.iter().any(|name| covers(name, path))
    }

    /// The untracked files among these that this command adds.
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

    /// Whether it removes newly added files from the work tree.
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

    /// Individually named files are judged as files.
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

    /// Whether the pathspecs cover more than single files.
    fn means_all(&self, names: &[String]) -> bool {
        let behind = self.words.behind();
        let mut paths = names.iter().map(String::as_str).chain(behind);
        paths.any(|path| {
            path.starts_with(':')
                || path.contains(['*', '?', '['])
                || matches!(path.trim_end_matches('/'), "" | "." | "..")
        })
    }

    /// The content of a stash: its changes and untracked files.
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

    /// The directories that stay; all other tracked files are removed from the work tree.
    fn thinned(&self) -> Vec<Target> {
        let operands = self.words.operands();
        let Some((sub, named)) = operands.split_first().filter(|(sub, _)| matches!(**sub, "set" | "init"))
        else {
            return Vec::new();
        };
        // Patterns in non-cone mode may exclude any file.
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

    /// The files among these that would change or disappear. Empty if git does not know the commit: the command
    /// then does nothing.
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

/// Whether a git argument covers a path: the path itself, a directory above it, or a pattern.
fn covers(name: &str, path: &str) -> bool {
    let name = tidied(name);
    matches!(name.as_str(), "" | ".")
        || name.starts_with(':')
        || name.contains(['*', '?', '['])
        || Path::new(path).starts_with(&name)
}

/// Git pathspecs for these paths, in any directory of a repository.
pub(crate) fn anywhere<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<String> {
    paths.flat_map(|path| [format!(":(top,glob)**/{path}"), format!(":(top,glob)**/{path}/**")]).collect()
}

/// A git pathspec for exactly this path from the top.
pub(crate) fn exactly(path: &Path) -> Option<String> {
    let path = path.to_str().filter(|path| !path.starts_with(".git/"))?;
    Some(format!(":(top,literal){path}"))
}
