//! Maps SQLite errors to [`StoreError`].

use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::ErrorCode;
use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::open::beside;
use crate::StoreError;

/// The location that a [`StoreError`] names.
#[derive(Clone, Copy)]
pub(super) struct Failure<'a> {
    pub(super) file: &'a Path,
    pub(super) wait: Duration,
}

impl Failure<'_> {
    pub(super) fn of(&self, error: rusqlite::Error) -> StoreError {
        let file = self.file.to_owned();
        let detail = error.to_string();
        match error.sqlite_error_code() {
            Some(
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed,
            ) => {
                let waited_ms = u64::try_from(self.wait.as_millis()).unwrap_or(u64::MAX);
                StoreError::Busy { file, waited_ms }
            }
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupt { file, detail },
            Some(ErrorCode::NotADatabase) => self.not_a_database(),
            Some(ErrorCode::ReadOnly) => self.read_only(detail),
            Some(ErrorCode::DiskFull) => StoreError::Full { file },
            Some(ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => self.cannot_open(detail),
            Some(ErrorCode::SystemIoFailure) => self.system(&error, detail),
            _ => match error {
                rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::Utf8Error(..) => StoreError::Corrupt { file, detail },
                _ => StoreError::Failed { file, detail },
            },
        }
    }

    pub(super) fn of_io(&self, source: io::Error) -> StoreError {
        let file = self.file.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => StoreError::Missing { file },
            io::ErrorKind::PermissionDenied => StoreError::Permission { file },
            io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly { file },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                StoreError::Full { file }
            }
            _ => StoreError::Io { file, source },
        }
    }

    fn not_a_database(&self) -> StoreError {
        StoreError::NotAStore { file: self.file.to_owned(), detail: "not a SQLite database".to_owned() }
    }

    /// SQLite calls a file read-only also when its header asks for a newer program to write it.
    fn read_only(&self, detail: String) -> StoreError {
        let file = self.file.to_owned();
        match self.writable() {
            Ok(()) => StoreError::Corrupt { file, detail },
            Err(_) => StoreError::ReadOnly { file },
        }
    }

    /// SQLite does not report why it cannot open a file. Uses `access`, never `open`: closing any descriptor of
    /// the file would drop the locks that another connection of this process holds on it.
    fn cannot_open(&self, detail: String) -> StoreError {
        let file = self.file.to_owned();
        match access(self.file, Access::READ_OK) {
            Err(Errno::NOENT) => return StoreError::Missing { file },
            Err(Errno::ACCESS | Errno::PERM) => return StoreError::Permission { file },
            _ => {}
        }
        match self.writable() {
            Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => return StoreError::ReadOnly { file },
            Err(errno) => return StoreError::Io { file, source: errno.into() },
            Ok(()) if self.file.is_dir() => {
                return StoreError::NotAStore { file, detail: "it is a directory".to_owned() };
            }
            Ok(()) => {}
        }
        // Left by another user, for example by a run as root.
        let foreign = ["-wal", "-shm"].map(|suffix| beside(self.file, suffix)).into_iter().find(|file| {
            access(file, Access::READ_OK | Access::WRITE_OK).is_err_and(|errno| errno != Errno::NOENT)
        });
        match foreign {
            Some(file) => StoreError::Permission { file },
            None => StoreError::Failed { file, detail },
        }
    }

    /// Whether this user may write the file and create others beside it.
    fn writable(&self) -> rustix::io::Result<()> {
        access(self.file, Access::WRITE_OK)?;
        let directory = self.file.parent().filter(|parent| !parent.as_os_str().is_empty());
        access(directory.unwrap_or(Path::new(".")), Access::WRITE_OK | Access::EXEC_OK)
    }

    /// SQLite reports a write that the system refused for lack of space as "full" only for one of the reasons; a
    /// quota or a file-size limit comes as a failed write.
    fn system(&self, error: &rusqlite::Error, detail: String) -> StoreError {
        let file = self.file.to_owned();
        let extended = error.sqlite_error().map(|error| error.extended_code);
        match extended {
            Some(
                rusqlite::ffi::SQLITE_IOERR_WRITE
                | rusqlite::ffi::SQLITE_IOERR_SHMSIZE
                | rusqlite::ffi::SQLITE_IOERR_TRUNCATE,
            ) => StoreError::Full { file },
            Some(rusqlite::ffi::SQLITE_IOERR_SHORT_READ) => StoreError::Corrupt { file, detail },
            _ => StoreError::Io { file, source: io::Error::other(detail) },
        }
    }
}
