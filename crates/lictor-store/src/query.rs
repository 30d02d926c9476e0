//! Queries for records and entries.

use lictor_core::SessionKey;
use serde::{Deserialize, Serialize};

use crate::Record;

/// The default limit of a query.
const DEFAULT_LIMIT: usize = 1_000;

/// A key and its value in the projection.
pub type Entry = (Vec<u8>, Vec<u8>);

/// Which records to read. For the next page, query [`after`](Self::after) (or, newest first,
/// [`before`](Self::before)) the last record of the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    pub(crate) after: u64,
    pub(crate) before: u64,
    pub(crate) kind: Option<String>,
    pub(crate) session: Option<SessionKey>,
    pub(crate) newest_first: bool,
    pub(crate) limit: usize,
}

impl Query {
    /// Every record, oldest first, the first 1 000 of them.
    #[must_use]
    pub fn all() -> Self {
        Self {
            after: 0,
            before: u64::MAX,
            kind: None,
            session: None,
            newest_first: false,
            limit: DEFAULT_LIMIT,
        }
    }

    /// Only records with a greater number.
    #[must_use]
    pub fn after(self, seq: u64) -> Self {
        Self { after: seq, ..self }
    }

    /// Only records with a smaller number.
    #[must_use]
    pub fn before(self, seq: u64) -> Self {
        Self { before: seq, ..self }
    }

    /// Only records of this kind.
    #[must_use]
    pub fn kind(self, kind: impl Into<String>) -> Self {
        Self { kind: Some(kind.into()), ..self }
    }

    /// Only records of this session.
    #[must_use]
    pub fn session(self, session: SessionKey) -> Self {
        Self { session: Some(session), ..self }
    }

    /// The newest record first.
    #[must_use]
    pub fn newest_first(self) -> Self {
        Self { newest_first: true, ..self }
    }

    /// The limit.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Whether this record matches, ignoring the limit.
    pub(crate) fn fits(&self, record: &Record) -> bool {
        record.seq > self.after
            && record.seq < self.before
            && self.kind.as_ref().is_none_or(|kind| *kind == record.kind)
            && self.session.as_ref().is_none_or(|session| Some(session) == record.session.as_ref())
    }
}

/// Which keys of a space to read, in byte order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keys {
    /// The smallest key.
    pub(crate) from: Vec<u8>,
    /// `from` itself is left out.
    pub(crate) skip_from: bool,
    /// The exclusive end; `None`: no end.
    pub(crate) to: Option<Vec<u8>>,
    pub(crate) reversed: bool,
    pub(crate) limit: usize,
}

impl Keys {
    /// Every key, the first 1 000 of them.
    #[must_use]
    pub fn all() -> Self {
        Self { from: Vec::new(), skip_from: false, to: None, reversed: false, limit: DEFAULT_LIMIT }
    }

    /// Every key that starts with these bytes.
    #[must_use]
    pub fn prefix(prefix: impl Into<Vec<u8>>) -> Self {
        let from = prefix.into();
        Self { to: after_prefix(&from), from, ..Self::all() }
    }

    /// Keys from the first (inclusive) up to the second (exclusive).
    #[must_use]
    pub fn range(from: impl Into<Vec<u8>>, to: impl Into<Vec<u8>>) -> Self {
        Self { from: from.into(), to: Some(to.into()), ..Self::all() }
    }

    /// Only keys beyond `key` in the direction of the scan, which must be set before: for the next page.
    #[must_use]
    pub fn beyond(self, key: impl Into<Vec<u8>>) -> Self {
        let key = key.into();
        if self.reversed {
            Self { to: Some(self.to.map_or(key.clone(), |to| to.min(key))), ..self }
        } else if key < self.from {
            self
        } else {
            Self { from: key, skip_from: true, ..self }
        }
    }

    /// The largest key first.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { reversed: true, ..self }
    }

    /// The limit.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }
}

/// The smallest byte string that is greater than everything with this prefix.
fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests;
