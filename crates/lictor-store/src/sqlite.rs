//! The default store: one SQLite file that many short-lived processes share.
//!
//! The file is in WAL mode. Every transaction is one append to the log beside the file, without waiting for the
//! disk: it survives the end of the process, and loss of power can only cut off the newest transactions, never
//! damage the file. [`Durability::Power`] waits for the disk, for itself and all that came before it; threads of
//! a process that writes often wait for it together. A new process reads the whole log when it opens the store,
//! so the log is kept short: a process that finds it longer than [`LOG_LIMIT`] moves it into the main file.
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

/// Bytes of log beyond which it is moved into the main file if no other process uses the store at that moment.
const LOG_LIMIT: u64 = 80 * 4096;
/// A process with many writes is not a hook. While it has the store open, the log's index exists and others need
/// not read the log, so the log may be longer: the limit grows every `GROWS_EVERY` transactions, up to a maximum.
const GROWS_EVERY: u64 = 16;
const GROWS_TO: u64 = 16;
/// Bytes of log beyond which it is moved even if others have to be waited for.
const LOG_HARD_LIMIT: u64 = 32 * LOG_LIMIT;
/// The maximum number of bytes that are copied to free space: about a fifth of a second.
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

    /// The keys that seal writes and check reads. They must be stored outside the store.
    #[must_use]
    pub fn keys(mut self, keys: Keyring) -> Self {
        self.sealer.keys = Some(keys);
        self
    }

    /// Whether records without a seal are accepted as older than the key. Only correct when the key has just been
    /// created: later, a store without seals has been rewritten.
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
    /// When the file cannot be opened, is damaged, is not a store or was written by a newer version. It is not
    /// changed.
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
    /// The process of these writes, once there are many: a forked child must not use the connection.
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

    /// The same store with a new connection. A connection must not cross a fork: a child uses this instead of its
    /// parent's.
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

    /// Used bytes of the file. Free pages are reused before the file grows.
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

    /// Returns space to the file system if most of the file is free. A store with much data is left alone:
    /// writers would wait during the copy.
    ///
    /// # Errors
    /// When the file cannot be read. If there are active writers, the file stays as it is.
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

    /// Whether writers share an `fsync`. A process that writes once has no one to share it with, and without a
    /// write-ahead log SQLite has to sync before it commits.
    fn syncs_together(&self, handle: &Handle) -> bool {
        handle.written >= GROWS_EVERY && self.syncs.work() && self.log.exists()
    }

    /// Moves the log into the main file when it has grown too long.
    ///
    /// The preceding transaction is already committed, so an error here does not fail it: the log stays, and the
    /// next writer tries again.
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
            // If the rollback fails, nothing was committed either.
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
