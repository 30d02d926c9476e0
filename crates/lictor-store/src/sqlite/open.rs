//! Opening and creating the file.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use lictor_core::Digest;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::{Failure, SqliteOptions};
use crate::StoreError;

/// `LICT`: tells our files from other SQLite files.
const APPLICATION: i64 = 0x4c49_4354;
/// The format of this version. A store with a greater number is refused, one with a smaller number is migrated.
const FORMAT: u32 = 3;

/// The migrations from each format to the next.
const UPGRADES: [(u32, &str); 2] = [
    (1, "ALTER TABLE log ADD COLUMN seal BLOB; ALTER TABLE entry ADD COLUMN seal BLOB;"),
    (2, "ALTER TABLE log ADD COLUMN packed BLOB;"),
];

/// The hash of a record covers every column of `log` but its seal, which covers the hash. A long body is stored
/// in `packed`, with `body` empty. `base` has one row as soon as records were archived.
///
/// No index on kind or session: every index is one more page in every transaction of the hot path, and data that
/// needs fast lookups has its own entry.
const SCHEMA: &str = "
CREATE TABLE log (
  seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, agent TEXT, session TEXT, kind TEXT NOT NULL,
  prev BLOB NOT NULL, hash BLOB NOT NULL, body TEXT NOT NULL, seal BLOB, packed BLOB
) STRICT;
CREATE TABLE entry (space TEXT, key BLOB, value BLOB NOT NULL, seal BLOB, PRIMARY KEY (space, key)) STRICT, WITHOUT ROWID;
CREATE TABLE base (only INTEGER PRIMARY KEY CHECK (only = 1), seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
";

/// An open store whose format is the one we know.
pub(super) fn connection(file: &Path, options: &SqliteOptions) -> Result<Connection, StoreError> {
    let failure = Failure { file, wait: options.wait };
    let connection = match connect(file) {
        Ok(connection) => connection,
        Err(error) => {
            let error = failure.of(error);
            match (&error, options.create) {
                (StoreError::Missing { .. }, true) => {
                    create(file, failure)?;
                    connect(file).map_err(|error| failure.of(error))?
                }
                (StoreError::Missing { .. }, false) => return Err(error),
                // Between the attempt and this check, another process may have created the store.
                _ => connect(file).map_err(|_| error)?,
            }
        }
    };
    // Otherwise the last process to close would run a checkpoint, and with hooks every process is the last.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map_err(|error| failure.of(error))?;
    Ok(connection)
}

/// Among many open stores, each has a page cache of half a megabyte and its own log limit: chains that grow alike
/// would otherwise all checkpoint at the same moment.
pub(super) fn make_room_for_others(connection: &Connection, file: &Path) -> rusqlite::Result<()> {
    const KIBIBYTES: u32 = 512;
    const PAGES: Range<u32> = 500..1_500;
    let digest = Digest::of(file.as_os_str().as_encoded_bytes());
    let [first, second, ..] = *digest.as_bytes();
    let pages = PAGES.start + u32::from(u16::from_be_bytes([first, second])) % (PAGES.end - PAGES.start);
    connection
        .execute_batch(&format!("PRAGMA cache_size = -{KIBIBYTES}; PRAGMA wal_autocheckpoint = {pages}"))
}

fn connect(file: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// Refuses files that are not a store and stores of a newer format. Writes only to migrate an older one.
pub(super) fn check_format(connection: &mut Connection, failure: Failure<'_>) -> Result<(), StoreError> {
    let number = |pragma: &str| -> Result<i64, StoreError> {
        connection.query_row(pragma, [], |row| row.get(0)).map_err(|error| failure.of(error))
    };
    let not_a_store = |detail: &str| {
        Err(StoreError::NotAStore { file: failure.file.to_owned(), detail: detail.to_owned() })
    };
    let found = number("PRAGMA user_version")?;
    match number("PRAGMA application_id")? {
        APPLICATION => {}
        0 if number("PRAGMA page_count")? == 0 => return not_a_store("the file is empty"),
        _ => return not_a_store("a database of another program"),
    }
    match u32::try_from(found) {
        Ok(FORMAT) => Ok(()),
        Ok(found) if found > FORMAT => {
            Err(StoreError::NewerSchema { file: failure.file.to_owned(), found, known: FORMAT })
        }
        Ok(found) if found > 0 => upgrade(connection).map_err(|error| failure.of(error)),
        _ => not_a_store("its format number is not one that any version wrote"),
    }
}

/// All steps or none; a concurrent second process finds nothing left to do.
fn upgrade(connection: &mut Connection) -> rusqlite::Result<()> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: u32 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    for (_, step) in UPGRADES.iter().filter(|(from, _)| *from >= found) {
        tx.execute_batch(step)?;
    }
    tx.pragma_update(None, "user_version", FORMAT)?;
    tx.commit()
}

/// Creates a store. It is written completely under another name and then linked into place, so that no process
/// ever sees a partial store. If several processes try at once, one wins and the others use its file.
fn create(file: &Path, failure: Failure<'_>) -> Result<(), StoreError> {
    let io = |source| failure.of_io(source);
    let wal = beside(file, "-wal");
    if wal.exists() {
        let detail = format!("the file is gone, but the changes in `{}` belong to it", wal.display());
        return Err(StoreError::Corrupt { file: file.to_owned(), detail });
    }
    let directory = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(io)?;
    static DRAFTS: AtomicU32 = AtomicU32::new(0);
    let draft = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let draft = beside(file, &format!(".{}.{draft}.new", std::process::id()));
    let made = fill(&draft, failure).and_then(|()| match std::fs::hard_link(&draft, file) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(io(error)),
        _ => Ok(()),
    });
    for leftover in [draft.clone(), beside(&draft, "-wal"), beside(&draft, "-shm")] {
        match std::fs::remove_file(leftover) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
    }
    made?;
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(io)
}

/// Writes an empty store that only this user can read; SQLite gives the files beside it the same mode.
fn fill(draft: &Path, failure: Failure<'_>) -> Result<(), StoreError> {
    // An existing draft is from a dead process with the same id.
    let _ = std::fs::remove_file(draft);
    let io = |source| failure.of_io(source);
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft).map_err(io)?;
    // A server creates many stores, and SQLite syncs several times for each.
    static EMPTY: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(empty) = EMPTY.get() {
        return file.write_all(empty).and_then(|()| file.sync_all()).map_err(io);
    }
    let sql = format!(
        "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN; {SCHEMA}
         PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; COMMIT;"
    );
    let made = connect(draft).and_then(|connection| {
        connection.execute_batch(&sql)?;
        // Closing moves everything into the main file and syncs it.
        connection.close().map_err(|(_, error)| error)
    });
    made.map_err(|error| failure.of(error))?;
    if let Ok(empty) = std::fs::read(draft) {
        let _ = EMPTY.set(empty);
    }
    Ok(())
}

/// `file` with something added to its name.
pub(super) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(suffix);
    name.into()
}
