//! What a runtime has to be told about the process it runs in. The library itself reads no environment variable.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lictor_core::{Clock, Timestamp};
use lictor_engine::SystemClock;
use lictor_store::Store;

/// Environment variables, as they were when they were taken.
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

    /// Sets one, in place of what it was.
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

/// How a runtime is opened: where home and state are, what time it is, which store to use.
///
/// [`Options::from_process`] takes `HOME`, `XDG_*`, `PATH`, `LICTOR_STATE_DIR` and the current directory from the
/// process. [`Options::new`] knows none of them: home is then what the password database says.
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
    /// What is read-only where the caller runs.
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
    /// Nothing of the process: an empty environment, the root as current directory, the system's clock.
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

    /// What this process was started with.
    #[must_use]
    pub fn from_process() -> Self {
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        Self { environment: Arc::new(Environment::from_process()), cwd, ..Self::new() }
    }

    /// Sets an environment variable. Programs that policy runs, and what a command like `rm $HOME/x` means, depend on it.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        Arc::make_mut(&mut self.environment).set(name, value);
        self
    }

    /// The home directory. Counts where it is absolute, the user's own, and outside the project.
    #[must_use]
    pub fn home(self, directory: impl AsRef<Path>) -> Self {
        let directory = directory.as_ref().as_os_str().to_owned();
        self.env("HOME", directory)
    }

    /// Where home is when the environment does not say so, or is not believed; in place of what the password database says.
    #[must_use]
    pub fn registered_home(mut self, directory: impl Into<PathBuf>) -> Self {
        self.registered_home = Some(directory.into());
        self
    }

    /// The directory for state, in place of one below the home directory.
    #[must_use]
    pub fn state_dir(self, directory: impl AsRef<Path>) -> Self {
        let directory = directory.as_ref().as_os_str().to_owned();
        self.env("LICTOR_STATE_DIR", directory)
    }

    /// What relative paths are relative to.
    #[must_use]
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cwd = directory.into();
        self
    }

    /// Where time comes from.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = SharedClock(Arc::new(clock));
        self
    }

    /// The store to record in, in place of the project's own file.
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

    /// The managed policy file, in place of `/etc/lictor/governance.yaml`.
    #[must_use]
    pub fn managed_policy(mut self, file: impl Into<PathBuf>) -> Self {
        self.managed = file.into();
        self
    }

    /// Which `lictor` program councils are started with when an event makes them meet. A process that ends with the event
    /// needs one; without it they look in a thread of this process.
    #[must_use]
    pub fn program(mut self, program: fn() -> io::Result<PathBuf>) -> Self {
        self.program = Some(program);
        self
    }

    /// The process that an event comes from, when it is not this one: which agent it runs under is told by its
    /// ancestors.
    #[must_use]
    pub fn caller(mut self, pid: u32) -> Self {
        self.caller = Some(pid);
        self
    }

    /// The caller runs in a sandbox in which only what lies in `writable` can be written, and of that not what lies in
    /// `read_only`: it is told what git cannot do there.
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

    /// What relative paths are relative to.
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
