//! The user's directories: home, configuration, state, caches.
//!
//! `HOME` and `XDG_*` may have been set by an untrusted parent process. They are used only if they are absolute,
//! belong to the user and are outside the project and `/proc`; otherwise the home directory comes from the
//! password database.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use crate::error::Error;
use crate::options::{Environment, Options};

/// The directories of one user, as a project sees them.
#[derive(Debug, Clone)]
pub struct Dirs {
    /// The home directory; the root directory if unknown, so that nothing is written to the work tree.
    pub home: PathBuf,
    /// The directory for state that belongs to no project.
    pub state: PathBuf,
    /// Whether `LICTOR_STATE_DIR` sets the state directory itself.
    pub(crate) state_is_given: bool,
    /// The directory for data that may be deleted at any time.
    pub cache: PathBuf,
    /// The user's policy file, there or not.
    pub user_policy: PathBuf,
    /// The managed policy file, there or not.
    pub managed_policy: PathBuf,
}

impl Dirs {
    /// As seen from a project with that root.
    pub(crate) fn of(options: &Options, project: Option<&Path>) -> Self {
        let environment = &*options.environment;
        let rules = Rules::new(project);
        let registered = || options.registered_home.clone().or_else(|| rules.registered_home());
        let home = rules.counting(environment, "HOME").or_else(registered);
        let home = home.unwrap_or_else(|| PathBuf::from("/"));
        let base = |name: &str, below: &str| {
            rules.counting(environment, name).unwrap_or_else(|| home.join(below)).join("lictor")
        };
        let given = environment.get("LICTOR_STATE_DIR").map(|directory| options.cwd.join(directory));
        Self {
            state_is_given: given.is_some(),
            state: given.unwrap_or_else(|| base("XDG_STATE_HOME", ".local/state")),
            cache: base("XDG_CACHE_HOME", ".cache"),
            user_policy: base("XDG_CONFIG_HOME", ".config").join("governance.yaml"),
            managed_policy: options.managed.clone(),
            home,
        }
    }

    /// The file with `init`'s data for undoing its changes.
    #[must_use]
    pub fn receipts_file(&self) -> PathBuf {
        self.state.join("receipts.json")
    }
}

/// Which directories from the environment are trusted.
struct Rules {
    user: u32,
    /// The project's root, as named and with links resolved.
    project: Vec<PathBuf>,
}

impl Rules {
    fn new(project: Option<&Path>) -> Self {
        let user = rustix::process::geteuid().as_raw();
        let real = project.and_then(|root| fs::canonicalize(root).ok());
        Self { user, project: project.map(Path::to_owned).into_iter().chain(real).collect() }
    }

    fn counting(&self, environment: &Environment, name: &str) -> Option<PathBuf> {
        let named = PathBuf::from(environment.get(name)?);
        (named.is_absolute() && self.is_the_users(&named) && !self.is_out_of_bounds(&named)).then_some(named)
    }

    /// Whether the user owns the directory. A missing directory belongs to the owner of its parent.
    fn is_the_users(&self, directory: &Path) -> bool {
        let there = directory.ancestors().find_map(|place| fs::metadata(place).ok());
        there.is_some_and(|found| found.is_dir() && found.uid() == self.user)
    }

    fn is_out_of_bounds(&self, directory: &Path) -> bool {
        let named = absolute(directory, Path::new("/"));
        let real = fs::canonicalize(directory).ok();
        [Some(named), real].into_iter().flatten().any(|place| {
            place.starts_with("/proc") || self.project.iter().any(|root| place.starts_with(root))
        })
    }

    /// The user's home directory in the password database.
    fn registered_home(&self) -> Option<PathBuf> {
        let home = PathBuf::from(registered(self.user)?.get(5)?);
        home.is_absolute().then_some(home)
    }
}

/// A user's line in the password database.
fn registered(user: u32) -> Option<Vec<String>> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    users.lines().find_map(|line| {
        let fields: Vec<String> = line.split(':').map(str::to_owned).collect();
        (fields.get(2)?.parse() == Ok(user)).then_some(fields)
    })
}

/// The user's name by the password database.
#[must_use]
pub fn user_name() -> Option<String> {
    registered(rustix::process::geteuid().as_raw())?.into_iter().next().filter(|name| !name.is_empty())
}

/// Creates a directory that only the user can access, and its parents.
///
/// # Errors
/// When it cannot be created.
pub fn create_private(directory: &Path) -> Result<(), Error> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(Error::file("cannot create", directory))
}

/// Absolute and without `.` and `..`, without resolving links.
#[must_use]
pub fn absolute(path: &Path, cwd: &Path) -> PathBuf {
    let joined = cwd.join(path);
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

#[cfg(test)]
mod tests;
