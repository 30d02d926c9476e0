//! A rarely used part of a stored policy: it is deserialised on first use.

use std::fmt;
use std::sync::OnceLock;

use serde::de::{DeserializeOwned, Error, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value, or its serialised bytes.
#[derive(Debug, Clone)]
pub struct Deferred<T> {
    value: OnceLock<Option<T>>,
    /// Empty where the value did not come from bytes.
    bytes: Vec<u8>,
}

impl<T: Default> Default for Deferred<T> {
    fn default() -> Self {
        T::default().into()
    }
}

impl<T> From<T> for Deferred<T> {
    fn from(value: T) -> Self {
        Self { value: OnceLock::from(Some(value)), bytes: Vec::new() }
    }
}

impl<T: DeserializeOwned> Deferred<T> {
    /// The value; `None` only for bytes that this version did not write.
    pub fn get(&self) -> Option<&T> {
        self.value.get_or_init(|| postcard::from_bytes(&self.bytes).ok()).as_ref()
    }
}

impl<T: Serialize + DeserializeOwned> Serialize for Deferred<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.get().ok_or_else(|| S::Error::custom("it cannot be read"))?;
        serializer.serialize_bytes(&postcard::to_stdvec(value).map_err(S::Error::custom)?)
    }
}

impl<'de, T> Deserialize<'de> for Deferred<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = deserializer.deserialize_byte_buf(Bytes)?;
        Ok(Self { value: OnceLock::new(), bytes })
    }
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::Deferred;

    #[test]
    fn what_is_stored_comes_back_when_it_is_asked_for() {
        let stored = postcard::to_stdvec(&Deferred::from(vec!["a".to_owned()])).unwrap();
        let read: Deferred<Vec<String>> = postcard::from_bytes(&stored).unwrap();
        assert!(read.value.get().is_none(), "nobody has asked yet");
        assert_eq!(read.get().unwrap(), &["a"]);
        assert_eq!(postcard::to_stdvec(&read).unwrap(), stored);
        let damaged: Deferred<Vec<String>> = postcard::from_bytes(&[1, 9]).unwrap();
        assert!(damaged.get().is_none());
        assert!(postcard::to_stdvec(&damaged).is_err());
    }
}
