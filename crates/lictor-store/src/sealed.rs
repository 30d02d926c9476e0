//! A transaction that seals writes and checks reads, on top of the plain tables of a database.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use lictor_core::SessionKey;

use crate::account::{Account, Sealing, entry_name};
use crate::seal::{Effects, EntrySeal, entry_seal};
use crate::{
    Draft, Entry, Head, KeyId, Keyring, Keys, Query, Record, RecordKey, Seal, Space, StoreError, Transaction,
    View,
};

/// Entries read at a time.
const PAGE: usize = 500;

/// A value and its seal.
pub(crate) type SealedValue = (Vec<u8>, Option<EntrySeal>);
/// An entry as it is stored: key, value, seal.
pub(crate) type SealedEntry = (Vec<u8>, Vec<u8>, Option<EntrySeal>);

/// The tables inside one transaction.
pub(crate) trait Tables {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<SealedValue>, StoreError>;
    fn scan(&self, space: Space, keys: &Keys) -> Result<Vec<SealedEntry>, StoreError>;
    fn records(&self, query: &Query) -> Result<Vec<Record>, StoreError>;
    /// The head and the seal of each record; filters by number only.
    fn seals(&self, query: &Query) -> Result<Vec<(Head, Option<Seal>)>, StoreError>;
    /// Number, kind and session of each record; filters by number only.
    fn outlines(&self, query: &Query) -> Result<Vec<(u64, String, Option<SessionKey>)>, StoreError> {
        let records = self.records(query)?.into_iter();
        Ok(records.map(|record| (record.seq, record.kind, record.session)).collect())
    }
    /// The end of the log, including archived records, with the seal of the record if it is still in the store.
    fn end(&self) -> Result<(Head, Option<Seal>), StoreError>;
    fn base(&self) -> Result<Head, StoreError>;
    fn insert(&mut self, record: &Record, seal: Option<&Seal>) -> Result<(), StoreError>;
    fn set_seal(&mut self, seq: u64, seal: &Seal) -> Result<(), StoreError>;
    fn put(
        &mut self,
        space: Space,
        key: &[u8],
        value: &[u8],
        seal: Option<&EntrySeal>,
    ) -> Result<(), StoreError>;
    fn delete(&mut self, space: Space, key: &[u8]) -> Result<(), StoreError>;
    fn prune(&mut self, through: u64) -> Result<(), StoreError>;
    /// The name of this store in messages.
    fn name(&self) -> &Path;
}

/// How far the store can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// There are no keys and no seals.
    Plain,
    /// Sealed by the key in use.
    Current,
    /// Sealed by a key before it.
    Older(KeyId),
    /// The store is empty or legitimately unsealed.
    Unsealed,
}

/// The keys and options that a store was opened with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sealer {
    pub(crate) keys: Option<Keyring>,
    /// Whether records without a seal are accepted as older than the key.
    pub(crate) adopt: bool,
    /// The entry that was checked last. A judgement reads its session before and after judging: equal bytes need
    /// no second check of their seal.
    checked: Arc<Mutex<Option<Checked>>>,
}

/// An entry whose seal is that key's.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Checked {
    key: KeyId,
    space: Space,
    name: Vec<u8>,
    value: Vec<u8>,
    seal: EntrySeal,
}

impl Checked {
    fn is(&self, with: &RecordKey, space: Space, name: &[u8], value: &[u8], seal: EntrySeal) -> bool {
        self.key == with.id()
            && self.space == space
            && self.seal == seal
            && self.name == name
            && self.value == value
    }
}

impl Sealer {
    /// Whether an entry has the right seal.
    fn fits(
        &self,
        with: &RecordKey,
        space: Space,
        name: &[u8],
        value: &[u8],
        seal: Option<EntrySeal>,
    ) -> bool {
        let Some(seal) = seal else { return false };
        let mut last = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref().is_some_and(|known| known.is(with, space, name, value, seal)) {
            return true;
        }
        let fits = seal == entry_seal(with, space, name, value);
        if fits {
            *last = Some(Checked { key: with.id(), space, name: name.to_vec(), value: value.to_vec(), seal });
        }
        fits
    }
}

pub(crate) struct Sealed<'a, T: Tables> {
    tables: RefCell<T>,
    sealer: &'a Sealer,
    standing: OnceCell<Standing>,
    /// The newest record, not in the tables yet: its seal covers later changes of the transaction, so it is
    /// written once, with the next record or at the end.
    newest: RefCell<Option<Record>>,
    effects: Effects,
    changed: bool,
}

impl<'a, T: Tables> Sealed<'a, T> {
    pub(crate) fn new(tables: T, sealer: &'a Sealer) -> Self {
        Self {
            tables: RefCell::new(tables),
            sealer,
            standing: OnceCell::new(),
            newest: RefCell::new(None),
            effects: Effects::default(),
            changed: false,
        }
    }

    /// Returns the tables after a read-only transaction.
    #[cfg(feature = "postgres")]
    pub(crate) fn into_tables(self) -> T {
        self.tables.into_inner()
    }

    /// The tables below.
    #[cfg(feature = "postgres")]
    pub(crate) fn tables(&self) -> std::cell::Ref<'_, T> {
        self.tables.borrow()
    }

    /// Seals the changes and returns the tables. The database commit follows.
    pub(crate) fn finish(mut self) -> Result<T, StoreError> {
        let effects = std::mem::take(&mut self.effects);
        if self.newest.borrow().is_some() {
            self.insert_newest(&effects)?;
        } else if let Some(keys) = &self.sealer.keys
            && self.changed
            && !effects.is_empty()
        {
            let key = keys.current();
            let (mut head, mut seal) = self.tables.borrow().end()?;
            if head.seq == self.tables.borrow().base()?.seq {
                // No record is left that could hold the seal.
                head = self.append_sealing(key, None, head, &Effects::default())?;
                seal = None;
            }
            // Another transaction may have changed entries after the same record.
            let mut all = seal.and_then(|seal| seal.effects()).unwrap_or_default();
            all.then(effects);
            self.tables.get_mut().set_seal(head.seq, &Seal::new(key, &head.hash, &all))?;
        }
        Ok(self.tables.into_inner())
    }

    /// Inserts the newest record, with a seal over the changes after it.
    fn insert_newest(&self, effects: &Effects) -> Result<(), StoreError> {
        let Some(record) = self.newest.take() else { return Ok(()) };
        let seal = self.sealer.keys.as_ref().map(|keys| Seal::new(keys.current(), &record.hash, effects));
        self.tables.borrow_mut().insert(&record, seal.as_ref())
    }

    /// The tables with every record in them.
    fn whole(&self) -> Result<std::cell::Ref<'_, T>, StoreError> {
        self.insert_newest(&Effects::default())?;
        Ok(self.tables.borrow())
    }

    /// The end of the log.
    fn end(&self) -> Result<Head, StoreError> {
        let newest = self.newest.borrow().as_ref().map(Record::head);
        newest.map_or_else(|| Ok(self.tables.borrow().end()?.0), Ok)
    }

    fn standing(&self) -> Result<Standing, StoreError> {
        if let Some(standing) = self.standing.get() {
            return Ok(*standing);
        }
        let standing = self.find_standing()?;
        Ok(*self.standing.get_or_init(|| standing))
    }

    fn find_standing(&self) -> Result<Standing, StoreError> {
        let file = || self.name();
        let tables = self.whole()?;
        let (head, seal) = tables.end()?;
        let Some(keys) = &self.sealer.keys else {
            return match seal {
                None => Ok(Standing::Plain),
                Some(_) => Err(StoreError::KeyMissing { file: file() }),
            };
        };
        let Some(seal) = seal else {
            // An attacker with write access could remove all seals; only the process that has just created the
            // key can know that there were none.
            let empty = || -> Result<bool, StoreError> {
                let entry =
                    |space| Ok::<_, StoreError>(!tables.scan(space, &Keys::all().limit(1))?.is_empty());
                Ok(head == Head::START
                    && !Space::ALL.into_iter().map(entry).any(|found| found.unwrap_or(true)))
            };
            return if self.sealer.adopt || empty()? {
                Ok(Standing::Unsealed)
            } else {
                Err(StoreError::Unsealed { file: file(), seq: head.seq })
            };
        };
        let Some(key) = keys.get(seal.key()) else {
            return Err(StoreError::WrongKey { file: file(), key: seal.key() });
        };
        if !seal.fits(key, &head.hash) {
            return Err(self.forged(format!("record {}", head.seq)));
        }
        Ok(if seal.key() == keys.current().id() { Standing::Current } else { Standing::Older(seal.key()) })
    }

    /// The current key of the entries.
    fn entry_key(&self) -> Result<Option<&RecordKey>, StoreError> {
        let Some(keys) = &self.sealer.keys else {
            self.standing()?;
            return Ok(None);
        };
        Ok(match self.standing()? {
            _ if self.changed => Some(keys.current()),
            Standing::Current => Some(keys.current()),
            Standing::Older(id) => keys.get(id),
            Standing::Unsealed | Standing::Plain => None,
        })
    }

    fn checked(
        &self,
        space: Space,
        key: &[u8],
        value: Vec<u8>,
        seal: Option<EntrySeal>,
    ) -> Result<Vec<u8>, StoreError> {
        match self.entry_key()? {
            Some(with) if !self.sealer.fits(with, space, key, &value, seal) => {
                Err(self.forged(entry_name(space, key)))
            }
            _ => Ok(value),
        }
    }

    /// Before the first change: makes sure that this writer may seal, and seals everything anew when the key has changed.
    fn ready(&mut self) -> Result<Option<RecordKey>, StoreError> {
        let standing = self.standing()?;
        let Some(keys) = &self.sealer.keys else { return Ok(None) };
        let key = keys.current().clone();
        if !self.changed {
            match standing {
                Standing::Older(before) => self.reseal(&key, Some(before))?,
                Standing::Unsealed => self.reseal(&key, None)?,
                Standing::Current | Standing::Plain => {}
            }
            self.changed = true;
        }
        Ok(Some(key))
    }

    /// Reseals every entry with this key, and appends a record that marks the change.
    fn reseal(&mut self, key: &RecordKey, before: Option<KeyId>) -> Result<(), StoreError> {
        if before.is_some() {
            let account = self.account()?;
            if let Some(fault) = account.entries(self)? {
                return Err(self.forged(fault.to_string()));
            }
        }
        let mut effects = Effects::whole();
        for space in Space::ALL {
            let mut keys = Keys::all().limit(PAGE);
            loop {
                let page = View::scan(self, space, &keys)?;
                let Some((last, _)) = page.last() else { break };
                keys = keys.beyond(last.clone());
                for (name, value) in &page {
                    let seal = entry_seal(key, space, name, value);
                    effects.put(key, space, name, &seal);
                    self.tables.get_mut().put(space, name, value, Some(&seal))?;
                }
            }
        }
        let head = self.end()?;
        if head == Head::START {
            self.effects = effects;
        } else {
            self.append_sealing(key, before, head, &effects)?;
        }
        Ok(())
    }

    fn append_sealing(
        &mut self,
        key: &RecordKey,
        before: Option<KeyId>,
        head: Head,
        effects: &Effects,
    ) -> Result<Head, StoreError> {
        let newest = self.whole()?.records(&Query::all().newest_first().limit(1))?;
        let record = Record::after(head, Sealing::draft(key.id(), before, newest.first())?);
        self.tables.get_mut().insert(&record, Some(&Seal::new(key, &record.hash, effects)))?;
        Ok(record.head())
    }

    /// The account of all sealed records so far.
    fn account(&self) -> Result<Account<'a>, StoreError> {
        let Some(keys) = &self.sealer.keys else { return Err(StoreError::Abandoned) };
        Account::of(self, keys)?.map_err(|fault| self.forged(fault.to_string()))
    }

    fn forged(&self, what: String) -> StoreError {
        StoreError::Forged { file: self.name(), what }
    }

    fn name(&self) -> PathBuf {
        self.tables.borrow().name().to_owned()
    }
}

impl<T: Tables> View for Sealed<'_, T> {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let found = self.tables.borrow().get(space, key)?;
        found.map(|(value, seal)| self.checked(space, key, value, seal)).transpose()
    }

    fn scan(&self, space: Space, keys: &Keys) -> Result<Vec<Entry>, StoreError> {
        let found = self.tables.borrow().scan(space, keys)?.into_iter();
        found.map(|(key, value, seal)| Ok((key.clone(), self.checked(space, &key, value, seal)?))).collect()
    }

    fn records(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        self.whole()?.records(query)
    }

    fn head(&self) -> Result<Head, StoreError> {
        self.end()
    }

    fn base(&self) -> Result<Head, StoreError> {
        self.tables.borrow().base()
    }

    fn keys(&self) -> Option<&Keyring> {
        self.sealer.keys.as_ref()
    }

    fn seals(&self, query: &Query) -> Result<Vec<(Head, Option<Seal>)>, StoreError> {
        self.whole()?.seals(query)
    }

    fn outlines(&self, query: &Query) -> Result<Vec<(u64, String, Option<SessionKey>)>, StoreError> {
        self.whole()?.outlines(query)
    }
}

impl<T: Tables> Transaction for Sealed<'_, T> {
    fn append(&mut self, draft: Draft) -> Result<Record, StoreError> {
        self.ready()?;
        let record = Record::after(self.end()?, draft);
        self.insert_newest(&Effects::default())?;
        *self.newest.get_mut() = Some(record.clone());
        Ok(record)
    }

    fn put(&mut self, space: Space, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let Some(with) = self.ready()? else {
            return self.tables.get_mut().put(space, key, value, None);
        };
        let seal = entry_seal(&with, space, key, value);
        self.effects.put(&with, space, key, &seal);
        self.tables.get_mut().put(space, key, value, Some(&seal))
    }

    fn delete(&mut self, space: Space, key: &[u8]) -> Result<(), StoreError> {
        if let Some(with) = self.ready()? {
            self.effects.delete(&with, space, key);
        }
        self.tables.get_mut().delete(space, key)
    }

    fn prune(&mut self, through: u64) -> Result<(), StoreError> {
        if self.ready()?.is_some() {
            // The records with the effects of older entries are removed, so the last one takes over all their
            // effects. It copies the recorded effects, not the current entries, so that a forged entry does not
            // become valid.
            let mut effects = self.account()?.into_effects().made_whole();
            effects.then(std::mem::take(&mut self.effects));
            self.effects = effects;
        }
        self.insert_newest(&Effects::default())?;
        self.tables.get_mut().prune(through)
    }
}
