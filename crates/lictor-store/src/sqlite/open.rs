//! Opening: permissions, format, settings.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::{Failure, SqliteOptions};
use crate::{Durability, StoreError};

/// `LICT`: tells our files from other SQLite files.
const APPLICATION: i32 = 0x4c49_4354;
/// The format of this version. A store with a greater number is refused.
const FORMAT: u32 = 1;

/// The hash of a record covers every column of `log`. `base` has one row as soon as records were archived.
const SCHEMA: &str = "
CREATE TABLE log (
  seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, agent TEXT, session TEXT, kind TEXT NOT NULL,
  prev BLOB NOT NULL, hash BLOB NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE TABLE entry (space TEXT, key BLOB, value BLOB NOT NULL, PRIMARY KEY (space, key)) STRICT, WITHOUT ROWID;
CREATE TABLE base (only INTEGER PRIMARY KEY CHECK (only = 1), seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
";

pub(super) fn connection(file: &Path, options: &SqliteOptions) -> Result<Connection, StoreError> {
    let failure = Failure { file, wait: options.wait };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(file, flags);
    let connection = match opened {
        Ok(connection) => connection,
        Err(_) if !file.exists() => {
            if !options.create {
                return Err(StoreError::Missing { file: file.to_owned() });
            }
            create(file).map_err(|source| StoreError::Io { file: file.to_owned(), source })?;
            Connection::open_with_flags(file, flags).map_err(|error| failure.of(error))?
        }
        Err(error) => return Err(failure.of(error)),
    };
    connection.busy_timeout(options.wait).map_err(|error| failure.of(error))?;
    check_format(&connection, failure)?;
    Ok(connection)
}

/// An empty file that only this user can read. SQLite gives its journal the same mode.
fn create(file: &Path) -> std::io::Result<()> {
    if let Some(directory) = file.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    std::fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(file).map(drop)
}

fn check_format(connection: &Connection, failure: Failure<'_>) -> Result<(), StoreError> {
    let number = |pragma: &str| -> Result<i64, StoreError> {
        connection.query_row(pragma, [], |row| row.get(0)).map_err(|error| failure.of(error))
    };
    let file = failure.file.to_owned();
    if number("PRAGMA application_id")? != i64::from(APPLICATION) {
        if number("SELECT count(*) FROM sqlite_schema")? == 0 {
            return set_up(connection, failure);
        }
        return Err(StoreError::NotAStore { file, detail: "a database of another program".to_owned() });
    }
    let found = u32::try_from(number("PRAGMA user_version")?).unwrap_or(u32::MAX);
    if found > FORMAT {
        return Err(StoreError::NewerSchema { file, found, known: FORMAT });
    }
    Ok(())
}

/// Makes an empty file a store. Another process may be doing the same: the first one wins.
fn set_up(connection: &Connection, failure: Failure<'_>) -> Result<(), StoreError> {
    let run = |sql: &str| connection.execute_batch(sql).map_err(|error| failure.of(error));
    run("PRAGMA page_size = 4096; BEGIN IMMEDIATE")?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|error| failure.of(error))?;
    if tables == 0 {
        run(SCHEMA)?;
        run(&format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}"))?;
    }
    run("COMMIT")
}

/// Sets what the next transaction must survive.
pub(super) fn synchronous(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    connection.execute_batch(match durability {
        Durability::Process => "PRAGMA synchronous = OFF",
        Durability::Power => "PRAGMA synchronous = FULL",
    })
}
