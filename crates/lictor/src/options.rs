//! What a runtime needs to know about its process. The library itself reads no environment variable.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lictor_core::{Clock, Timestamp};
use lictor_engine::SystemClock;
use lictor_store::Store;

/// A snapshot of environment variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: Vec<(OsString, OsString)>,
}

impl Environment {
    /// Those of this process.
    #[must_use]
    pub fn from_process() -> Self {
        Self { variables: std::env::vars_os().collect() }
    }

    /// Sets or replaces a variable.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        let name = name.into();
        self.variables.retain(|(known, _)| *known != name);
        self.variables.push((name, value.into()));
    }

    /// The value of a variable; an empty one counts as not set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
    }

    /// The same as text, whatever it is.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.to_str()).map(str::to_owned)
    }
}

/// How a runtime is opened: home and state directories, clock, store.
///
/// [`Options::from_process`] takes `HOME`, `XDG_*`, `PATH`, `LICTOR_STATE_DIR` and the current directory from the
/// process. [`Options::new`] knows none of them: the home directory then comes from the password database.
#[derive(Clone)]
pub struct Options {
    pub(crate) environment: Arc<Environment>,
    pub(crate) cwd: PathBuf,
    pub(crate) clock: SharedClock,
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) managed: PathBuf,
    pub(crate) registered_home: Option<PathBuf>,
    pub(crate) program: Option<fn() -> io::Result<PathBuf>>,
    pub(crate) caller: Option<u32>,
    /// The read-only paths in the caller's sandbox.
    pub(crate) read_only: Arc<[PathBuf]>,
    pub(crate) writable: Arc<[PathBuf]>,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("cwd", &self.cwd)
            .field("managed", &self.managed)
            .finish_non_exhaustive()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// Independent of the process: an empty environment, the root as current directory, the system's clock.
    #[must_use]
    pub fn new() -> Self {
        Self {
            environment: Arc::default(),
            cwd: PathBuf::from("/"),
            clock: SharedClock(Arc::new(SystemClock)),
            store: None,
            managed: PathBuf::from("/etc/lictor/governance.yaml"),
            registered_home: None,
            program: None,
            caller: None,
            read_only: Arc::default(),
            writable: Arc::default(),
        }
    }

    /// The environment and directory of this process.
    #[must_use]
    pub fn from_process() -> Self {
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        Self { environment: Arc::new(Environment::from_process()), cwd, ..Self::new() }
    }

    /// Sets an environment variable. It affects programs that the policy runs, and the meaning of commands like
    /// `rm $HOME/x`.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        Arc::make_mut(&mut self.environment).set(name, value);
        self
    }

    /// The home directory. Used only if it is absolute, owned by the user, and outside the project.
    #[must_use]
    pub fn home(self, directory: impl AsRef<Path>) -> Self {
        let directory = directory.as_ref().as_os_str().to_owned();
        self.env("HOME", directory)
    }

    /// The home directory if the environment has none that is trusted, instead of the one in the password
    /// database.
    #[must_use]
    pub fn registered_home(mut self, directory: impl Into<PathBuf>) -> Self {
        self.registered_home = Some(directory.into());
        self
    }

    /// The state directory, instead of one below the home directory.
    #[must_use]
    pub fn state_dir(self, directory: impl AsRef<Path>) -> Self {
        let directory = directory.as_ref().as_os_str().to_owned();
        self.env("LICTOR_STATE_DIR", directory)
    }

    /// The directory that relative paths are resolved against.
    #[must_use]
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cwd = directory.into();
        self
    }

    /// The clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = SharedClock(Arc::new(clock));
        self
    }

    /// The store to record in, instead of the project's own file.
    #[must_use]
    pub fn store(mut self, store: impl Store + 'static) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// As [`store`](Self::store), shared with others.
    #[must_use]
    pub fn shared_store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// The managed policy file, instead of `/etc/lictor/governance.yaml`.
    #[must_use]
    pub fn managed_policy(mut self, file: impl Into<PathBuf>) -> Self {
        self.managed = file.into();
        self
    }

    /// The `lictor` program that runs summoned councils. A process that ends with the event needs one; without it
    /// they run in a thread of this process.
    #[must_use]
    pub fn program(mut self, program: fn() -> io::Result<PathBuf>) -> Self {
        self.program = Some(program);
        self
    }

    /// The process that an event comes from, if it is not this one: its ancestors determine the agent.
    #[must_use]
    pub fn caller(mut self, pid: u32) -> Self {
        self.caller = Some(pid);
        self
    }

    /// The caller runs in a sandbox in which only `writable` paths, except those in `read_only`, can be written:
    /// git commands that would fail there are refused.
    #[must_use]
    pub fn sandboxed(
        mut self,
        read_only: impl IntoIterator<Item = PathBuf>,
        writable: impl IntoIterator<Item = PathBuf>,
    ) -> Self {
        self.read_only = read_only.into_iter().collect();
        self.writable = writable.into_iter().collect();
        self
    }

    /// The directory that relative paths are resolved against.
    #[must_use]
    pub fn current_dir(&self) -> &Path {
        &self.cwd
    }

    /// The environment.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// One clock for everything that a runtime does.
#[derive(Clone)]
pub(crate) struct SharedClock(pub(crate) Arc<dyn Clock>);

impl std::fmt::Debug for SharedClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedClock")
    }
}

impl Clock for SharedClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}
