//! How long records stay in the store, and how to read them afterwards.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lictor_core::Timestamp;

use crate::archive::numbers;
use crate::{
    ArchiveError, Durability, Entry, Head, Keep, Keyring, Keys, Query, Record, RetainError, Seal, Segment,
    Space, SqliteStore, Store, StoreError, StoreExt as _, Transaction, View, retain,
};

/// Limits for the store itself; records beyond them are moved to archives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Records that are not older than this stay.
    pub keep: Duration,
    /// So many bytes stay at most.
    pub max_size: u64,
}

impl Default for Retention {
    /// Ninety days, one gigabyte.
    fn default() -> Self {
        Self { keep: Duration::from_secs(90 * 24 * 60 * 60), max_size: 1_000_000_000 }
    }
}

impl Retention {
    /// Moves records beyond the limits to compressed archives in `directory`, which is created if missing.
    /// Returns the number of records moved. Slow: not for hooks.
    ///
    /// # Errors
    /// See [`RetainError`]; records that were not moved are still in the store.
    pub fn apply(&self, store: &SqliteStore, directory: &Path, now: Timestamp) -> Result<u64, RetainError> {
        let before = store.view(|view| view.base())?.seq;
        let oldest =
            Timestamp(now.0.saturating_sub(i64::try_from(self.keep.as_millis()).unwrap_or(i64::MAX)));
        let mut keeps = vec![Keep::Since(oldest)];
        let used = store.used_bytes()?;
        if used > self.max_size {
            // Leaves room for a while: reduces the store to four fifths of the limit.
            let records = store.view(|view| Ok(view.head()?.seq.saturating_sub(view.base()?.seq)))?;
            let kept = u128::from(records) * u128::from(self.max_size) * 4 / (u128::from(used) * 5);
            keeps.push(Keep::Newest(u64::try_from(kept).unwrap_or(u64::MAX).max(1)));
        }
        for keep in keeps {
            if store.view(|view| crate::archive::last_to_go(view, keep))?.is_some() {
                make_private(directory)
                    .map_err(|source| RetainError::Write { file: directory.to_owned(), source })?;
                retain(store, keep, directory, now)?;
            }
        }
        let moved = store.view(|view| view.base())?.seq.saturating_sub(before);
        if moved > 0 {
            store.shrink()?;
        }
        Ok(moved)
    }
}

fn make_private(directory: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// A store whose readers also see its archives, as one log. Writers see only the store.
pub struct ArchivedStore {
    store: Arc<dyn Store>,
    directory: PathBuf,
}

impl std::fmt::Debug for ArchivedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArchivedStore").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl ArchivedStore {
    /// The store with the archives in `directory`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, directory: PathBuf) -> Self {
        Self { store, directory }
    }
}

impl Store for ArchivedStore {
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.store.read(&mut |view| f(&WithArchives::new(view, &self.directory)?))
    }

    fn write(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.store.write(durability, f)
    }
}

/// A file with its records.
type Opened = (PathBuf, Vec<(Record, Option<Seal>)>);

/// A store and its archives as one log. Reading records that are in neither is [`StoreError::Archive`], and a
/// fault for [`verify`](crate::verify()).
pub struct WithArchives<'a> {
    view: &'a dyn View,
    directory: PathBuf,
    /// First and last number, from the file names, oldest first.
    files: Vec<(u64, u64, PathBuf)>,
    /// The file that was read last.
    open: RefCell<Option<Opened>>,
}

impl std::fmt::Debug for WithArchives<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WithArchives").field("files", &self.files.len()).finish_non_exhaustive()
    }
}

impl<'a> WithArchives<'a> {
    /// The store with the archives in `directory`; without any when there is no such directory.
    ///
    /// # Errors
    /// When the store or the directory cannot be read.
    pub fn new(view: &'a dyn View, directory: &Path) -> Result<Self, StoreError> {
        let base = view.base()?.seq;
        let mut files = Vec::new();
        if base > 0 {
            let failed = |source| StoreError::Io { file: directory.to_owned(), source };
            match fs::read_dir(directory) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error)),
                Ok(listed) => {
                    for file in listed {
                        let file = file.map_err(failed)?;
                        if let Some((first, last)) = numbers(&file.file_name().to_string_lossy()) {
                            files.push((first, last, file.path()));
                        }
                    }
                }
            }
        }
        // After a crash during archiving, the unfinished archive overlaps with the one that replaced it.
        files.retain(|(_, last, _)| *last <= base);
        files.sort();
        Ok(Self { view, directory: directory.to_owned(), files, open: RefCell::default() })
    }

    /// Runs `f` on the records of the archives with numbers between these, in order or newest first, until it
    /// returns false. Missing records are an error.
    fn archived(
        &self,
        query: &Query,
        mut f: impl FnMut(&Record, Option<&Seal>) -> bool,
    ) -> Result<(), StoreError> {
        let end = query.before.saturating_sub(1).min(self.view.base()?.seq);
        let mut files: Vec<&(u64, u64, PathBuf)> =
            self.files.iter().filter(|(first, last, _)| *last > query.after && *first <= end).collect();
        if query.newest_first {
            files.reverse();
        }
        // The remaining range of numbers.
        let mut wanted = (query.after.saturating_add(1), end);
        for (first, last, file) in files {
            let missing = match query.newest_first {
                false if *first > wanted.0 => Some((wanted.0, first - 1)),
                true if *last < wanted.1 => Some((last + 1, wanted.1)),
                _ => None,
            };
            if let Some(missing) = missing {
                return Err(self.missing(missing));
            }
            self.load(file).map_err(StoreError::Archive)?;
            let open = self.open.borrow();
            let Some((_, records)) = open.as_ref() else { continue };
            let mut each = |(record, seal): &(Record, Option<Seal>)| {
                // Where files overlap, each number counts once.
                if record.seq < wanted.0 || record.seq > wanted.1 {
                    return true;
                }
                match query.newest_first {
                    true => wanted.1 = record.seq - 1,
                    false => wanted.0 = record.seq + 1,
                }
                f(record, seal.as_ref())
            };
            let go_on = if query.newest_first {
                records.iter().rev().all(&mut each)
            } else {
                records.iter().all(&mut each)
            };
            if !go_on {
                return Ok(());
            }
        }
        if wanted.0 <= wanted.1 { Err(self.missing(wanted)) } else { Ok(()) }
    }

    fn missing(&self, (first, last): (u64, u64)) -> StoreError {
        StoreError::Archive(ArchiveError::Missing { directory: self.directory.clone(), first, last })
    }

    fn load(&self, file: &Path) -> Result<(), ArchiveError> {
        if self.open.borrow().as_ref().is_some_and(|(open, _)| open == file) {
            return Ok(());
        }
        let mut records = Vec::new();
        Segment::read_sealed(file, |record, seal| records.push((record, seal)))?;
        *self.open.borrow_mut() = Some((file.to_owned(), records));
        Ok(())
    }

    /// Reads archives and store, each for the remaining part. Records before a missing part are returned; only
    /// reading beyond them is an error.
    fn both<T>(
        &self,
        query: &Query,
        of_store: impl Fn(&Query) -> Result<Vec<T>, StoreError>,
        of_archive: impl Fn(&Record, Option<&Seal>) -> Option<T>,
    ) -> Result<Vec<T>, StoreError> {
        if query.after >= self.view.base()?.seq {
            return of_store(query);
        }
        let mut found = if query.newest_first { of_store(query)? } else { Vec::new() };
        if found.len() < query.limit {
            let read = self.archived(query, |record, seal| {
                found.extend(of_archive(record, seal));
                found.len() < query.limit
            });
            match read {
                Err(error) if found.is_empty() => return Err(error),
                Err(_) => return Ok(found),
                Ok(()) => {}
            }
        }
        if !query.newest_first && found.len() < query.limit {
            found.extend(of_store(&query.clone().limit(query.limit - found.len()))?);
        }
        Ok(found)
    }
}

impl View for WithArchives<'_> {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.view.get(space, key)
    }

    fn scan(&self, space: Space, keys: &Keys) -> Result<Vec<Entry>, StoreError> {
        self.view.scan(space, keys)
    }

    fn records(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        let of_store = |query: &Query| self.view.records(query);
        self.both(query, of_store, |record, _| query.fits(record).then(|| record.clone()))
    }

    fn head(&self) -> Result<Head, StoreError> {
        self.view.head()
    }

    /// The base is the start: a record that is not in the store must be in an archive.
    fn base(&self) -> Result<Head, StoreError> {
        Ok(Head::START)
    }

    fn keys(&self) -> Option<&Keyring> {
        self.view.keys()
    }

    fn seals(&self, query: &Query) -> Result<Vec<(Head, Option<Seal>)>, StoreError> {
        let of_store = |query: &Query| self.view.seals(query);
        self.both(query, of_store, |record, seal| Some((record.head(), seal.cloned())))
    }
}
