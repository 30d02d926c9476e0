//! The store traits.

use lictor_core::SessionKey;

use crate::{Draft, Entry, Head, Keyring, Keys, Query, Record, Seal, Space, StoreError};

/// What a change must survive once [`Store::write`] has returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Durability {
    /// The end of the process at any point, `kill -9` included. For every event.
    Process,
    /// Loss of power as well. For input of people and reviewers: grants, approvals, findings.
    Power,
}

/// One consistent state of a store.
pub trait View {
    /// The value of a key.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Keys and values of a space, in byte order of the keys.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn scan(&self, space: Space, keys: &Keys) -> Result<Vec<Entry>, StoreError>;

    /// Records, exactly as stored: a forged one is returned unchanged, for [`verify`](crate::verify()) to detect.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn records(&self, query: &Query) -> Result<Vec<Record>, StoreError>;

    /// The newest record.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn head(&self) -> Result<Head, StoreError>;

    /// The newest record that was moved to an archive: the first record kept follows it. [`Head::START`] if none
    /// was.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn base(&self) -> Result<Head, StoreError>;

    /// The keys that the store was opened with. Without keys, seals cannot be checked.
    fn keys(&self) -> Option<&Keyring> {
        None
    }

    /// The heads and seals of records, exactly as stored. Only numbers, order and limit of the query apply.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn seals(&self, query: &Query) -> Result<Vec<(Head, Option<Seal>)>, StoreError> {
        Ok(self.records(query)?.iter().map(|record| (record.head(), None)).collect())
    }

    /// Number, kind and session of records, without their bodies. Only numbers, order and limit of the query
    /// apply.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn outlines(&self, query: &Query) -> Result<Vec<(u64, String, Option<SessionKey>)>, StoreError> {
        let records = self.records(query)?.into_iter();
        Ok(records.map(|record| (record.seq, record.kind, record.session)).collect())
    }
}

/// An open transaction. It sees its own changes; others see them only after the commit.
pub trait Transaction: View {
    /// Adds a record at the end of the log.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn append(&mut self, draft: Draft) -> Result<Record, StoreError>;

    /// Sets the value of a key.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn put(&mut self, space: Space, key: &[u8], value: &[u8]) -> Result<(), StoreError>;

    /// Removes a key, if it exists.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn delete(&mut self, space: Space, key: &[u8]) -> Result<(), StoreError>;

    /// Removes the records up to and including `through`, which becomes the [`base`](View::base). Does nothing if
    /// that record does not exist. Callers use [`retain`](crate::retain), which archives first.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn prune(&mut self, through: u64) -> Result<(), StoreError>;
}

/// A store. Use it through [`StoreExt`], whose closures return values.
///
/// A closure must not call the store that runs it: that would deadlock.
pub trait Store: Send + Sync {
    /// Runs `f` once on one consistent state.
    ///
    /// # Errors
    /// When the store cannot be read, or what `f` returned.
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError>;

    /// Runs `f` at most once, exclusively: no other writer can change the store between its reads and writes. All
    /// changes are committed when both `f` and this return `Ok`, none when `f` returns an error or panics.
    ///
    /// # Errors
    /// When the store cannot be written or stays busy past the deadline it was opened with, or what `f` returned.
    fn write(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// As [`read`](Self::read), but a remote store may use the cache of this process without a query: later
    /// writes of others are then missing. `f` may run twice; only its last run counts.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn read_cached(
        &self,
        f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>,
    ) -> Result<Freshness, StoreError> {
        self.read(f).map(|()| Freshness::Current)
    }

    /// As [`write`](Self::write), but `f` may run twice, each time on the current state; only its last run
    /// counts. A remote store then needs no query before the commit. If `f` returns [`StoreError::Abandoned`], it
    /// is not run again.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn write_retrying(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.write(durability, f)
    }
}

/// How new the state is that a reader was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Freshness {
    /// The state of the store when it was read.
    Current,
    /// The cache of this process.
    Cached,
}

/// [`Store`] with closures that return values.
pub trait StoreExt: Store {
    /// The result of `f` on one consistent state.
    ///
    /// # Errors
    /// When the store cannot be read, or what `f` returned.
    fn view<T>(&self, f: impl FnOnce(&dyn View) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut f = Some(f);
        let mut found = None;
        self.read(&mut |view| {
            found = f.take().map(|f| f(view)).transpose()?;
            Ok(())
        })?;
        found.ok_or(StoreError::Abandoned)
    }

    /// Changes the store with `f` and returns the result of `f`.
    ///
    /// # Errors
    /// As [`Store::write`]; nothing has changed then.
    fn update<T>(
        &self,
        durability: Durability,
        f: impl FnOnce(&mut dyn Transaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.try_update(durability, f)
    }

    /// As [`update`](Self::update), for closures with their own error type.
    ///
    /// # Errors
    /// As [`Store::write`]; nothing has changed then.
    fn try_update<T, E: From<StoreError>>(
        &self,
        durability: Durability,
        f: impl FnOnce(&mut dyn Transaction) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut f = Some(f);
        let mut outcome = None;
        let written = self.write(durability, &mut |tx| match f.take().map(|f| f(tx)) {
            Some(Ok(value)) => {
                outcome = Some(Ok(value));
                Ok(())
            }
            Some(Err(error)) => {
                outcome = Some(Err(error));
                Err(StoreError::Abandoned)
            }
            None => Err(StoreError::Abandoned),
        });
        match (outcome, written) {
            (Some(Err(error)), _) => Err(error),
            (_, Err(error)) => Err(error.into()),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(StoreError::Abandoned.into()),
        }
    }

    /// The result of `f` on the state of [`Store::read_cached`].
    ///
    /// # Errors
    /// As [`Store::read_cached`].
    fn view_cached<T>(
        &self,
        mut f: impl FnMut(&dyn View) -> Result<T, StoreError>,
    ) -> Result<(T, Freshness), StoreError> {
        let mut found = None;
        let freshness = self.read_cached(&mut |view| {
            found = Some(f(view)?);
            Ok(())
        })?;
        found.map(|found| (found, freshness)).ok_or(StoreError::Abandoned)
    }

    /// Changes the store with the last run of `f`, and returns its result.
    ///
    /// # Errors
    /// As [`Store::write_retrying`]; nothing has changed then.
    fn update_retrying<T>(
        &self,
        durability: Durability,
        mut f: impl FnMut(&mut dyn Transaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut outcome = None;
        self.write_retrying(durability, &mut |tx| {
            outcome = None;
            outcome = Some(f(tx)?);
            Ok(())
        })?;
        outcome.ok_or(StoreError::Abandoned)
    }
}

impl<S: Store + ?Sized> StoreExt for S {}
