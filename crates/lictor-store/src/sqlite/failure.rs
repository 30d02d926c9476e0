//! SQLite's errors in the words of the store.

use std::path::Path;
use std::time::Duration;

use rusqlite::ErrorCode;

use crate::StoreError;

/// What a [`StoreError`] says about where it happened.
#[derive(Clone, Copy)]
pub(super) struct Failure<'a> {
    pub(super) file: &'a Path,
    pub(super) wait: Duration,
}

impl Failure<'_> {
    pub(super) fn of(&self, error: rusqlite::Error) -> StoreError {
        let file = self.file.to_owned();
        match error.sqlite_error_code() {
            Some(
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed,
            ) => {
                let waited_ms = u64::try_from(self.wait.as_millis()).unwrap_or(u64::MAX);
                StoreError::Busy { file, waited_ms }
            }
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupt { file, detail: error.to_string() },
            Some(ErrorCode::NotADatabase) => {
                StoreError::NotAStore { file, detail: "not a SQLite database".to_owned() }
            }
            Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { file },
            Some(ErrorCode::DiskFull) => StoreError::Full { file },
            Some(ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => StoreError::Permission { file },
            _ => match &error {
                rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..) => {
                    StoreError::Corrupt { file, detail: error.to_string() }
                }
                _ => StoreError::Failed { file, detail: error.to_string() },
            },
        }
    }
}
