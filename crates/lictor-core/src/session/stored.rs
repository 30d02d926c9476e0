//! A session's state as bytes. Every hook reads and writes all of it.

use serde_json::Value as Json;

use super::SessionState;

/// The format version: the first byte.
const FORM: u8 = 1;
/// How the state of 0.1.0 begins, which was JSON.
const JSON: u8 = b'{';
/// A larger state is padded to a multiple of [`STEP`], so that a store can overwrite the previous value in place.
const SMALL: usize = 960;
const STEP: usize = 512;

/// Most states have fewer bytes.
const USUAL: usize = 2_048;

/// An output buffer. Postcard's own appends every byte separately.
struct Bytes(Vec<u8>);

impl postcard::ser_flavors::Flavor for Bytes {
    type Output = Vec<u8>;

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

/// Bytes that are not a stored session state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the state of a session")]
pub struct NotAState;

impl SessionState {
    /// The state as bytes.
    ///
    /// # Errors
    /// Never for a state that was built from events.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NotAState> {
        let mut bytes = Vec::with_capacity(USUAL);
        bytes.push(FORM);
        let mut bytes =
            postcard::serialize_with_flavor(self, Bytes(bytes)).map_err(|_: postcard::Error| NotAState)?;
        if bytes.len() > SMALL {
            bytes.resize(bytes.len().next_multiple_of(STEP), 0);
        }
        Ok(bytes)
    }

    /// Parses a stored state. A session of 0.1.0 starts empty.
    ///
    /// # Errors
    /// When the bytes are not a state.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NotAState> {
        match bytes.split_first() {
            Some((&FORM, state)) => postcard::from_bytes(state).map_err(|_| NotAState),
            Some((&JSON, _)) => Ok(Self::default()),
            _ => Err(NotAState),
        }
    }

    /// The state as JSON for programs; empty fields are left out.
    #[must_use]
    pub fn shown(&self) -> Json {
        let mut shown = serde_json::to_value(self).unwrap_or_default();
        let Some(fields) = shown.as_object_mut() else { return shown };
        let nothing = [
            ("past", self.past.is_empty()),
            ("feedback", self.feedback.is_empty()),
            ("completion", self.completion.is_empty()),
            ("peak_risk", self.peak_risk.is_none()),
        ];
        fields.retain(|name, value| !is_empty(value) && !nothing.contains(&(name, true)));
        for part in fields.values_mut() {
            match part {
                Json::Object(part) => part.retain(|_, value| !is_empty(value)),
                Json::Array(items) => {
                    let items = items.iter_mut().filter_map(Json::as_object_mut);
                    items.for_each(|item| item.retain(|_, value| !is_empty(value)));
                }
                _ => {}
            }
        }
        // Not every language can represent 64-bit integers.
        if let Some(Json::Array(closed)) = fields.get_mut("closed") {
            for id in closed {
                *id = id.as_u64().map_or_else(|| id.take(), |id| format!("{id:016x}").into());
            }
        }
        shown
    }
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Serialises rarely used values, which are also part of records, as JSON inside the binary format: they omit
/// fields, which the binary format cannot express.
pub(crate) mod as_json {
    use serde::de::DeserializeOwned;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return value.serialize(serializer);
        }
        serializer.serialize_str(&serde_json::to_string(value).map_err(ser::Error::custom)?)
    }

    pub(crate) fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        if deserializer.is_human_readable() {
            return T::deserialize(deserializer);
        }
        serde_json::from_str(<&str>::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
