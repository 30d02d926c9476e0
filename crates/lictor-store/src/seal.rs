//! Seals: MACs that bind records and their entries to a key.
//!
//! Every record of a sealed store has a MAC over its hash and over its *effects*: which entries its transaction
//! changed, each as an opaque name and a short tag of its new value. The effects of all records determine which
//! entries must exist, so an entry that was changed, removed, added or restored to an older value is detected.
//! Each entry also has its own MAC, which is checked on every read.

use std::collections::BTreeMap;

use lictor_core::Digest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{KeyId, RecordKey, Space};

/// The MAC of one entry, cut to 16 bytes.
pub(crate) type EntrySeal = [u8; 16];
/// An entry's id, which only a holder of the key can compute.
type EntryId = [u8; 8];
/// A prefix of an entry's MAC; zero when the entry was removed.
type Tag = [u8; 8];

const REMOVED: Tag = [0; 8];

/// The seal of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    key: KeyId,
    mac: Digest,
    effects: Vec<u8>,
}

impl Seal {
    pub(crate) fn new(key: &RecordKey, hash: &Digest, effects: &Effects) -> Self {
        let effects = effects.to_bytes();
        Self { key: key.id(), mac: mac_of(key, hash, &effects), effects }
    }

    /// The key it was made with.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Whether it was made with this key for the record with this hash.
    #[must_use]
    pub fn fits(&self, key: &RecordKey, hash: &Digest) -> bool {
        self.key == key.id() && self.mac == mac_of(key, hash, &self.effects)
    }

    /// Which entries the record's transaction changed. `None` when the bytes have an unknown format.
    pub(crate) fn effects(&self) -> Option<Effects> {
        Effects::from_bytes(&self.effects)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        [&self.key.0, self.mac.as_bytes().as_slice(), &self.effects].concat()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (key, rest) = bytes.split_first_chunk::<4>()?;
        let (mac, effects) = rest.split_first_chunk::<32>()?;
        Some(Self { key: KeyId(*key), mac: Digest::from_bytes(*mac), effects: effects.to_vec() })
    }
}

fn mac_of(key: &RecordKey, hash: &Digest, effects: &[u8]) -> Digest {
    key.tag([b"lictor.seal.2".as_slice(), hash.as_bytes(), effects])
}

impl Serialize for Seal {
    /// As lower-case hexadecimal digits.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text: String = self.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Seal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (pairs, odd) = text.as_bytes().as_chunks::<2>();
        let bytes: Option<Vec<u8>> =
            pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
        bytes
            .filter(|_| odd.is_empty())
            .and_then(|bytes| Self::from_bytes(&bytes))
            .ok_or_else(|| serde::de::Error::custom("a seal is at least 72 hexadecimal digits"))
    }
}

/// Which entries changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// The list is complete: entries that are not listed do not exist.
    whole: bool,
    changes: BTreeMap<EntryId, Tag>,
}

impl Effects {
    /// Every entry there is, to be named one by one.
    pub(crate) fn whole() -> Self {
        Self { whole: true, changes: BTreeMap::new() }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Marks the list as complete.
    pub(crate) fn made_whole(mut self) -> Self {
        self.whole = true;
        self.changes.retain(|_, tag| *tag != REMOVED);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.whole && self.changes.is_empty()
    }

    pub(crate) fn put(&mut self, key: &RecordKey, space: Space, name: &[u8], seal: &EntrySeal) {
        self.changes.insert(entry_id(key, space, name), tag(seal));
    }

    pub(crate) fn delete(&mut self, key: &RecordKey, space: Space, name: &[u8]) {
        self.changes.insert(entry_id(key, space, name), REMOVED);
    }

    /// These effects and, after them, those.
    pub(crate) fn then(&mut self, later: Self) {
        if later.whole {
            *self = later;
        } else {
            self.changes.extend(later.changes);
        }
        if self.whole {
            self.changes.retain(|_, tag| *tag != REMOVED);
        }
    }

    /// Removes the entry and returns whether it matches these effects.
    pub(crate) fn take(&mut self, key: &RecordKey, space: Space, name: &[u8], value: &[u8]) -> bool {
        let expected = self.changes.remove(&entry_id(key, space, name));
        expected == Some(tag(&entry_seal(key, space, name, value)))
    }

    /// How many entries must still be there.
    pub(crate) fn left(&self) -> usize {
        self.changes.values().filter(|tag| **tag != REMOVED).count()
    }

    fn to_bytes(&self) -> Vec<u8> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut bytes = vec![u8::from(self.whole)];
        for (id, tag) in &self.changes {
            bytes.extend_from_slice(id);
            bytes.extend_from_slice(tag);
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let Some((whole, rest)) = bytes.split_first() else { return Some(Self::default()) };
        let (items, odd) = rest.as_chunks::<16>();
        if *whole > 1 || !odd.is_empty() {
            return None;
        }
        let change = |item: &[u8; 16]| {
            let (id, tag) = item.split_first_chunk::<8>()?;
            Some((*id, tag.try_into().ok()?))
        };
        Some(Self { whole: *whole == 1, changes: items.iter().map(change).collect::<Option<_>>()? })
    }
}

pub(crate) fn entry_seal(key: &RecordKey, space: Space, name: &[u8], value: &[u8]) -> EntrySeal {
    let full = key.tag([b"lictor.entry.2".as_slice(), space.name().as_bytes(), name, value]);
    full.as_bytes().first_chunk().copied().unwrap_or_default()
}

fn entry_id(key: &RecordKey, space: Space, name: &[u8]) -> EntryId {
    let full = key.tag([b"lictor.entry-id.2".as_slice(), space.name().as_bytes(), name]);
    full.as_bytes().first_chunk().copied().unwrap_or_default()
}

fn tag(seal: &EntrySeal) -> Tag {
    seal.first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
