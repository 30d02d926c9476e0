//! The seam: what every store can do.

use lictor_core::SessionKey;

use crate::{Draft, Entry, Head, Keyring, Keys, Query, Record, Seal, Space, StoreError};

/// What a change must survive once [`Store::write`] has returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Durability {
    /// The end of the process at any point, `kill -9` included. For every event.
    Process,
    /// Loss of power as well. For what a person or a reviewer said: grants, approvals, findings.
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

    /// Records, exactly as stored: a forged one comes back as it is, for [`verify`](crate::verify()) to find.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn records(&self, query: &Query) -> Result<Vec<Record>, StoreError>;

    /// The newest record.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn head(&self) -> Result<Head, StoreError>;

    /// The newest record that was moved to an archive: the first record kept follows it.
    /// [`Head::START`] as long as nothing was.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn base(&self) -> Result<Head, StoreError>;

    /// The keys that the store was opened with. A store without them has nothing to check seals by.
    fn keys(&self) -> Option<&Keyring> {
        None
    }

    /// The place and the seal of records, exactly as stored. Only numbers, order and limit of the query count.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn seals(&self, query: &Query) -> Result<Vec<(Head, Option<Seal>)>, StoreError> {
        Ok(self.records(query)?.iter().map(|record| (record.head(), None)).collect())
    }

    /// Number, kind and session of records, without what is in them. Only numbers, order and limit of the query count.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn outlines(&self, query: &Query) -> Result<Vec<(u64, String, Option<SessionKey>)>, StoreError> {
        let records = self.records(query)?.into_iter();
        Ok(records.map(|record| (record.seq, record.kind, record.session)).collect())
    }
}

/// A change in the making. Sees its own changes; nobody else does until it is committed.
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

    /// Removes a key, if it is there.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn delete(&mut self, space: Space, key: &[u8]) -> Result<(), StoreError>;

    /// Forgets the records up to and including `through`, which becomes the [`base`](View::base).
    /// Nothing happens when that record is not there. Callers use [`retain`](crate::retain), which archives first.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn prune(&mut self, through: u64) -> Result<(), StoreError>;
}

/// A store. Use it through [`StoreExt`], whose closures return values.
///
/// A closure must not call the store that runs it: it would wait for itself.
pub trait Store: Send + Sync {
    /// Runs `f` once on one consistent state.
    ///
    /// # Errors
    /// When the store cannot be read, or what `f` returned.
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError>;

    /// Runs `f` at most once, alone: no other writer is between what it reads and what it writes. All of it is
    /// kept when both `f` and this return `Ok`, none of it when `f` returns an error or panics.
    ///
    /// # Errors
    /// When the store cannot be written or stays busy past the deadline it was opened with, or what `f` returned.
    fn write(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// As [`read`](Self::read), but a store far away may show what this process last saw of it, without asking it: what
    /// others have written since is missing then. `f` may run twice; only its last run counts.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn read_cached(
        &self,
        f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>,
    ) -> Result<Freshness, StoreError> {
        self.read(f).map(|()| Freshness::Current)
    }

    /// As [`write`](Self::write), but `f` may run twice, each time on the state as it is then; only its last run counts.
    /// A store far away need not be asked before its commit then. Who gives up ([`StoreError::Abandoned`]) is not asked
    /// again.
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
    /// What this process last saw of it.
    Cached,
}

/// [`Store`] with closures that return values.
pub trait StoreExt: Store {
    /// What `f` finds in one consistent state.
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

    /// Changes the store by `f` and returns what `f` returns.
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

    /// As [`update`](Self::update), for closures with an error type of their own.
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

    /// What `f` finds in the state that [`Store::read_cached`] shows.
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

    /// Changes the store by the last run of `f`, and returns what that returns.
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
