//! The default store: one SQLite file that many short-lived processes share.
//!
//! The file is in WAL mode. Every transaction is one append to the log beside the file, without waiting for the
//! disk: it survives the end of the process, and loss of power can only cut off the newest transactions, never
//! damage the file. [`Durability::Power`] waits for the disk, for itself and all that came before it; threads of a process
//! that writes often wait for it together.
//! A cold process reads the whole log when it opens the store, so the log is kept short: whoever sees it longer
//! than [`LOG_LIMIT`] moves it into the main file.
//!
//! Where a file system cannot share memory between processes, SQLite falls back to a rollback journal that waits for
//! the disk: slower, and just as safe.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use crate::sealed::{Sealed, Sealer};
use crate::{Durability, Keyring, Store, StoreError, Transaction, View};

mod failure;
mod open;
mod patience;
mod rows;
mod stamp;
mod syncs;

use failure::Failure;
use open::beside;
use patience::Patience;
use rows::Rows;
pub use stamp::Stamp;
use syncs::Syncs;

/// Bytes of log beyond which it is moved into the main file if nobody is using the store at that moment.
const LOG_LIMIT: u64 = 80 * 4096;
/// A process that has written often is no hook. While it has the store open, others find the log's index made and need not
/// read the log, so it may become longer: its limit grows with every so many transactions, up to so many times.
const GROWS_EVERY: u64 = 16;
const GROWS_TO: u64 = 16;
/// Bytes of log beyond which it is moved even if others have to be waited for.
const LOG_HARD_LIMIT: u64 = 32 * LOG_LIMIT;
/// So many bytes are copied to give back what is free beside them: about a fifth of a second.
const MOST_COPIED: u64 = 64 << 20;

/// How to open a [`SqliteStore`].
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    create: bool,
    wait: Duration,
    sealer: Sealer,
    one_of_many: bool,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { create: true, wait: Duration::from_secs(2), sealer: Sealer::default(), one_of_many: false }
    }
}

impl SqliteOptions {
    /// Creates the file when it is missing, waits two seconds for other writers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether to create a missing store, and its directory.
    #[must_use]
    pub fn create(self, create: bool) -> Self {
        Self { create, ..self }
    }

    /// How long to wait for other writers before [`StoreError::Busy`].
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// The keys that seal what is written and check what is read. They must come from outside the store.
    #[must_use]
    pub fn keys(mut self, keys: Keyring) -> Self {
        self.sealer.keys = Some(keys);
        self
    }

    /// Whether records without a seal are taken for what was there before the key. Only right in the moment in which
    /// the key was made: later a store without seals is one that somebody has rewritten.
    #[must_use]
    pub fn adopt(mut self, adopt: bool) -> Self {
        self.sealer.adopt = adopt;
        self
    }

    /// For a program that holds many stores open: each has a small cache, and not all of them move their logs into their
    /// files at the same time.
    #[must_use]
    pub fn one_of_many(self) -> Self {
        Self { one_of_many: true, ..self }
    }

    /// Opens the store.
    ///
    /// # Errors
    /// When the file cannot be opened, is damaged, is no store or was written by a newer version. It is left as
    /// it was.
    pub fn open(&self, file: impl Into<PathBuf>) -> Result<SqliteStore, StoreError> {
        let file = file.into();
        let failure = Failure { file: &file, wait: self.wait };
        let mut connection = open::connection(&file, self)?;
        let patience = Patience::install(&mut connection, self.wait).map_err(|error| failure.of(error))?;
        open::check_format(&mut connection, failure)?;
        if self.one_of_many {
            open::make_room_for_others(&connection, &file).map_err(|error| failure.of(error))?;
        }
        let handle = Handle { connection, patience, synced: None, written: 0, writer: 0 };
        let log = beside(&file, "-wal");
        let sealer = self.sealer.clone();
        let (handle, syncs) = (Mutex::new(handle), Syncs::default());
        Ok(SqliteStore { file, log, handle, wait: self.wait, sealer, syncs })
    }
}

/// A store in one SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    file: PathBuf,
    log: PathBuf,
    handle: Mutex<Handle>,
    wait: Duration,
    sealer: Sealer,
    syncs: Syncs,
}

#[derive(Debug)]
struct Handle {
    connection: Connection,
    patience: Patience,
    /// The level that the connection is set to; `None` before the first write.
    synced: Option<Durability>,
    /// How many transactions it has written.
    written: u64,
    /// The process that did, once they were many: what a fork left in another must not touch the store.
    writer: u32,
}

impl SqliteStore {
    /// Opens the store, creating it when it is missing.
    ///
    /// # Errors
    /// As [`SqliteOptions::open`].
    pub fn open(file: impl Into<PathBuf>) -> Result<Self, StoreError> {
        SqliteOptions::new().open(file)
    }

    /// The same store with a connection of its own. A connection must not cross a fork: a child uses this instead of what
    /// its parent opened.
    ///
    /// # Errors
    /// As [`SqliteOptions::open`].
    pub fn reopen(&self) -> Result<Self, StoreError> {
        let options = SqliteOptions::new().create(false).wait(self.wait);
        SqliteOptions { sealer: self.sealer.clone(), ..options }.open(self.file.clone())
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Bytes of the file that hold something. Pages that became free are used again before the file grows.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn used_bytes(&self) -> Result<u64, StoreError> {
        Ok(self.bytes()?.0)
    }

    /// Bytes that hold something, and all bytes.
    fn bytes(&self) -> Result<(u64, u64), StoreError> {
        let handle = self.handle();
        let number = |pragma: &str| -> Result<u64, StoreError> {
            let found: i64 = handle
                .connection
                .query_row(pragma, [], |row| row.get(0))
                .map_err(|error| self.failure().of(error))?;
            Ok(u64::try_from(found).unwrap_or(0))
        };
        let (pages, size) = (number("PRAGMA page_count")?, number("PRAGMA page_size")?);
        let used = pages.saturating_sub(number("PRAGMA freelist_count")?);
        Ok((used.saturating_mul(size), pages.saturating_mul(size)))
    }

    /// Gives space back to the file system where most of the file is free. A store that still holds much keeps it: writers
    /// would wait while it is copied.
    ///
    /// # Errors
    /// When the file cannot be read. Writers that are at work are not disturbed, and the file stays as it is.
    pub fn shrink(&self) -> Result<(), StoreError> {
        let (used, all) = self.bytes()?;
        if used <= MOST_COPIED && used.saturating_mul(2) <= all {
            let handle = self.handle();
            let _ = handle.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
        }
        Ok(())
    }

    /// A poisoned lock is harmless: `Open` has rolled back before the lock was released.
    fn handle(&self) -> MutexGuard<'_, Handle> {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failure(&self) -> Failure<'_> {
        Failure { file: &self.file, wait: self.wait }
    }

    /// Whether writers wait for the disk together. A process that writes once has nobody to wait with, and without a log
    /// beside the file SQLite has to wait before it commits.
    fn syncs_together(&self, handle: &Handle) -> bool {
        handle.written >= GROWS_EVERY && self.syncs.work() && self.log.exists()
    }

    /// Moves the log into the main file when it has grown too long.
    ///
    /// The transaction before it is already kept, so nothing that goes wrong here is its failure: the log stays,
    /// and the next writer tries again.
    fn shorten_log(&self, handle: &Handle, limit: u64) {
        let length = std::fs::metadata(&self.log).map_or(0, |log| log.len());
        let checkpoint = || handle.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        if length > LOG_HARD_LIMIT {
            let _ = checkpoint();
        } else if length > limit {
            let _ = handle.patience.lose(checkpoint);
        }
    }
}

impl Handle {
    /// Sets what the next transaction must survive.
    fn sync_for(&mut self, durability: Durability) -> rusqlite::Result<()> {
        if self.synced != Some(durability) {
            self.connection.execute_batch(match durability {
                Durability::Process => "PRAGMA synchronous = NORMAL",
                Durability::Power => "PRAGMA synchronous = FULL",
            })?;
            self.synced = Some(durability);
        }
        Ok(())
    }
}

/// An open transaction that rolls back when it is dropped.
struct Open<'a> {
    connection: &'a Connection,
}

impl<'a> Open<'a> {
    fn begin(connection: &'a Connection, how: &str) -> rusqlite::Result<Self> {
        connection.prepare_cached(how)?.execute([])?;
        Ok(Self { connection })
    }

    fn commit(self) -> rusqlite::Result<()> {
        self.connection.prepare_cached("COMMIT")?.execute([]).map(drop)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.connection.is_autocommit() {
            // A rollback only forgets; should it fail, nothing was committed either.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

impl Store for SqliteStore {
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let handle = self.handle();
        let failure = self.failure();
        let connection = &handle.connection;
        let open = Open::begin(connection, "BEGIN").map_err(|error| failure.of(error))?;
        f(&Sealed::new(Rows { connection, failure }, &self.sealer))?;
        open.commit().map_err(|error| failure.of(error))
    }

    fn write(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut handle = self.handle();
        let failure = self.failure();
        let together = durability == Durability::Power && self.syncs_together(&handle);
        let alone = if together { Durability::Process } else { durability };
        handle.sync_for(alone).map_err(|error| failure.of(error))?;
        let connection = &handle.connection;
        let open = Open::begin(connection, "BEGIN IMMEDIATE").map_err(|error| failure.of(error))?;
        let mut tx = Sealed::new(Rows { connection, failure }, &self.sealer);
        f(&mut tx)?;
        tx.finish()?;
        open.commit().map_err(|error| failure.of(error))?;
        handle.written += 1;
        if handle.written == GROWS_EVERY {
            handle.writer = std::process::id();
        }
        let commit = together.then(|| self.syncs.committed());
        let limit = LOG_LIMIT * (handle.written / GROWS_EVERY).clamp(1, GROWS_TO);
        self.shorten_log(&handle, limit);
        // Others may write while this one waits for the disk, and wait with it.
        drop(handle);
        commit
            .map_or(Ok(()), |commit| self.syncs.wait(commit, &self.log))
            .map_err(|error| failure.of_io(error))
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        let handle = self.handle();
        if handle.written >= GROWS_EVERY && handle.writer == std::process::id() {
            self.shorten_log(&handle, LOG_LIMIT);
        }
    }
}
