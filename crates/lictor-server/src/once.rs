//! Idempotency keys: a request with a key takes effect once, also across restarts and on several servers.
//!
//! The first change of a request and the record of its key are one transaction ([`Marked`]); the response is
//! added later. A key without a response means that the request was executed and its response was lost.

use std::cell::RefCell;
use std::sync::Arc;

use lictor_core::{Digest, Timestamp};
use lictor_store::{Durability, Freshness, Keys, Space, Store, StoreError, StoreExt as _, Transaction, View};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long a request is remembered.
const REMEMBERED_MS: i64 = 24 * 60 * 60 * 1_000;
/// So many that are older are forgotten with each new one.
const MOST_FORGOTTEN: usize = 4;

/// A request with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyed {
    /// The digest of caller, request and key.
    key: Digest,
    /// What is asked.
    body: Digest,
    at: Timestamp,
}

/// The stored note of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    at: Timestamp,
    body: Digest,
    /// None when it was lost, or is not to be kept.
    answer: Option<Value>,
}

/// The known state of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    Never,
    /// It was answered so.
    Answered(Value),
    /// It was carried out; its answer is not known.
    Done,
    /// The key was used for something else.
    Other,
}

/// The progress of this thread's request.
#[derive(Default)]
struct Course {
    keyed: Option<Keyed>,
    /// The store that has the note.
    noted: Option<Arc<dyn Store>>,
    /// Another request was first.
    beaten: bool,
}

thread_local! {
    static COURSE: RefCell<Course> = RefCell::default();
}

impl Keyed {
    /// A request of a token: its method and address, and its body.
    #[must_use]
    pub fn new(token: &str, request: &str, key: &str, body: &[u8], at: Timestamp) -> Self {
        let key = Digest::of_parts([token.as_bytes(), request.as_bytes(), key.as_bytes()]);
        Self { key, body: Digest::of(body), at }
    }

    /// Names the request.
    #[must_use]
    pub fn name(&self) -> Digest {
        self.key
    }

    /// What a store knows of it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn before(&self, store: &dyn Store) -> Result<Before, StoreError> {
        let Some(note) = store.view(|view| self.note(view))? else { return Ok(Before::Never) };
        Ok(match note.answer {
            _ if note.body != self.body => Before::Other,
            Some(answer) => Before::Answered(answer),
            None => Before::Done,
        })
    }

    /// Has the request carried out. The first change that it makes to a [`Marked`] store is noted with it.
    ///
    /// Returns what came of it, or nothing when another server was first. What failed may be tried again.
    pub fn carry_out<E>(&self, keep: bool, f: impl FnOnce() -> Result<Value, E>) -> Option<Result<Value, E>> {
        COURSE.replace(Course { keyed: Some(self.clone()), ..Course::default() });
        let ended = End;
        let outcome = f();
        let course = COURSE.take();
        drop(ended);
        if course.beaten {
            return None;
        }
        if let Some(store) = course.noted {
            // A response that cannot be stored is still returned: the execution is noted.
            let _ = match &outcome {
                Ok(answer) if keep => store.update(Durability::Process, |tx| self.put(tx, Some(answer))),
                Ok(_) => Ok(()),
                Err(_) => store.update(Durability::Process, |tx| self.forget(tx)),
            };
        }
        Some(outcome)
    }

    fn place(&self) -> String {
        format!("once/{}", self.key)
    }

    fn note(&self, view: &dyn View) -> Result<Option<Note>, StoreError> {
        let Some(bytes) = view.get(Space::Meta, self.place().as_bytes())? else { return Ok(None) };
        let note: Note = serde_json::from_slice(&bytes).map_err(StoreError::other)?;
        Ok(Some(note).filter(|note| self.at < note.at.plus_millis(REMEMBERED_MS)))
    }

    fn put(&self, tx: &mut dyn Transaction, answer: Option<&Value>) -> Result<(), StoreError> {
        let note = Note { at: self.at, body: self.body, answer: answer.cloned() };
        let bytes = serde_json::to_vec(&note).map_err(StoreError::other)?;
        tx.put(Space::Meta, self.place().as_bytes(), &bytes)?;
        tx.put(Space::Meta, when(self.at, self.key).as_bytes(), &[])
    }

    fn forget(&self, tx: &mut dyn Transaction) -> Result<(), StoreError> {
        tx.delete(Space::Meta, self.place().as_bytes())?;
        tx.delete(Space::Meta, when(self.at, self.key).as_bytes())
    }
}

/// The key of a note by age. Times are in hexadecimal digits, so that keys sort by time.
fn when(at: Timestamp, key: Digest) -> String {
    format!("once-at/{:016x}/{key}", at.0.max(0))
}

/// Forgets some of what is too old.
fn sweep(tx: &mut dyn Transaction, now: Timestamp) -> Result<(), StoreError> {
    let oldest = tx.scan(Space::Meta, &Keys::prefix("once-at/").limit(MOST_FORGOTTEN))?;
    for (place, _) in oldest {
        let text = String::from_utf8_lossy(&place).into_owned();
        let mut parts = text.split('/').skip(1);
        let at = parts.next().and_then(|at| i64::from_str_radix(at, 16).ok()).unwrap_or_default();
        if Timestamp(at).plus_millis(REMEMBERED_MS) > now {
            break;
        }
        tx.delete(Space::Meta, &place)?;
        if let Some(key) = parts.next() {
            tx.delete(Space::Meta, format!("once/{key}").as_bytes())?;
        }
    }
    Ok(())
}

/// Forgets the request of this thread, also when it panics: threads are used again.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        COURSE.take();
    }
}

/// A store that notes which request changed it first.
pub struct Marked {
    below: Arc<dyn Store>,
}

impl Marked {
    /// Over that store.
    #[must_use]
    pub fn new(below: Arc<dyn Store>) -> Self {
        Self { below }
    }
}

impl std::fmt::Debug for Marked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Marked")
    }
}

impl Store for Marked {
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.below.read(f)
    }

    fn read_cached(
        &self,
        f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>,
    ) -> Result<Freshness, StoreError> {
        self.below.read_cached(f)
    }

    fn write(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.noted(f, |f| self.below.write(durability, f))
    }

    fn write_retrying(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.noted(f, |f| self.below.write_retrying(durability, f))
    }
}

/// What changes a store.
type Changing<'a> = &'a mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>;

impl Marked {
    /// Has `f` carried out by `write`, with a note of the request if it has a key.
    fn noted(
        &self,
        f: Changing<'_>,
        write: impl FnOnce(Changing<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let keyed = COURSE.with_borrow(|course| match course.noted {
            Some(_) => None,
            None => course.keyed.clone(),
        });
        let Some(keyed) = keyed else { return write(f) };
        let mut beaten = false;
        let written = write(&mut |tx| {
            beaten = keyed.note(tx)?.is_some();
            if beaten {
                return Err(StoreError::Abandoned);
            }
            f(tx)?;
            sweep(tx, keyed.at)?;
            keyed.put(tx, None)
        });
        COURSE.with_borrow_mut(|course| match written {
            Ok(()) => course.noted = Some(Arc::clone(&self.below)),
            Err(_) => course.beaten |= beaten,
        });
        written
    }
}

#[cfg(test)]
mod tests;
