//! Whether a database has changed, without opening it.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::time::SystemTime;

use super::beside;

/// The bytes of the WAL index that are written last in every commit: the first copy of its header, see
/// <https://www.sqlite.org/walformat.html>. The log itself will not do: it has changed before the commit can be read.
const HEADER: usize = 48;

/// A fingerprint that every commit to a database file changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    file: Option<(SystemTime, u64)>,
    header: Option<[u8; HEADER]>,
}

impl Stamp {
    /// The stamp of the file as it is now, even if it does not exist.
    #[must_use]
    pub fn of(file: &Path) -> Self {
        let meta = fs::metadata(file).ok();
        Self {
            file: meta.and_then(|meta| Some((meta.modified().ok()?, meta.len()))),
            header: header(&beside(file, "-shm")),
        }
    }
}

fn header(index: &Path) -> Option<[u8; HEADER]> {
    let mut header = [0; HEADER];
    File::open(index).ok()?.read_exact(&mut header).ok()?;
    Some(header)
}

#[cfg(test)]
mod tests;
