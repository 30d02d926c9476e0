//! A store with an in-memory index of records by kind and by session.
//!
//! The SQLite file has no such index, because every index is one more page in every hook's transaction. A process
//! that queries a long log repeatedly keeps one in memory: it is filled on first use, and then updated with new
//! records.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lictor_core::SessionKey;

use crate::{
    Durability, Entry, Head, Keyring, Keys, Query, Record, Seal, Space, Store, StoreError, Transaction, View,
};

/// Records that are indexed at a time.
const PAGE: usize = 20_000;
/// In a range up to this length, a scan is as fast as a lookup.
const SHORT: u64 = 1_000;
/// Records that are at most this far apart are read together.
const DENSE: u64 = 8;

/// A store with an index of the records by kind and by session.
pub struct Indexed {
    below: Arc<dyn Store>,
    index: Mutex<Index>,
}

impl std::fmt::Debug for Indexed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Indexed")
    }
}

#[derive(Default)]
struct Index {
    through: u64,
    kinds: HashMap<String, Vec<u64>>,
    sessions: HashMap<SessionKey, Vec<u64>>,
}

impl Indexed {
    /// Over that store.
    #[must_use]
    pub fn new(below: Arc<dyn Store>) -> Self {
        Self { below, index: Mutex::default() }
    }
}

impl Store for Indexed {
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.below.read(&mut |below| f(&IndexedView { below, index: &self.index }))
    }

    fn write(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.below.write(durability, f)
    }
}

struct IndexedView<'a> {
    below: &'a dyn View,
    index: &'a Mutex<Index>,
}

impl Index {
    /// Adds the new records of this view to the index.
    fn catch_up(&mut self, view: &dyn View) -> Result<(), StoreError> {
        let head = view.head()?.seq;
        while self.through < head {
            let page = view.outlines(&Query::all().after(self.through).limit(PAGE))?;
            let Some((last, ..)) = page.last() else { break };
            self.through = *last;
            for (seq, kind, session) in page {
                self.kinds.entry(kind).or_default().push(seq);
                if let Some(session) = session {
                    self.sessions.entry(session).or_default().push(seq);
                }
            }
        }
        Ok(())
    }

    /// The numbers of the matching records, in the order of the query.
    fn numbers(&self, query: &Query) -> Vec<u64> {
        let none: &[u64] = &[];
        let of_kind = query.kind.as_ref().map(|kind| self.kinds.get(kind).map_or(none, Vec::as_slice));
        let of_session = query.session.as_ref().map(|key| self.sessions.get(key).map_or(none, Vec::as_slice));
        let (all, also) = match (of_session, of_kind) {
            (Some(session), kind) => (session, kind),
            (None, Some(kind)) => (kind, None),
            (None, None) => (none, None),
        };
        let from = all.partition_point(|seq| *seq <= query.after);
        let to = all.partition_point(|seq| *seq < query.before);
        let fitting = all.get(from..to.max(from)).unwrap_or(none).iter();
        let both = |seq: &&u64| also.is_none_or(|also| also.binary_search(seq).is_ok());
        if query.newest_first {
            fitting.rev().filter(both).take(query.limit).copied().collect()
        } else {
            fitting.filter(both).take(query.limit).copied().collect()
        }
    }
}

impl View for IndexedView<'_> {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.below.get(space, key)
    }

    fn scan(&self, space: Space, keys: &Keys) -> Result<Vec<Entry>, StoreError> {
        self.below.scan(space, keys)
    }

    fn records(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        let head = self.below.head()?.seq;
        // Archived records are still in the index.
        let query = &query.clone().after(query.after.max(self.below.base()?.seq));
        let span = query.before.min(head.saturating_add(1)).saturating_sub(query.after);
        if (query.kind.is_none() && query.session.is_none()) || span <= SHORT {
            return self.below.records(query);
        }
        let numbers = {
            let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
            index.catch_up(self.below)?;
            index.numbers(query)
        };
        let (Some(first), Some(last)) = (numbers.iter().min(), numbers.iter().max()) else {
            return Ok(Vec::new());
        };
        if last - first <= DENSE * numbers.len() as u64 {
            let query = query.clone().after(first.saturating_sub(1)).before(last.saturating_add(1));
            return self.below.records(&query);
        }
        let mut found = Vec::with_capacity(numbers.len());
        for seq in numbers {
            let one = Query::all().after(seq.saturating_sub(1)).before(seq.saturating_add(1)).limit(1);
            // Records that this view does not contain yet are left out.
            found.extend(self.below.records(&one)?);
        }
        Ok(found)
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

    fn outlines(&self, query: &Query) -> Result<Vec<(u64, String, Option<SessionKey>)>, StoreError> {
        self.below.outlines(query)
    }
}

#[cfg(test)]
mod tests;
