//! The default store: one SQLite file that many short-lived processes share.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use crate::{Durability, Store, StoreError, Transaction, View};

mod failure;
mod open;
mod rows;

use failure::Failure;
use rows::Rows;

/// How to open a [`SqliteStore`].
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    create: bool,
    wait: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { create: true, wait: Duration::from_secs(2) }
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

    /// Opens the store.
    ///
    /// # Errors
    /// When the file cannot be opened, is damaged, is no store or was written by a newer version. It is left as
    /// it was.
    pub fn open(&self, file: impl Into<PathBuf>) -> Result<SqliteStore, StoreError> {
        let file = file.into();
        let connection = open::connection(&file, self)?;
        Ok(SqliteStore { file, connection: Mutex::new(connection), wait: self.wait })
    }
}

/// A store in one SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    file: PathBuf,
    connection: Mutex<Connection>,
    wait: Duration,
}

impl SqliteStore {
    /// Opens the store, creating it when it is missing.
    ///
    /// # Errors
    /// As [`SqliteOptions::open`].
    pub fn open(file: impl Into<PathBuf>) -> Result<Self, StoreError> {
        SqliteOptions::new().open(file)
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// A poisoned lock is harmless: `Open` has rolled back before the lock was released.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failure(&self) -> Failure<'_> {
        Failure { file: &self.file, wait: self.wait }
    }
}

/// An open transaction that rolls back when it is dropped.
struct Open<'a> {
    connection: &'a Connection,
    done: bool,
}

impl<'a> Open<'a> {
    fn begin(connection: &'a Connection, how: &str) -> rusqlite::Result<Self> {
        connection.prepare_cached(how)?.execute([])?;
        Ok(Self { connection, done: false })
    }

    fn commit(mut self) -> rusqlite::Result<()> {
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        self.done = true;
        Ok(())
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.done && !self.connection.is_autocommit() {
            // Nothing can be done about a failing rollback; the next opener rolls the journal back.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

impl Store for SqliteStore {
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let connection = self.connection();
        let failure = self.failure();
        let open = Open::begin(&connection, "BEGIN").map_err(|error| failure.of(error))?;
        f(&Rows { connection: &connection, failure })?;
        open.commit().map_err(|error| failure.of(error))
    }

    fn write(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let connection = self.connection();
        let failure = self.failure();
        open::synchronous(&connection, durability).map_err(|error| failure.of(error))?;
        let open = Open::begin(&connection, "BEGIN IMMEDIATE").map_err(|error| failure.of(error))?;
        f(&mut Rows { connection: &connection, failure })?;
        open.commit().map_err(|error| failure.of(error))
    }
}
