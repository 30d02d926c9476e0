//! A transaction that writes in the order of the keys.
//!
//! A large change touches rows all over the projection, many of them repeatedly. Each row is buffered with its
//! latest value and read at most once; the underlying store gets the rows sorted, which is its storage order.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Bound;

use crate::{Draft, Entry, Head, Keyring, Keys, Query, Record, Seal, Space, StoreError, Transaction, View};

/// The maximum number of buffered bytes before they are flushed.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The buffered state of a key.
#[derive(Debug)]
enum Known {
    /// The value in the underlying store.
    Read(Option<Vec<u8>>),
    /// The value to write.
    Changed(Option<Vec<u8>>),
}

/// Entries of one space by their keys.
type Entries = BTreeMap<(Space, Vec<u8>), Known>;

/// A transaction on top of another. It has no effect before [`finish`](Self::finish).
pub struct Buffered<'a> {
    below: &'a mut dyn Transaction,
    entries: RefCell<Entries>,
    size: usize,
}

impl std::fmt::Debug for Buffered<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Buffered").field("size", &self.size).finish_non_exhaustive()
    }
}

impl<'a> Buffered<'a> {
    /// On top of this one.
    pub fn new(below: &'a mut dyn Transaction) -> Self {
        Self { below, entries: RefCell::default(), size: 0 }
    }

    /// Writes all changes to the underlying transaction.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn finish(mut self) -> Result<(), StoreError> {
        self.hand_down()
    }

    fn hand_down(&mut self) -> Result<(), StoreError> {
        self.size = 0;
        for ((space, key), known) in self.entries.take() {
            match known {
                Known::Read(_) => {}
                Known::Changed(Some(value)) => self.below.put(space, &key, &value)?,
                Known::Changed(None) => self.below.delete(space, &key)?,
            }
        }
        Ok(())
    }

    fn change(&mut self, space: Space, key: &[u8], value: Option<&[u8]>) -> Result<(), StoreError> {
        let changed = Known::Changed(value.map(<[u8]>::to_vec));
        let before = self.entries.get_mut().insert((space, key.to_vec()), changed);
        self.size += value.map_or(0, <[u8]>::len);
        match before {
            Some(Known::Changed(before)) => self.size -= before.map_or(0, |before| before.len()),
            Some(Known::Read(_)) | None => self.size += key.len(),
        }
        if self.size > MOST_BYTES { self.hand_down() } else { Ok(()) }
    }
}

impl View for Buffered<'_> {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let slot = (space, key.to_vec());
        if let Some(Known::Read(value) | Known::Changed(value)) = self.entries.borrow().get(&slot) {
            return Ok(value.clone());
        }
        let value = self.below.get(space, key)?;
        self.entries.borrow_mut().insert(slot, Known::Read(value.clone()));
        Ok(value)
    }

    fn scan(&self, space: Space, keys: &Keys) -> Result<Vec<Entry>, StoreError> {
        let entries = self.entries.borrow();
        let changed: BTreeMap<&[u8], Option<&[u8]>> = entries
            .range((Bound::Included((space, keys.from.clone())), Bound::Unbounded))
            .take_while(|((of, key), _)| *of == space && keys.to.as_ref().is_none_or(|to| key < to))
            .filter(|((_, key), _)| !(keys.skip_from && *key == keys.from))
            .filter_map(|((_, key), known)| match known {
                Known::Read(_) => None,
                Known::Changed(value) => Some((key.as_slice(), value.as_deref())),
            })
            .collect();
        // The limit is raised so that enough entries remain after removing those that are changed here.
        let below = self.below.scan(space, &keys.clone().limit(keys.limit.saturating_add(changed.len())))?;
        if changed.is_empty() {
            return Ok(below);
        }
        let mut found: BTreeMap<Vec<u8>, Vec<u8>> = below.into_iter().collect();
        for (key, value) in changed {
            match value {
                Some(value) => found.insert(key.to_vec(), value.to_vec()),
                None => found.remove(key),
            };
        }
        let mut found: Vec<Entry> = found.into_iter().collect();
        if keys.reversed {
            found.reverse();
        }
        found.truncate(keys.limit);
        Ok(found)
    }

    fn records(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        self.below.records(query)
    }

    fn head(&self) -> Result<Head, StoreError> {
        self.below.head()
    }

    fn base(&self) -> Result<Head, StoreError> {
        self.below.base()
    }

    fn keys(&self) -> Option<&Keyring> {
        self.below.keys()
    }

    fn seals(&self, query: &Query) -> Result<Vec<(Head, Option<Seal>)>, StoreError> {
        self.below.seals(query)
    }
}

impl Transaction for Buffered<'_> {
    fn append(&mut self, draft: Draft) -> Result<Record, StoreError> {
        self.below.append(draft)
    }

    fn put(&mut self, space: Space, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        self.change(space, key, Some(value))
    }

    fn delete(&mut self, space: Space, key: &[u8]) -> Result<(), StoreError> {
        self.change(space, key, None)
    }

    fn prune(&mut self, through: u64) -> Result<(), StoreError> {
        self.below.prune(through)
    }
}
