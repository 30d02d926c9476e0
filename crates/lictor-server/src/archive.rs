//! Archives old records of all tenants and machines in files; on PostgreSQL, months that become empty are
//! dropped.
//!
//! The start of each chain stays, so that the rest still verifies, alone and together with the files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lictor_core::{Digest, Timestamp};
use lictor_store::{Keep, RetainError, Store, StoreExt as _, retain};

use crate::registry::{Registry, RegistryError};
use crate::stores::{Stores, StoresError};

/// Why records cannot be moved. Records that were not moved are still in the store.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The records or the files failed.
    #[error(transparent)]
    Retain(#[from] RetainError),
    /// A store failed.
    #[error(transparent)]
    Stores(#[from] StoresError),
    /// The registry failed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A directory cannot be made.
    #[error("cannot make the directory `{}`: {source}", directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// The system error.
        source: std::io::Error,
    },
}

/// The records moved from one chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The tenant.
    pub tenant: String,
    /// The machine that sent the record; none for the tenant's own.
    pub machine: Option<String>,
    /// How many records.
    pub records: u64,
    /// Where the files are.
    pub directory: PathBuf,
}

/// The result of archiving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    /// The records of which something was moved.
    pub moved: Vec<Moved>,
    /// The months that the database dropped.
    pub dropped: Vec<String>,
}

/// Moves what is older than `keep` below `directory`.
///
/// # Errors
/// See [`ArchiveError`].
pub fn run(
    stores: &Stores,
    directory: &Path,
    keep: Duration,
    now: Timestamp,
) -> Result<Archived, ArchiveError> {
    let registry = Registry::new(stores.server()?);
    let oldest = Timestamp(now.0.saturating_sub(i64::try_from(keep.as_millis()).unwrap_or(i64::MAX)));
    let mut moved = Vec::new();
    for tenant in registry.tenants()? {
        let machines = registry.machines(&tenant)?.into_iter().map(Some);
        for machine in [None].into_iter().chain(machines) {
            let store = match &machine {
                None => stores.tenant(&tenant)?,
                Some(machine) => stores.machine(&tenant, machine)?,
            };
            // Names come from people and may be anything; their digests are plain file names.
            let name = machine.as_deref().unwrap_or_default();
            let name = Digest::of_parts([tenant.as_bytes(), name.as_bytes()]);
            let place = directory.join(name.short());
            let records = move_from(&*store, &place, oldest, now)?;
            if records > 0 {
                moved.push(Moved { tenant: tenant.clone(), machine, records, directory: place });
            }
        }
    }
    Ok(Archived { moved, dropped: stores.reclaim()? })
}

/// Moves what is older to files in a directory; how many records went.
fn move_from(
    store: &dyn Store,
    directory: &Path,
    oldest: Timestamp,
    now: Timestamp,
) -> Result<u64, ArchiveError> {
    use std::os::unix::fs::DirBuilderExt as _;
    let base = || store.view(|view| view.base()).map(|base| base.seq).map_err(StoresError::from);
    let before = base()?;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|source| ArchiveError::Directory { directory: directory.to_owned(), source })?;
    retain(store, Keep::Since(oldest), directory, now)?;
    Ok(base()?.saturating_sub(before))
}
