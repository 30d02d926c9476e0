//! Where things are: the project, its policy files, its state.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, bail};
use lictor_agents::install::Where;
use lictor_core::Digest;
use lictor_observe::RealObserver;

/// The project that an action belongs to.
#[derive(Debug, Clone)]
pub struct Project {
    /// The work tree's root, or the directory itself where there is no project.
    pub root: PathBuf,
    /// What Lictor's eyes know about it.
    pub seen: lictor_observe::Project,
    state_dir: OnceLock<PathBuf>,
}

impl Project {
    /// The project around a directory.
    pub fn around(directory: &Path) -> Self {
        let start = absolute(directory);
        let seen = lictor_observe::Project::discover(&start.to_string_lossy(), &RealObserver);
        let root = if seen.root.is_empty() { start } else { PathBuf::from(&seen.root) };
        Self { root, seen, state_dir: OnceLock::new() }
    }

    /// The repository's common `.git` directory, shared by all its work trees.
    pub fn git_common(&self) -> Option<&Path> {
        self.seen.git_common().map(Path::new)
    }

    /// Where this project's state is kept. Never in the work tree.
    pub fn state_dir(&self) -> &Path {
        self.state_dir.get_or_init(|| self.find_state_dir())
    }

    fn find_state_dir(&self) -> PathBuf {
        if variable("LICTOR_STATE_DIR").is_some() {
            return state_base();
        }
        let identity = self.git_common().unwrap_or(&self.root);
        let identity = fs::canonicalize(identity).unwrap_or_else(|_| identity.to_owned());
        let name = Digest::of(identity.as_os_str().as_encoded_bytes()).short();
        state_base().join(name)
    }

    /// The repository's policy file, there or not.
    pub fn policy_file(&self) -> PathBuf {
        self.root.join("governance.yaml")
    }
}

/// The user's policy file, there or not.
pub fn user_policy_file() -> PathBuf {
    base("XDG_CONFIG_HOME", ".config").join("lictor/governance.yaml")
}

/// The managed policy file, there or not.
pub fn managed_policy_file() -> PathBuf {
    PathBuf::from("/etc/lictor/governance.yaml")
}

/// Where state is kept that belongs to no project.
pub fn state_base() -> PathBuf {
    match variable("LICTOR_STATE_DIR") {
        Some(directory) => PathBuf::from(directory),
        None => base("XDG_STATE_HOME", ".local/state").join("lictor"),
    }
}

/// What `init` keeps for undoing what it did.
pub fn receipts_file() -> PathBuf {
    state_base().join("receipts.json")
}

/// Where things lie that may be thrown away at any time.
pub fn cache() -> PathBuf {
    base("XDG_CACHE_HOME", ".cache").join("lictor")
}

/// Where agents keep their settings.
pub fn settings(project: &Project) -> Where {
    Where::new(home(), project.root.clone(), |name| variable(name).map(PathBuf::from))
}

/// The program that is running, by the path under which hooks can start it again.
pub fn own_binary() -> Result<PathBuf> {
    let binary = env::current_exe().context("the path of this program is not known")?;
    let name = binary.file_name().unwrap_or_default();
    if name != "lictor" {
        bail!(
            "`{}` is not called `lictor`; rename it, or its hooks would not be known again",
            binary.display()
        );
    }
    Ok(binary)
}

/// Makes a directory that nobody else can look into, and those above it.
pub fn create_private(directory: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .with_context(|| format!("cannot create `{}`", directory.display()))
}

/// The user's home directory; the root directory when it is not known, so that nothing lands in the work tree.
pub fn home() -> PathBuf {
    variable("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from)
}

fn base(name: &str, below_home: &str) -> PathBuf {
    match variable(name).map(PathBuf::from) {
        Some(directory) if directory.is_absolute() => directory,
        _ => home().join(below_home),
    }
}

fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Absolute and without `.` and `..`, without looking at links.
pub fn absolute(path: &Path) -> PathBuf {
    let joined = if path.is_absolute() {
        path.to_owned()
    } else {
        env::current_dir().unwrap_or_else(|_| PathBuf::from("/")).join(path)
    };
    let mut clean = PathBuf::new();
    for component in joined.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}
