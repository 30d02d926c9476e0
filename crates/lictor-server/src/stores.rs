//! Where records are kept: files below a directory, or a PostgreSQL database.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lictor_store::{
    Indexed, Keyring, MemoryStore, PostgresOptions, PostgresPool, Query, SqliteOptions, Store, StoreError,
    StoreExt as _,
};

use crate::once::Marked;

/// The project under which a tenant's own record is kept.
const MAIN: &str = "main";
/// The tenant under which the server keeps what it knows itself. No tenant can have this name.
const SERVER: &str = "(server)";

/// Files that are kept open: each takes three descriptors of the process.
const MOST_OPEN: usize = 200;

/// How long a writer waits for others.
const WAIT: Duration = Duration::from_secs(10);

/// Opens the stores of tenants and machines.
#[derive(Clone)]
pub struct Stores {
    place: Place,
    keys: Option<Keyring>,
    /// The key was made just now: what is there without a seal is older than it.
    adopt: bool,
    /// Files that are open, by their directory and by what for.
    open: Arc<Mutex<Files>>,
}

/// Stores by their directory and by what they are opened for.
type Files = HashMap<(PathBuf, Use), Arc<dyn Store>>;

/// What a store is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Use {
    /// Judging and recording.
    Judging,
    /// Scanning the whole record, which must not delay judgements: over a separate connection.
    Looking,
}

#[derive(Debug, Clone)]
enum Place {
    Directory(PathBuf),
    Database(PostgresPool),
    /// Every store is a new one in memory.
    Memory,
}

/// Why stores cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum StoresError {
    /// The address of a store is not one.
    #[error("`{0}` is not a store; say `sqlite:DIRECTORY` or `postgres://user@host/database`")]
    Address(String),
    /// A store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The key failed.
    #[error(transparent)]
    Key(#[from] lictor_store::KeyError),
    /// A directory cannot be made.
    #[error("cannot make the directory `{}`: {source}", directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// The system error.
        source: std::io::Error,
    },
}

impl std::fmt::Debug for Stores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stores").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Stores {
    /// The stores at `sqlite:DIRECTORY` or `postgres://…`; `state` holds the key, and by default the files.
    ///
    /// # Errors
    /// See [`StoresError`].
    pub fn open(address: Option<&str>, state: &Path, connections: usize) -> Result<Self, StoresError> {
        make_private(state)?;
        let (keys, adopt) = Keyring::load_or_create(&state.join("record.key"))?;
        let place = match address {
            None => Place::Directory(state.join("stores")),
            Some(address) if address.starts_with("postgres://") || address.starts_with("postgresql://") => {
                let options = PostgresOptions::new(address).wait(WAIT).connections(connections);
                Place::Database(options.connect()?)
            }
            Some(address) => match address.strip_prefix("sqlite:") {
                Some(directory) if !directory.is_empty() => Place::Directory(directory.into()),
                _ => return Err(StoresError::Address(address.to_owned())),
            },
        };
        Ok(Self { place, keys: Some(keys), adopt, open: Arc::default() })
    }

    /// Without own stores: for one person who reads records elsewhere.
    #[must_use]
    pub fn none() -> Self {
        Self { place: Place::Memory, keys: None, adopt: false, open: Arc::default() }
    }

    /// The store of the server's own data.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn server(&self) -> Result<Arc<dyn Store>, StoresError> {
        self.chain(SERVER, MAIN, Use::Judging)
    }

    /// The record of a tenant.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn tenant(&self, tenant: &str) -> Result<Arc<dyn Store>, StoresError> {
        self.chain(tenant, MAIN, Use::Judging)
    }

    /// The same for full scans.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn looking(&self, tenant: &str) -> Result<Arc<dyn Store>, StoresError> {
        self.chain(tenant, MAIN, Use::Looking)
    }

    /// The record that a machine of a tenant sends.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn machine(&self, tenant: &str, machine: &str) -> Result<Arc<dyn Store>, StoresError> {
        self.chain(tenant, &format!("machine {machine}"), Use::Judging)
    }

    /// The same for full scans.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn looking_at_machine(&self, tenant: &str, machine: &str) -> Result<Arc<dyn Store>, StoresError> {
        self.chain(tenant, &format!("machine {machine}"), Use::Looking)
    }

    /// Whether records can be read.
    ///
    /// # Errors
    /// When they cannot.
    pub fn ready(&self) -> Result<(), StoresError> {
        match &self.place {
            Place::Database(pool) => Ok(pool.ping()?),
            Place::Memory => Ok(()),
            Place::Directory(_) => {
                self.server()?.view(|view| view.records(&Query::all().limit(1)))?;
                Ok(())
            }
        }
    }

    /// Drops the months of a database in which nothing is left, and returns their names.
    ///
    /// # Errors
    /// When the database cannot be changed.
    pub fn reclaim(&self) -> Result<Vec<String>, StoresError> {
        match &self.place {
            Place::Database(pool) => Ok(pool.reclaim()?),
            Place::Directory(_) | Place::Memory => Ok(Vec::new()),
        }
    }

    fn chain(&self, tenant: &str, project: &str, what_for: Use) -> Result<Arc<dyn Store>, StoresError> {
        match &self.place {
            Place::Database(pool) => {
                let mut store = pool.store(tenant, project)?;
                if let Some(keys) = &self.keys {
                    store = store.keys(keys.clone()).adopt(self.adopt);
                }
                Ok(Arc::new(Marked::new(Arc::new(store))))
            }
            Place::Memory => Ok(Arc::new(MemoryStore::new())),
            Place::Directory(directory) => {
                // Names come from people and may be anything; their digests are plain file names.
                let name = lictor_core::Digest::of_parts([tenant.as_bytes(), project.as_bytes()]);
                self.file(directory.join(name.short()), what_for)
            }
        }
    }

    /// The store in a directory. When very many are open, unused ones are closed.
    fn file(&self, directory: PathBuf, what_for: Use) -> Result<Arc<dyn Store>, StoresError> {
        let key = (directory, what_for);
        if let Some(known) = self.files().get(&key) {
            return Ok(Arc::clone(known));
        }
        // To make a file waits for the disk several times: others must not wait for that.
        make_private(&key.0)?;
        let mut options = SqliteOptions::new().wait(WAIT).one_of_many();
        if let Some(keys) = &self.keys {
            options = options.keys(keys.clone()).adopt(self.adopt);
        }
        let store = options.open(key.0.join("lictor.db"))?;
        let store: Arc<dyn Store> = match what_for {
            Use::Judging => Arc::new(Marked::new(Arc::new(store))),
            Use::Looking => Arc::new(Indexed::new(Arc::new(store))),
        };
        let mut open = self.files();
        let unused: Vec<Arc<dyn Store>> = if open.len() >= MOST_OPEN {
            open.extract_if(|_, store| Arc::strong_count(store) == 1).map(|(_, store)| store).collect()
        } else {
            Vec::new()
        };
        // Another thread may have been faster.
        let store = Arc::clone(open.entry(key).or_insert(store));
        drop(open);
        // To close one may wait for the disk too.
        drop(unused);
        Ok(store)
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make_private(directory: &Path) -> Result<(), StoresError> {
    use std::os::unix::fs::DirBuilderExt as _;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|source| StoresError::Directory { directory: directory.to_owned(), source })
}
