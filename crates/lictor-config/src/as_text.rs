//! Stores the author's own values as JSON text, because the format of a stored policy is not self-describing.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Error, Visitor};
use serde::ser::Error as _;
use serde::{Deserializer, Serialize, Serializer};

pub(crate) fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::to_string(value).map_err(S::Error::custom)?.serialize(serializer)
}

pub(crate) fn deserialize<'de, T: DeserializeOwned + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_str(Text(PhantomData))
}

struct Text<T>(PhantomData<T>);

impl<T: DeserializeOwned + Default> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON text")
    }

    /// Most policies leave this empty, and an empty object is the default.
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        if text == "{}" { Ok(T::default()) } else { serde_json::from_str(text).map_err(E::custom) }
    }
}
