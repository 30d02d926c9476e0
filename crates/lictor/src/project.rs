//! A project: its root, its policy files, its state, and the observer of its files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lictor_agents::install::Where;
use lictor_core::Digest;
use lictor_observe::{Identity, Names, Observer, RealObserver, Seen, Stat};
use lictor_store::{ArchivedStore, KeyError, Keyring, SqliteOptions, Store};

use crate::companion;
use crate::dirs::{self, Dirs};
use crate::error::Error;
use crate::options::{Environment, Options};
use crate::policy_files;

/// The store's file in the state directory.
const STORE: &str = "lictor.db";
/// How long commands of people and reviewers wait for the store.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a hook waits for a database.
const TURN: Duration = Duration::from_secs(2);

/// The project that an action belongs to.
#[derive(Debug, Clone)]
pub struct Project {
    /// The work tree's root, or the directory itself where there is no project.
    pub root: PathBuf,
    /// What is known about it before any evaluation.
    pub seen: lictor_observe::Project,
    dirs: Arc<Dirs>,
    options: Options,
    state_dir: OnceLock<PathBuf>,
    /// The database of the record; `None` for the file in the state directory.
    database: OnceLock<Option<String>>,
    /// The keys that seal the record and the data beside it, loaded lazily.
    keys: OnceLock<Keyring>,
}

impl Project {
    /// The project around a directory.
    #[must_use]
    pub fn around(directory: &Path, options: &Options) -> Self {
        let start = dirs::absolute(directory, &options.cwd);
        let tree =
            lictor_observe::Project::work_tree(&start.to_string_lossy(), &RealObserver).map(PathBuf::from);
        // A directory with a policy is a project too.
        let ruled = || fs::symlink_metadata(start.join(POLICY)).is_ok();
        let bounds = tree.clone().or_else(|| ruled().then(|| start.clone()));
        let dirs = Arc::new(Dirs::of(options, bounds.as_deref()));
        let root = tree.unwrap_or_else(|| start.clone());
        let eyes = Eyes::new(&options.environment, &dirs.home);
        let seen = lictor_observe::Project::at(&root.to_string_lossy(), &eyes);
        let root = if seen.root.is_empty() { start } else { PathBuf::from(&seen.root) };
        Self {
            root,
            seen,
            dirs,
            options: options.clone(),
            state_dir: OnceLock::new(),
            database: OnceLock::new(),
            keys: OnceLock::new(),
        }
    }

    /// The project with this root and state, without a new search: a repository that was created above it later
    /// does not change where a session belongs.
    #[must_use]
    pub fn pinned(root: &Path, state: Option<PathBuf>, options: &Options) -> Self {
        let mut project = Self::around(root, options);
        if project.root != root {
            root.clone_into(&mut project.root);
            project.seen.root = root.to_string_lossy().into_owned();
        }
        if let Some(state) = state {
            project.state_dir = OnceLock::from(state);
        }
        project
    }

    /// Whether it is the same project with the same options. The current directory and the process do not matter.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (one, two) = (&self.options, &other.options);
        self.root == other.root
            && self.seen == other.seen
            && self.state_dir() == other.state_dir()
            && one.environment == two.environment
            && Arc::ptr_eq(&one.clock.0, &two.clock.0)
            && (&one.managed, &one.registered_home) == (&two.managed, &two.registered_home)
            && one.store.is_none()
            && two.store.is_none()
    }

    /// The directory of the person's keys, which sign their answers.
    #[must_use]
    pub fn person_keys(&self) -> PathBuf {
        self.dirs.state.join("keys")
    }

    /// The keys that seal the project's record and the data beside it, created if missing and `create` is set.
    /// The second value is whether they were created.
    pub(crate) fn record_keys(&self, create: bool) -> Result<Option<(Keyring, bool)>, Error> {
        if let Some(known) = self.keys.get() {
            return Ok(Some((known.clone(), false)));
        }
        let file = self.record_key_file();
        let loaded = match Keyring::load(&file) {
            Ok(keys) => (keys, false),
            Err(KeyError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                if !create {
                    return Ok(None);
                }
                if let Some(directory) = file.parent() {
                    dirs::create_private(directory)?;
                }
                Keyring::load_or_create(&file)?
            }
            Err(error) => return Err(error.into()),
        };
        self.keys.get_or_init(|| loaded.0.clone());
        Ok(Some(loaded))
    }

    pub(crate) fn record_key_file(&self) -> PathBuf {
        self.state_dir().join("keys").join("record.key")
    }

    /// The user's directories, as this project sees them.
    #[must_use]
    pub fn dirs(&self) -> &Dirs {
        &self.dirs
    }

    /// Its options.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The repository's common `.git` directory, shared by all its work trees.
    #[must_use]
    pub fn git_common(&self) -> Option<&Path> {
        self.seen.git_common().map(Path::new)
    }

    /// The directory of this project's state. Never in the work tree.
    #[must_use]
    pub fn state_dir(&self) -> &Path {
        self.state_dir.get_or_init(|| self.find_state_dir())
    }

    fn find_state_dir(&self) -> PathBuf {
        if self.dirs.state_is_given {
            return self.dirs.state.clone();
        }
        let name = Digest::of(self.identity().as_os_str().as_encoded_bytes()).short();
        self.dirs.state.join(name)
    }

    /// The identity that all work trees of one repository share.
    pub(crate) fn identity(&self) -> PathBuf {
        let identity = self.git_common().unwrap_or(&self.root);
        fs::canonicalize(identity).unwrap_or_else(|_| identity.to_owned())
    }

    /// The repository's policy file, there or not.
    #[must_use]
    pub fn policy_file(&self) -> PathBuf {
        self.root.join(POLICY)
    }

    /// Where agents keep their settings.
    #[must_use]
    pub fn agent_settings(&self) -> Where {
        self.agent_settings_when_asked()()
    }

    /// The same, computed lazily.
    pub(crate) fn agent_settings_when_asked(&self) -> impl Fn() -> Where + use<> {
        let (environment, dirs) = (Arc::clone(&self.options.environment), Arc::clone(&self.dirs));
        let root = self.root.clone();
        move || {
            let named = |name: &str| environment.get(name).map(PathBuf::from);
            Where::new(dirs.home.clone(), root.clone(), named)
        }
    }

    /// The observer of the machine for this project.
    pub(crate) fn eyes(&self) -> Eyes {
        Eyes::new(&self.options.environment, &self.dirs.home)
    }

    /// The project's store. Created if missing.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn store(&self) -> Result<Arc<dyn Store>, Error> {
        match &self.options.store {
            Some(store) => Ok(Arc::clone(store)),
            None => self.open_store(None, true, true),
        }
    }

    /// The project's store for commands that people and reviewers run: a finding waits for the store rather than
    /// failing.
    ///
    /// # Errors
    /// When it cannot be opened; [`Error::NothingRecorded`] when it does not exist and must not be created.
    pub fn patient_store(&self, create: bool) -> Result<Arc<dyn Store>, Error> {
        if !create && !self.has_store() {
            return Err(Error::NothingRecorded(self.root.clone()));
        }
        self.open_store(Some(PATIENCE), create, true)
    }

    /// The project's existing store: commands that only read must not create it.
    ///
    /// # Errors
    /// As [`patient_store`](Self::patient_store).
    pub fn existing_store(&self) -> Result<Arc<dyn Store>, Error> {
        if !self.has_store() {
            return Err(Error::NothingRecorded(self.root.clone()));
        }
        let store = self.open_store(None, false, false)?;
        let has_archives = self.store_file().is_some();
        Ok(if has_archives { Arc::new(ArchivedStore::new(store, self.archives())) } else { store })
    }

    /// The file of the record; `None` if a database or another store holds it.
    pub(crate) fn store_file(&self) -> Option<PathBuf> {
        let elsewhere = self.options.store.is_some() || self.database().map_or(true, |found| found.is_some());
        (!elsewhere).then(|| self.state_dir().join(STORE))
    }

    /// The database of the record, as set in the policy files.
    fn database(&self) -> Result<Option<&str>, Error> {
        if let Some(known) = self.database.get() {
            return Ok(known.as_deref());
        }
        let said = policy_files::database(self)?;
        Ok(self.database.get_or_init(|| said).as_deref())
    }

    /// The same, by files that were read already.
    pub(crate) fn settle(&self, database: Option<&str>) {
        self.database.get_or_init(|| database.map(str::to_owned));
    }

    fn open_store(
        &self,
        wait: Option<Duration>,
        create: bool,
        new_keys: bool,
    ) -> Result<Arc<dyn Store>, Error> {
        if let Some(store) = &self.options.store {
            return Ok(Arc::clone(store));
        }
        if let Some(address) = self.database()? {
            return companion::store(self, address, wait.unwrap_or(TURN), new_keys);
        }
        let mut options = SqliteOptions::new().create(create);
        if let Some(wait) = wait {
            options = options.wait(wait);
        }
        // If keys are created now, existing records were written by a version without keys.
        if let Some((keys, made)) = self.record_keys(new_keys)? {
            options = options.keys(keys).adopt(made);
        }
        Ok(Arc::new(options.open(self.state_dir().join(STORE))?))
    }

    /// The directory of archives.
    #[must_use]
    pub fn archives(&self) -> PathBuf {
        self.state_dir().join("archive")
    }

    /// Whether the project has a store. An inaccessible one counts: opening it reports the error.
    #[must_use]
    pub fn has_store(&self) -> bool {
        self.options.store.is_some()
            || self.state_dir().join(STORE).try_exists().unwrap_or(true)
            || self.database().map_or(true, |database| database.is_some())
    }
}

/// The name of the repository's policy file.
const POLICY: &str = "governance.yaml";

/// Observes the machine, with the environment of the runtime's options.
#[derive(Debug, Clone)]
pub(crate) struct Eyes {
    environment: Arc<Environment>,
    home: Option<String>,
}

impl Eyes {
    fn new(environment: &Arc<Environment>, home: &Path) -> Self {
        Self { environment: Arc::clone(environment), home: home.to_str().map(str::to_owned) }
    }
}

impl Observer for Eyes {
    fn look(&self, path: &str) -> Seen {
        RealObserver.look(path)
    }

    fn link(&self, path: &str) -> Option<String> {
        RealObserver.link(path)
    }

    fn names(&self, directory: &str, limit: usize) -> Option<Names> {
        RealObserver.names(directory, limit)
    }

    fn content(&self, path: &str, limit: usize) -> Option<Digest> {
        RealObserver.content(path, limit)
    }

    fn text(&self, path: &str, limit: usize) -> Option<String> {
        RealObserver.text(path, limit)
    }

    fn bytes(&self, path: &str, limit: usize) -> Option<Vec<u8>> {
        RealObserver.bytes(path, limit)
    }

    fn part(&self, path: &str, from: u64, length: usize) -> Option<Vec<u8>> {
        RealObserver.part(path, from, length)
    }

    fn stat(&self, path: &str) -> Option<Stat> {
        RealObserver.stat(path)
    }

    fn identity(&self, path: &str) -> Option<Identity> {
        RealObserver.identity(path)
    }

    fn same_content(&self, one: &str, other: &str) -> bool {
        RealObserver.same_content(one, other)
    }

    fn program(&self) -> Option<String> {
        RealObserver.program()
    }

    fn programs(&self) -> Vec<String> {
        RealObserver.programs()
    }

    fn variable(&self, name: &str) -> Option<String> {
        if name == "HOME" { self.home.clone() } else { self.environment.text(name) }
    }

    fn home_of(&self, user: &str) -> Option<String> {
        RealObserver.home_of(user)
    }

    fn folds_case(&self, path: &str) -> bool {
        RealObserver.folds_case(path)
    }
}
