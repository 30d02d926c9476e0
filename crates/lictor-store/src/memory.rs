//! An in-memory store, for tests, replay, and embedding in a single process.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{PoisonError, RwLock};

use crate::{
    Draft, Durability, Entry, Head, Keys, Query, Record, Space, Store, StoreError, Transaction, View,
};

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: RwLock<State>,
    /// How many records are kept; all if `None`.
    keep: Option<usize>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty store that keeps only the newest records, as after [`Transaction::prune`], for a long-running
    /// process. Session state is kept.
    #[must_use]
    pub fn keeping(records: usize) -> Self {
        Self { keep: Some(records), ..Self::default() }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = State::default();
    }
}

/// A space and a key in it.
type Slot = (Space, Vec<u8>);

#[derive(Debug)]
struct State {
    base: Head,
    log: VecDeque<Record>,
    entries: BTreeMap<Slot, Vec<u8>>,
}

impl Default for State {
    fn default() -> Self {
        Self { base: Head::START, log: VecDeque::new(), entries: BTreeMap::new() }
    }
}

impl View for State {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.entries.get(&(space, key.to_vec())).cloned())
    }

    fn scan(&self, space: Space, keys: &Keys) -> Result<Vec<Entry>, StoreError> {
        if keys.to.as_ref().is_some_and(|to| *to <= keys.from) {
            return Ok(Vec::new());
        }
        let from = (space, keys.from.clone());
        let from = if keys.skip_from { Bound::Excluded(from) } else { Bound::Included(from) };
        let found = self
            .entries
            .range((from, Bound::Unbounded))
            .take_while(|((of, key), _)| *of == space && keys.to.as_ref().is_none_or(|to| key < to))
            .map(|((_, key), value)| (key.clone(), value.clone()));
        let mut found: Vec<_> =
            if keys.reversed { found.collect() } else { found.take(keys.limit).collect() };
        if keys.reversed {
            found.reverse();
            found.truncate(keys.limit);
        }
        Ok(found)
    }

    fn records(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        let wanted = |record: &&Record| query.fits(record);
        Ok(if query.newest_first {
            self.log.iter().rev().filter(wanted).take(query.limit).cloned().collect()
        } else {
            self.log.iter().filter(wanted).take(query.limit).cloned().collect()
        })
    }

    fn head(&self) -> Result<Head, StoreError> {
        Ok(self.log.back().map_or(self.base, Record::head))
    }

    fn base(&self) -> Result<Head, StoreError> {
        Ok(self.base)
    }
}

/// The changes of a transaction, for rollback.
struct Change<'a> {
    state: &'a mut State,
    undo: Vec<(Slot, Option<Vec<u8>>)>,
    appended: usize,
    pruned: Option<(Head, VecDeque<Record>)>,
    committed: bool,
}

impl Drop for Change<'_> {
    /// Rolls back unless committed, including when the closure panics.
    fn drop(&mut self) {
        if self.committed {
            return;
        }
        for (key, value) in self.undo.drain(..).rev() {
            match value {
                Some(value) => self.state.entries.insert(key, value),
                None => self.state.entries.remove(&key),
            };
        }
        if let Some((base, mut records)) = self.pruned.take() {
            records.append(&mut self.state.log);
            self.state.log = records;
            self.state.base = base;
        }
        let kept = self.state.log.len().saturating_sub(self.appended);
        self.state.log.truncate(kept);
    }
}

impl View for Change<'_> {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.state.get(space, key)
    }

    fn scan(&self, space: Space, keys: &Keys) -> Result<Vec<Entry>, StoreError> {
        self.state.scan(space, keys)
    }

    fn records(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        self.state.records(query)
    }

    fn head(&self) -> Result<Head, StoreError> {
        self.state.head()
    }

    fn base(&self) -> Result<Head, StoreError> {
        self.state.base()
    }
}

impl Transaction for Change<'_> {
    fn append(&mut self, draft: Draft) -> Result<Record, StoreError> {
        let record = Record::after(self.state.head()?, draft);
        self.state.log.push_back(record.clone());
        self.appended += 1;
        Ok(record)
    }

    fn put(&mut self, space: Space, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let key = (space, key.to_vec());
        let before = self.state.entries.insert(key.clone(), value.to_vec());
        self.undo.push((key, before));
        Ok(())
    }

    fn delete(&mut self, space: Space, key: &[u8]) -> Result<(), StoreError> {
        let key = (space, key.to_vec());
        if let Some(before) = self.state.entries.remove(&key) {
            self.undo.push((key, Some(before)));
        }
        Ok(())
    }

    fn prune(&mut self, through: u64) -> Result<(), StoreError> {
        let Some(at) = self.state.log.iter().position(|record| record.seq == through) else { return Ok(()) };
        let kept = self.state.log.split_off(at + 1);
        let gone = std::mem::replace(&mut self.state.log, kept);
        let base = gone.back().map_or(self.state.base, Record::head);
        let (_, archived) = self.pruned.get_or_insert((self.state.base, VecDeque::new()));
        archived.extend(gone);
        self.state.base = base;
        Ok(())
    }
}

impl Store for MemoryStore {
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
        // A poisoned lock is harmless: `Change` has rolled back before the lock was released.
        f(&*self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(
        &self,
        _: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let mut change =
            Change { state: &mut state, undo: Vec::new(), appended: 0, pruned: None, committed: false };
        f(&mut change)?;
        change.committed = true;
        drop(change);
        let over = state.log.len().saturating_sub(self.keep.unwrap_or(usize::MAX));
        if let Some(last) = over.checked_sub(1).and_then(|last| state.log.get(last)) {
            state.base = last.head();
            state.log.drain(..over);
        }
        Ok(())
    }
}
