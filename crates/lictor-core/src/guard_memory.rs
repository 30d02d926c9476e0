//! Values that guards store in a session.
//!
//! State inside a guard is lost with the process and shared between sessions. A value that a guard passes to
//! [`Context::remember`](crate::Context::remember) or, after the action, to [`GuardMemory`] is recorded with the
//! session and available in every process that judges it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// How many values all guards of a session keep together. Further values are refused.
pub const VALUES_KEPT: usize = 256;
/// How many bytes one value may have as JSON.
pub const VALUE_BYTES: usize = 4_096;

/// One value that a guard remembers, or forgets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The guard.
    pub guard: String,
    /// Its own name for the value.
    pub key: String,
    /// The value; `None` forgets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
}

impl Note {
    /// Whether a session can keep it.
    #[must_use]
    pub fn fits(&self) -> bool {
        let value = self.value.as_ref().map_or(0, |value| value.to_string().len());
        self.key.len() <= VALUE_BYTES && value <= VALUE_BYTES
    }
}

/// The values of all guards of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Memory {
    by_guard: BTreeMap<String, BTreeMap<String, Json>>,
}

impl Memory {
    /// Whether nothing is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_guard.is_empty()
    }

    /// A value of a guard.
    #[must_use]
    pub fn get(&self, guard: &str, key: &str) -> Option<&Json> {
        self.by_guard.get(guard)?.get(key)
    }

    /// Everything that one guard remembers, by key.
    pub fn of(&self, guard: &str) -> impl Iterator<Item = (&str, &Json)> {
        let values = self.by_guard.get(guard).into_iter().flatten();
        values.map(|(key, value)| (key.as_str(), value))
    }

    /// Whether there is room for one more value.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.by_guard.values().map(BTreeMap::len).sum::<usize>() < VALUES_KEPT
    }

    pub(crate) fn keep(&mut self, notes: &[Note]) {
        for note in notes.iter().filter(|note| note.fits()) {
            let Note { guard, key, value } = note;
            match value {
                Some(value) if self.has_room() || self.get(guard, key).is_some() => {
                    self.by_guard.entry(guard.clone()).or_default().insert(key.clone(), value.clone());
                }
                Some(_) => {}
                None => {
                    if let Some(values) = self.by_guard.get_mut(guard) {
                        values.remove(key);
                        if values.is_empty() {
                            self.by_guard.remove(guard);
                        }
                    }
                }
            }
        }
    }
}

/// The stored values of one guard, while it handles the outcome of an action. Read lazily.
pub struct GuardMemory<'a> {
    guard: &'a str,
    kept: &'a dyn Fn(&str, &str) -> Option<Json>,
    notes: Vec<Note>,
}

impl<'a> GuardMemory<'a> {
    /// The memory of a guard; `kept` reads the session's value for a guard and a key.
    #[must_use]
    pub fn new(guard: &'a str, kept: &'a dyn Fn(&str, &str) -> Option<Json>) -> Self {
        Self { guard, kept, notes: Vec::new() }
    }

    /// The value under this key.
    #[must_use]
    pub fn recall(&self, key: &str) -> Option<Json> {
        match self.notes.iter().rev().find(|note| note.key == key) {
            Some(note) => note.value.clone(),
            None => (self.kept)(self.guard, key),
        }
    }

    /// The values before this call, for a caller that reads while it writes.
    pub fn before(&self) -> impl Fn(&str) -> Option<Json> + use<'a> {
        let (guard, kept) = (self.guard, self.kept);
        move |key| kept(guard, key)
    }

    /// Stores a value for the rest of the session. False when it is too large.
    pub fn remember(&mut self, key: &str, value: impl Into<Json>) -> bool {
        let note = Note { guard: self.guard.to_owned(), key: key.to_owned(), value: Some(value.into()) };
        let fits = note.fits();
        if fits {
            self.notes.push(note);
        }
        fits
    }

    /// Forgets a value.
    pub fn forget(&mut self, key: &str) {
        self.notes.push(Note { guard: self.guard.to_owned(), key: key.to_owned(), value: None });
    }

    /// The values to record.
    #[must_use]
    pub fn into_notes(self) -> Vec<Note> {
        self.notes
    }
}

#[cfg(test)]
mod tests;
