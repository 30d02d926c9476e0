//! Implements [`Repository`] with the `git` program.
//!
//! Only plumbing commands, only NUL-separated output, no shell. The environment of a git hook (`GIT_DIR`,
//! `GIT_INDEX_FILE`, …) is passed on, so that inside `git commit -a` the index is the one that will be committed.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use super::command::{quiet, reading};
use super::{Changes, Commit, CommitArgs, Repository, RepositoryError, WorkFile};
use crate::ledger::RepositoryId;

/// Files larger than this are not read; evidence in them stays as it is.
const MAX_CONTENT: u64 = 8 * 1024 * 1024;

/// Asks git where its repository is.
const WHERE: [&str; 5] =
    ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--absolute-git-dir"];

/// A git repository.
#[derive(Debug, Clone)]
pub struct Git {
    id: RepositoryId,
    root: PathBuf,
    common: PathBuf,
    git_dir: PathBuf,
    index: Option<PathBuf>,
    /// The names of the configured filters, read before the first command that could run them.
    filters: OnceLock<Vec<OsString>>,
}

impl Git {
    /// The repository that a directory is in.
    ///
    /// # Errors
    /// When there is none, or git is not installed.
    pub fn at(dir: &Path) -> Result<Self, RepositoryError> {
        let mut command = reading(dir);
        command.args(WHERE);
        Self::read(dir, command)
    }

    /// The repository whose top is this directory: parent directories are not searched, even if this directory is
    /// not a repository.
    ///
    /// # Errors
    /// When there is none, or git is not installed.
    pub fn rooted(root: &Path) -> Result<Self, RepositoryError> {
        let mut command = reading(root);
        command.args(WHERE);
        if let Some(above) = root.parent() {
            command.env("GIT_CEILING_DIRECTORIES", above);
        }
        Self::read(root, command)
    }

    fn read(dir: &Path, command: Command) -> Result<Self, RepositoryError> {
        let output = finish(command, None)?;
        if !output.status.success() {
            return Err(RepositoryError::NotARepository(dir.to_owned()));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = text.lines().map(PathBuf::from);
        let (Some(root), Some(common), Some(git_dir)) = (lines.next(), lines.next(), lines.next()) else {
            return Err(RepositoryError::NotARepository(dir.to_owned()));
        };
        let common = std::fs::canonicalize(&common).unwrap_or(common);
        let root = std::fs::canonicalize(&root).unwrap_or(root);
        let (id, filters) = (RepositoryId::of(&common), OnceLock::new());
        Ok(Self { id, root, common, git_dir, index: None, filters })
    }

    /// The same repository with another index.
    #[must_use]
    pub fn with_index(mut self, index: PathBuf) -> Self {
        self.index = Some(index);
        self
    }

    /// The directory that all work trees share.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.common
    }

    /// The directory of this work tree.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The value of a setting; `None` when it is not set.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn setting(&self, name: &str) -> Result<Option<String>, RepositoryError> {
        let mut command = reading(&self.root);
        command.args(["config", "--get", name]);
        let output = finish(command, None)?;
        let value = String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned();
        Ok(output.status.success().then_some(value))
    }

    /// Where git looks for hooks, including `core.hooksPath`.
    ///
    /// # Errors
    /// When git fails.
    pub fn hooks_dir(&self) -> Result<PathBuf, RepositoryError> {
        let args = ["rev-parse", "--path-format=absolute", "--git-path", "hooks"];
        let mut command = reading(&self.root);
        command.args(args);
        let output = finish(command, None)?;
        if !output.status.success() {
            return Err(failed(&args, &output));
        }
        let path = String::from_utf8_lossy(&output.stdout);
        Ok(PathBuf::from(path.trim_end_matches('\n')))
    }

    fn output<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        stdin: Option<&[u8]>,
    ) -> Result<Output, RepositoryError> {
        self.output_in(&self.root, args, stdin)
    }

    fn output_in<A: AsRef<OsStr>>(
        &self,
        dir: &Path,
        args: impl IntoIterator<Item = A>,
        stdin: Option<&[u8]>,
    ) -> Result<Output, RepositoryError> {
        // Whenever git reads the index, it reads files whose timestamp does not prove that they are unchanged.
        let mut command = quiet(dir, self.filters()?);
        command.args(args);
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        finish(command, stdin)
    }

    /// The configured filters, which are arbitrary programs. Without them the raw content of a file counts.
    fn filters(&self) -> Result<&[OsString], RepositoryError> {
        if let Some(known) = self.filters.get() {
            return Ok(known);
        }
        let found = filters(&self.root)?;
        Ok(self.filters.get_or_init(|| found))
    }

    /// Adds changes of the work tree to the index. Git's own command would enter submodules, which have their own
    /// configuration.
    fn stage(&self, new_too: bool) -> Result<(), RepositoryError> {
        let mut names = self.bytes(["diff-files", "-z", "--name-only", "--ignore-submodules=dirty"], None)?;
        if new_too {
            let others = self.bytes(["ls-files", "-z", "--others", "--exclude-standard"], None)?;
            // A name that ends in a slash is a nested repository.
            for name in
                others.split(|byte| *byte == 0).filter(|name| !name.is_empty() && !name.ends_with(b"/"))
            {
                names.extend_from_slice(name);
                names.push(0);
            }
        }
        self.update_index(&names)
    }

    fn update_index(&self, names: &[u8]) -> Result<(), RepositoryError> {
        self.bytes(["update-index", "--add", "--remove", "-z", "--stdin"], Some(names)).map(drop)
    }

    fn bytes<const N: usize>(
        &self,
        args: [&str; N],
        stdin: Option<&[u8]>,
    ) -> Result<Vec<u8>, RepositoryError> {
        let output = self.output(args, stdin)?;
        if output.status.success() { Ok(output.stdout) } else { Err(failed(&args, &output)) }
    }

    /// The index that a plain `git commit` would use.
    fn current_index(&self) -> PathBuf {
        let named = self.index.clone().or_else(|| std::env::var_os("GIT_INDEX_FILE").map(PathBuf::from));
        self.root.join(named.unwrap_or_else(|| self.git_dir.join("index")))
    }

    /// Copies the index with its timestamp. Git rereads a file that is as old as the index; with a newer index it
    /// would trust the file's size and time.
    fn copy_index(&self, to: &Path) -> Result<(), RepositoryError> {
        let from = self.current_index();
        let copy = || -> std::io::Result<()> {
            let written = std::fs::metadata(&from)?.modified()?;
            std::fs::copy(&from, to)?;
            std::fs::File::options().write(true).open(to)?.set_modified(written)
        };
        match copy() {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(RepositoryError::Io { path: from, source })
            }
            _ => Ok(()),
        }
    }

    fn inside_submodule(&self, path: &str) -> bool {
        Path::new(path)
            .ancestors()
            .skip(1)
            .filter(|dir| !dir.as_os_str().is_empty())
            .any(|dir| self.root.join(dir).join(".git").symlink_metadata().is_ok())
    }
}

fn finish(mut command: Command, stdin: Option<&[u8]>) -> Result<Output, RepositoryError> {
    command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(RepositoryError::NoGit)?;
    let pipe = child.stdin.take();
    std::thread::scope(|scope| {
        // Git may close the pipe before it has read everything; that is not an error.
        scope.spawn(|| {
            if let (Some(mut pipe), Some(bytes)) = (pipe, stdin) {
                let _ = pipe.write_all(bytes);
            }
        });
        child.wait_with_output().map_err(RepositoryError::NoGit)
    })
}

fn scratch() -> Result<tempfile::TempDir, RepositoryError> {
    tempfile::tempdir().map_err(|source| RepositoryError::Io { path: std::env::temp_dir(), source })
}

fn failed(args: &[&str], output: &Output) -> RepositoryError {
    let said = String::from_utf8_lossy(&output.stderr);
    RepositoryError::Git {
        command: args.iter().take(3).copied().collect::<Vec<_>>().join(" "),
        said: said.trim().chars().take(500).collect(),
    }
}

/// The names of the filters that are configured for a repository: the middle part of names like
/// `filter.NAME.clean`, each once. [`quiet`] disables them.
///
/// # Errors
/// When git fails.
fn filters(dir: &Path) -> Result<Vec<OsString>, RepositoryError> {
    let args = ["config", "--null", "--name-only", "--get-regexp", r"^filter\..*\."];
    let mut command = reading(dir);
    command.args(args);
    let output = finish(command, None)?;
    // Exit code 1 means that there are none.
    if !output.status.success() && output.status.code() != Some(1) {
        return Err(failed(&args, &output));
    }
    let middle = |name: &[u8]| {
        let name = name.strip_prefix(b"filter.")?;
        let end = name.iter().rposition(|byte| *byte == b'.')?;
        Some(OsStr::from_bytes(name.get(..end)?).to_owned())
    };
    let mut found: Vec<OsString> = output.stdout.split(|byte| *byte == 0).filter_map(middle).collect();
    found.sort();
    found.dedup();
    Ok(found)
}

fn fields(bytes: &[u8]) -> impl Iterator<Item = String> + '_ {
    bytes
        .split(|byte| *byte == 0)
        .filter(|field| !field.is_empty())
        .map(|field| String::from_utf8_lossy(field).into_owned())
}

fn joined(paths: &[String]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend_from_slice(path.as_bytes());
        bytes.push(0);
    }
    bytes
}

impl Repository for Git {
    fn id(&self) -> &RepositoryId {
        &self.id
    }

    fn root(&self) -> &Path {
        &self.root
    }

    fn index_tree(&self) -> Result<String, RepositoryError> {
        let output = self.output(["write-tree"], None)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let unmerged = self.bytes(["ls-files", "--unmerged", "-z"], None)?;
        Err(if unmerged.is_empty() { failed(&["write-tree"], &output) } else { RepositoryError::Conflicts })
    }

    fn commit_tree(&self, args: &CommitArgs, dir: &Path) -> Result<String, RepositoryError> {
        if !args.all && args.paths.is_empty() {
            return self.index_tree();
        }
        let scratch = scratch()?;
        let index = scratch.path().join("index");
        let only = !args.all && !args.include;
        if !only {
            self.copy_index(&index)?;
        }
        let staged = self.clone().with_index(index);
        if only && self.commit("HEAD")?.is_some() {
            staged.bytes(["read-tree", "HEAD"], None)?;
        }
        if args.all {
            staged.stage(false)?;
        }
        if !args.paths.is_empty() {
            let mut list = vec!["ls-files", "--full-name", "-z", "--"];
            list.extend(args.paths.iter().map(String::as_str));
            let output = self.output_in(dir, &list, None)?;
            if !output.status.success() {
                return Err(failed(&list, &output));
            }
            staged.update_index(&output.stdout)?;
        }
        staged.index_tree()
    }

    fn commit(&self, name: &str) -> Result<Option<Commit>, RepositoryError> {
        let name = format!("{name}^{{commit}}");
        let output = self.output(["rev-parse", "--verify", "--quiet", "--end-of-options", &name], None)?;
        if !output.status.success() {
            return Ok(None);
        }
        let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(self.commits(&id, &[], 1)?.into_iter().next())
    }

    fn commits(&self, tip: &str, known: &[String], limit: usize) -> Result<Vec<Commit>, RepositoryError> {
        let limit = format!("--max-count={limit}");
        let mut args =
            vec!["log", "--no-show-signature", "--format=%H %T %P", "--topo-order", &limit, tip, "--not"];
        args.extend(known.iter().map(String::as_str));
        args.push("--");
        let output = self.output(&args, None)?;
        if !output.status.success() {
            return Err(failed(&args, &output));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text
            .lines()
            .filter_map(|line| {
                let mut words = line.split_ascii_whitespace().map(str::to_owned);
                Some(Commit { id: words.next()?, tree: words.next()?, parents: words.collect() })
            })
            .collect())
    }

    fn changes(&self, from: Option<&str>, to: &str) -> Result<Changes, RepositoryError> {
        let mut changes = Changes::default();
        let Some(from) = from else {
            let bytes = self.bytes(["ls-tree", "-r", "-z", "--full-tree", to], None)?;
            for line in fields(&bytes) {
                let Some((meta, path)) = line.split_once('\t') else { continue };
                let mut meta = meta.split(' ');
                let (mode, _, object) = (meta.next(), meta.next(), meta.next());
                changes.note(mode.unwrap_or_default(), object.unwrap_or_default(), path.to_owned());
            }
            return Ok(changes);
        };
        let bytes = self.bytes(["diff-tree", "-r", "-M", "-z", "--raw", "--no-abbrev", from, to], None)?;
        let mut fields = fields(&bytes);
        // `:oldmode newmode oldobject newobject status`, then one path, or two for a rename.
        while let (Some(meta), Some(path)) = (fields.next(), fields.next()) {
            let words: Vec<&str> = meta.trim_start_matches(':').split(' ').collect();
            let [_, mode, _, object, status] = words.as_slice() else { continue };
            match status.chars().next() {
                Some('D') => changes.deleted.push(path),
                Some('R' | 'C') => {
                    let Some(new) = fields.next() else { break };
                    changes.note(mode, object, new.clone());
                    changes.renamed.insert(path.clone(), new);
                    changes.deleted.push(path);
                }
                _ => changes.note(mode, object, path),
            }
        }
        Ok(changes)
    }

    fn blobs(&self, tree: &str, paths: &[String]) -> Result<Vec<Option<String>>, RepositoryError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<String> = paths.iter().map(|path| format!("{tree}:{path}")).collect();
        let bytes = self
            .bytes(["cat-file", "-z", "--batch-check=%(objecttype) %(objectname)"], Some(&joined(&names)))?;
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines();
        Ok(paths
            .iter()
            .map(|path| {
                // For a missing object the response repeats the name, including line breaks.
                (0..path.matches('\n').count()).for_each(|_| _ = lines.next());
                lines.next().and_then(|line| line.strip_prefix("blob ")).map(str::to_owned)
            })
            .collect())
    }

    fn contents(&self, blobs: &[&str]) -> Result<Vec<Option<Vec<u8>>>, RepositoryError> {
        if blobs.is_empty() {
            return Ok(Vec::new());
        }
        let lines =
            |blobs: &[&str]| blobs.iter().flat_map(|blob| [*blob, "\n"]).collect::<String>().into_bytes();
        let sizes =
            self.bytes(["cat-file", "--batch-check=%(objecttype) %(objectsize)"], Some(&lines(blobs)))?;
        let sizes = String::from_utf8_lossy(&sizes).into_owned();
        let sizes: Vec<Option<usize>> = sizes
            .lines()
            .map(|line| line.strip_prefix("blob ")?.parse().ok().filter(|size| *size <= MAX_CONTENT))
            .map(|size: Option<u64>| size.and_then(|size| usize::try_from(size).ok()))
            .collect();
        let wanted: Vec<&str> =
            blobs.iter().zip(&sizes).filter(|(_, size)| size.is_some()).map(|(blob, _)| *blob).collect();
        let all = self.bytes(["cat-file", "--batch=%(objecttype)"], Some(&lines(&wanted)))?;
        // Each response is `blob`, a line end, the content, a line end.
        let mut rest = all.as_slice();
        Ok(sizes
            .into_iter()
            .map(|size| {
                let after = rest.strip_prefix(b"blob\n")?;
                let (content, tail) = after.split_at_checked(size?)?;
                rest = tail.strip_prefix(b"\n").unwrap_or(tail);
                Some(content.to_vec())
            })
            .collect())
    }

    fn work_files(&self, paths: &[String]) -> Result<Vec<Option<WorkFile>>, RepositoryError> {
        let is_file = |path: &str| {
            let meta = self.root.join(path).symlink_metadata();
            let fits = meta.is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_CONTENT);
            // Git parses a leading quote as the beginning of a quoted name.
            fits && !path.contains('\n') && !path.starts_with('"') && !self.inside_submodule(path)
        };
        let there: Vec<bool> = paths.iter().map(|path| is_file(path)).collect();
        let names: String = paths
            .iter()
            .zip(&there)
            .filter(|(_, there)| **there)
            .flat_map(|(path, _)| [path.as_str(), "\n"])
            .collect();
        if names.is_empty() {
            return Ok(vec![None; paths.len()]);
        }
        let blobs = self.bytes(["hash-object", "--stdin-paths"], Some(names.as_bytes()))?;
        let blobs = String::from_utf8_lossy(&blobs).into_owned();
        let mut blobs = blobs.lines();
        let mut read = |path: &String| {
            let file = self.root.join(path);
            let content =
                std::fs::read(&file).map_err(|source| RepositoryError::Io { path: file, source })?;
            Ok(blobs.next().map(|blob| WorkFile { blob: blob.to_owned(), content }))
        };
        paths.iter().zip(there).map(|(path, there)| if there { read(path) } else { Ok(None) }).collect()
    }

    fn work_tree(&self) -> Result<String, RepositoryError> {
        let scratch = scratch()?;
        let index = scratch.path().join("index");
        self.copy_index(&index)?;
        let staged = self.clone().with_index(index);
        staged.stage(true)?;
        staged.index_tree()
    }

    fn differs(&self, tree: &str) -> Result<bool, RepositoryError> {
        let args =
            ["diff", "--quiet", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", tree, "--"];
        let output = self.output(args, None)?;
        match output.status.code() {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => Err(failed(&args, &output)),
        }
    }

    fn dependents(&self, tree: &str, files: &[String]) -> Result<Vec<String>, RepositoryError> {
        let mut found = std::collections::BTreeSet::new();
        for chunk in files.chunks(64) {
            let stems: Vec<String> = chunk
                .iter()
                .filter_map(|file| Path::new(file).file_stem().and_then(OsStr::to_str))
                .filter(|stem| {
                    stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
                })
                .map(str::to_owned)
                .collect();
            if stems.is_empty() {
                continue;
            }
            let pattern = format!(
                "(import|from|use|require|include|mod|load).*(^|[^A-Za-z0-9_])({})($|[^A-Za-z0-9_])",
                stems.join("|")
            );
            let output = self.output(["grep", "-l", "-z", "-I", "-E", "-e", &pattern, tree], None)?;
            // Exit code 1 means that nothing matched.
            if !output.status.success() && output.status.code() != Some(1) {
                return Err(failed(&["grep"], &output));
            }
            found.extend(
                fields(&output.stdout).filter_map(|hit| hit.split_once(':').map(|(_, path)| path.to_owned())),
            );
        }
        Ok(found.into_iter().collect())
    }

    fn export(&self, tree: &str, into: &Path) -> Result<(), RepositoryError> {
        let scratch = scratch()?;
        let staged = self.clone().with_index(scratch.path().join("index"));
        staged.bytes(["read-tree", tree], None)?;
        let prefix = format!("--prefix={}/", into.display());
        staged.bytes(["checkout-index", "--all", "--force", &prefix], None)?;
        Ok(())
    }
}

impl Changes {
    fn note(&mut self, mode: &str, object: &str, path: String) {
        let place = if mode == "160000" { &mut self.submodules } else { &mut self.files };
        place.insert(path, object.to_owned());
    }
}
