//! Keeping secrets out of what is written down. Decisions are made on the real text; logs and traces get this one.

mod secrets;

pub use secrets::Secrets;

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

/// Takes what must not be written down out of a text.
pub trait Redact: Send + Sync {
    /// The text without it; borrowed when there was nothing to take out.
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str>;
}

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";

/// The same value with every text in it redacted; `None` when there was nothing to take out. What does not come back
/// from its own JSON is not written down at all: that is an error.
///
/// # Errors
/// When the value has no JSON form that can be read back.
pub fn value<T>(value: &T, redactor: &dyn Redact) -> serde_json::Result<Option<T>>
where
    T: Serialize + DeserializeOwned,
{
    let text = serde_json::to_string(value)?;
    if matches!(redactor.redact(&text), Cow::Borrowed(_)) {
        return Ok(None);
    }
    let mut tree = serde_json::to_value(value)?;
    json(&mut tree, redactor);
    serde_json::from_value(tree).map(Some)
}

/// Redacts every text in a JSON value, keys included: whoever can choose a key could hide something in it.
pub fn json(value: &mut Json, redactor: &dyn Redact) {
    match value {
        Json::String(text) => {
            if let Cow::Owned(clean) = redactor.redact(text) {
                *text = clean;
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| json(item, redactor)),
        Json::Object(map) => {
            let secret: Vec<String> =
                map.keys().filter(|key| matches!(redactor.redact(key), Cow::Owned(_))).cloned().collect();
            for key in secret {
                if let Some(item) = map.remove(&key) {
                    map.insert(redactor.redact(&key).into_owned(), item);
                }
            }
            map.values_mut().for_each(|item| json(item, redactor));
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

#[cfg(test)]
mod tests;
