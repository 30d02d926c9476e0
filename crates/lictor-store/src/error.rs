//! Errors of a store. Each message names the file and a fix.

use std::io;
use std::path::{Path, PathBuf};

use lictor_core::Fixable;

use crate::KeyId;

/// Why a store could not be opened, read or written. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Other writers held the store for too long.
    #[error(
        "the store `{}` was busy for {waited_ms} ms; try again, and if this goes on look for {}",
        file.display(), who_keeps_busy(file)
    )]
    Busy {
        /// The store.
        file: PathBuf,
        /// How long this process waited.
        waited_ms: u64,
    },
    /// The file is a store, but damaged.
    #[error(
        "the store `{file}` is damaged ({detail}); move it aside and restore a copy, or run `lictor audit export` to save what can be read"
    )]
    Corrupt {
        /// The store.
        file: PathBuf,
        /// The problem.
        detail: String,
    },
    /// The file is something else.
    #[error(
        "`{file}` is not a Lictor store ({detail}); move it aside, or point `LICTOR_STATE_DIR` to another directory"
    )]
    NotAStore {
        /// The file.
        file: PathBuf,
        /// The problem.
        detail: String,
    },
    /// The store was written by a newer Lictor.
    #[error(
        "the store `{file}` has format {found}, this lictor knows up to {known}; install the newer lictor that wrote it"
    )]
    NewerSchema {
        /// The store.
        file: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format this version knows.
        known: u32,
    },
    /// The file, its directory or the file system cannot be written.
    #[error(
        "the store `{file}` is read-only; make the file and its directory writable for this user (`chmod u+w`), or remount the file system"
    )]
    ReadOnly {
        /// The store.
        file: PathBuf,
    },
    /// No space left, or a size limit reached.
    #[error(
        "no space left to write the store `{file}`; free some space on its file system or raise the file-size limit"
    )]
    Full {
        /// The store.
        file: PathBuf,
    },
    /// The store does not exist and was not to be created.
    #[error("there is no store at `{file}`; `lictor init` or the first hook creates it")]
    Missing {
        /// The store.
        file: PathBuf,
    },
    /// This user may not open it.
    #[error(
        "no permission to open the store `{file}`; it must belong to the user who runs the agent (`ls -l {file}`)"
    )]
    Permission {
        /// The store.
        file: PathBuf,
    },
    /// The operating system failed in some other way.
    #[error("cannot use the store `{file}`: {source}; check the disk and run `lictor doctor`")]
    Io {
        /// The store.
        file: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// The database failed in some other way.
    #[error("the store `{file}` failed: {detail}; run `lictor doctor`")]
    Failed {
        /// The store.
        file: PathBuf,
        /// The message of the database.
        detail: String,
    },
    /// The store is sealed and was opened without its key.
    #[error(
        "the store `{file}` is sealed with a key that was not given; its key file must stand where it was made, `lictor doctor` says where"
    )]
    KeyMissing {
        /// The store.
        file: PathBuf,
    },
    /// The store is sealed with a key that is not in the keyring.
    #[error(
        "the store `{file}` is sealed with the key {key}, which is not in the key file; restore that file from a copy"
    )]
    WrongKey {
        /// The store.
        file: PathBuf,
        /// The name of the key.
        key: KeyId,
    },
    /// There is a key, but the newest record has no seal: it was not written by a holder of the key.
    #[error(
        "record {seq} of the store `{file}` has no seal, and this store has had a key before; run `lictor audit verify`"
    )]
    Unsealed {
        /// The store.
        file: PathBuf,
        /// The record.
        seq: u64,
    },
    /// A part of the store was not written by a holder of the key.
    #[error(
        "{what} of the store `{file}` does not match its seal: it was changed from outside; run `lictor audit verify`"
    )]
    Forged {
        /// The store.
        file: PathBuf,
        /// The part that does not match.
        what: String,
    },
    /// Archived records are unavailable.
    #[error(transparent)]
    Archive(crate::ArchiveError),
    /// The database cannot be reached.
    #[error("the store `{file}` cannot be reached: {detail}; check its address and whether the server runs")]
    Unreachable {
        /// The store.
        file: PathBuf,
        /// What was tried and failed.
        detail: String,
    },
    /// The caller gave the change up.
    #[error("the change was given up by its caller; nothing was recorded")]
    Abandoned,
    /// The caller abandoned the change for its own reason.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

/// How to find the process that holds a store.
fn who_keeps_busy(file: &Path) -> String {
    if file.starts_with("postgres:") {
        "a transaction that does not end (`select * from pg_stat_activity`)".to_owned()
    } else {
        format!("a process that keeps the file open (`fuser {}`)", file.display())
    }
}

impl StoreError {
    /// Wraps an error of the caller, so that a closure can return it.
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}

impl StoreError {
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::Busy { .. } => ("busy", "try again; look for a process that keeps the store open"),
            Self::Corrupt { .. } => (
                "corrupt",
                "move the store aside and restore a copy; `lictor audit export` saves what can be read",
            ),
            Self::NotAStore { .. } => ("not_a_store", "name another file, or move this one aside"),
            Self::NewerSchema { .. } => ("newer_schema", "install the newer Lictor that wrote it"),
            Self::ReadOnly { .. } => ("read_only", "make the file and its directory writable for this user"),
            Self::Full { .. } => ("full", "free some space on its file system, or raise the file-size limit"),
            Self::Missing { .. } => ("missing", "run `lictor init`; the first hook creates it too"),
            Self::Permission { .. } => ("permission", "let the user who runs the agent own the store"),
            Self::Io { .. } => ("io", "check the disk, then run `lictor doctor`"),
            Self::Failed { .. } => ("failed", "run `lictor doctor`"),
            Self::KeyMissing { .. } | Self::WrongKey { .. } => {
                ("key", "put the key file back where it was made; `lictor doctor` says where")
            }
            Self::Unsealed { .. } | Self::Forged { .. } => ("forged", "run `lictor audit verify`"),
            Self::Archive(_) => ("archive", "restore the archive from a copy, or ask for newer records"),
            Self::Unreachable { .. } => ("unreachable", "check the address and whether the server runs"),
            Self::Abandoned | Self::Other(_) => ("abandoned", "mend what gave the change up, then try again"),
        }
    }
}

impl Fixable for StoreError {
    fn kind(&self) -> &'static str {
        self.words().0
    }

    fn fix(&self) -> &'static str {
        self.words().1
    }
}
