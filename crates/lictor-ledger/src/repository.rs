//! The ledger's interface to a version-controlled project. [`Git`] implements it with `git`; tests have their
//! own.

mod command;
mod commit_args;
mod git;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

pub use command::quiet;
pub use commit_args::CommitArgs;
pub use git::Git;

use crate::ledger::RepositoryId;

/// Why a repository gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepositoryError {
    /// There is no repository here.
    #[error("`{0}` is not inside a git repository; run `git init`, or run this inside one")]
    NotARepository(PathBuf),
    /// `git` cannot be started.
    #[error("cannot run `git`: {0}; install git and make sure that it is on the PATH")]
    NoGit(std::io::Error),
    /// `git` failed.
    #[error("`git {command}` failed: {said}")]
    Git {
        /// The first words of the command.
        command: String,
        /// Its error output.
        said: String,
    },
    /// The index holds a merge that is not finished.
    #[error("the index has unresolved conflicts; resolve them and `git add` the files")]
    Conflicts,
    /// A file could not be read.
    #[error("cannot read `{path}`: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system error.
        source: std::io::Error,
    },
}

/// A commit and its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The commit's object id.
    pub id: String,
    /// Its tree's object id.
    pub tree: String,
    /// Its parents.
    pub parents: Vec<String>,
}

/// A file in the work tree or a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkFile {
    /// The object id that its content has, or would have once added.
    pub blob: String,
    /// Its content.
    pub content: Vec<u8>,
}

/// Paths that differ between two trees.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Files that are in the second tree, with their blobs.
    pub files: BTreeMap<String, String>,
    /// Submodules that are in the second tree, with their commits.
    pub submodules: BTreeMap<String, String>,
    /// Files that are only in the first tree.
    pub deleted: Vec<String>,
    /// Where files went, old name to new.
    pub renamed: HashMap<String, String>,
}

/// The operations of a repository. Paths are relative to the root and use `/`.
pub trait Repository: Sync {
    /// Which repository: the same in all of its work trees.
    fn id(&self) -> &RepositoryId;

    /// The top of the work tree.
    fn root(&self) -> &Path;

    /// The tree that a commit of the index would have.
    ///
    /// # Errors
    /// When the index has conflicts, or git fails.
    fn index_tree(&self) -> Result<String, RepositoryError>;

    /// The tree that `git commit` with these arguments, run in `dir`, would have.
    ///
    /// # Errors
    /// As [`index_tree`](Self::index_tree).
    fn commit_tree(&self, args: &CommitArgs, dir: &Path) -> Result<String, RepositoryError>;

    /// The commit with this name; `None` when there is none, as before the first commit.
    ///
    /// # Errors
    /// When git fails.
    fn commit(&self, name: &str) -> Result<Option<Commit>, RepositoryError>;

    /// Commits that `tip` has and none of `known` has, newest first, at most `limit`.
    ///
    /// # Errors
    /// When git fails.
    fn commits(&self, tip: &str, known: &[String], limit: usize) -> Result<Vec<Commit>, RepositoryError>;

    /// What differs between two trees. `None` is the empty tree.
    ///
    /// # Errors
    /// When git fails.
    fn changes(&self, from: Option<&str>, to: &str) -> Result<Changes, RepositoryError>;

    /// The blobs of these paths in a tree; `None` where there is no such file.
    ///
    /// # Errors
    /// When git fails.
    fn blobs(&self, tree: &str, paths: &[String]) -> Result<Vec<Option<String>>, RepositoryError>;

    /// The contents of blobs; `None` where the repository does not have one (any more), or it is too large to
    /// read.
    ///
    /// # Errors
    /// When git fails.
    fn contents(&self, blobs: &[&str]) -> Result<Vec<Option<Vec<u8>>>, RepositoryError>;

    /// Files as they are in the work tree; `None` where there is none, or it belongs to a submodule.
    ///
    /// # Errors
    /// When git fails.
    fn work_files(&self, paths: &[String]) -> Result<Vec<Option<WorkFile>>, RepositoryError>;

    /// The tree of the whole work tree, without ignored files.
    ///
    /// # Errors
    /// When git fails.
    fn work_tree(&self) -> Result<String, RepositoryError>;

    /// Whether tracked files of the work tree differ from a tree.
    ///
    /// # Errors
    /// When git fails.
    fn differs(&self, tree: &str) -> Result<bool, RepositoryError>;

    /// Files of a tree that import one of these files, judged by their text.
    ///
    /// # Errors
    /// When git fails.
    fn dependents(&self, tree: &str, files: &[String]) -> Result<Vec<String>, RepositoryError>;

    /// Writes the files of a tree into an empty directory.
    ///
    /// # Errors
    /// When git fails.
    fn export(&self, tree: &str, into: &Path) -> Result<(), RepositoryError>;
}
