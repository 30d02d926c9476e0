//! Maps PostgreSQL errors to [`StoreError`].

use std::path::Path;
use std::time::Duration;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::StoreError;

/// The location that a [`StoreError`] names.
#[derive(Clone, Copy)]
pub(super) struct Failure<'a> {
    pub(super) place: &'a Path,
    pub(super) wait: Duration,
}

impl Failure<'_> {
    pub(super) fn of(&self, error: &Error) -> StoreError {
        let file = self.place.to_owned();
        let Some(said) = error.as_db_error() else {
            return StoreError::Unreachable { file, detail: with_causes(error) };
        };
        let code = said.code();
        if [
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::QUERY_CANCELED,
            SqlState::TOO_MANY_CONNECTIONS,
        ]
        .contains(code)
        {
            self.busy()
        } else if *code == SqlState::DISK_FULL {
            StoreError::Full { file }
        } else if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
            StoreError::ReadOnly { file }
        } else if *code == SqlState::INSUFFICIENT_PRIVILEGE {
            StoreError::Permission { file }
        } else if code.code().starts_with("57P") || code.code().starts_with("08") {
            StoreError::Unreachable { file, detail: said.message().to_owned() }
        } else {
            StoreError::Failed { file, detail: format!("{} ({})", said.message(), code.code()) }
        }
    }

    pub(super) fn busy(&self) -> StoreError {
        let waited_ms = u64::try_from(self.wait.as_millis()).unwrap_or(u64::MAX);
        StoreError::Busy { file: self.place.to_owned(), waited_ms }
    }

    pub(super) fn corrupt(&self, detail: String) -> StoreError {
        StoreError::Corrupt { file: self.place.to_owned(), detail }
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let more = next.to_string();
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        cause = next.source();
    }
    text
}
