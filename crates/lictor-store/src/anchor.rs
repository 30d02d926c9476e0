//! A position in the chain, stored where the writer of the store cannot change it.

use std::fmt;
use std::str::FromStr;

use lictor_core::Digest;

use crate::Head;

/// The number and hash of a record, stored outside the store: in a git note, a commit trailer or a managed file.
/// As text: `<number> <hash>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Anchor {
    /// The number of the record.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}

impl From<Head> for Anchor {
    fn from(head: Head) -> Self {
        Self { seq: head.seq, hash: head.hash }
    }
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.seq, self.hash)
    }
}

/// Text that is not an anchor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an anchor; it looks like `<number> <64 hexadecimal digits>`")]
pub struct BadAnchor {
    /// The text.
    pub text: String,
}

impl FromStr for Anchor {
    type Err = BadAnchor;

    fn from_str(text: &str) -> Result<Self, BadAnchor> {
        let bad = || BadAnchor { text: text.to_owned() };
        let (seq, hash) = text.trim().split_once(' ').ok_or_else(bad)?;
        Ok(Self { seq: seq.parse().map_err(|_| bad())?, hash: hash.parse().map_err(|_| bad())? })
    }
}

impl Anchor {
    /// The newest anchor of a file with one anchor per line; later lines are newer. `None` for an empty file.
    ///
    /// # Errors
    /// When a line is not an anchor: an anchor file that was tampered with must not count as absent.
    pub fn newest(text: &str) -> Result<Option<Self>, BadAnchor> {
        let mut newest: Option<Self> = None;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let anchor: Self = line.parse()?;
            newest = Some(newest.filter(|other| other.seq > anchor.seq).unwrap_or(anchor));
        }
        Ok(newest)
    }
}
