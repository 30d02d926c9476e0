//! One JSON-RPC message, read strictly.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value, json};

/// The longest line that is read.
pub(crate) const MAX_LINE: usize = 16 * 1024 * 1024;

/// Keys of the envelope and of parameters that decide what a message is. Lenient servers accept them in other case.
const CANONICAL: [&str; 14] = [
    "jsonrpc",
    "id",
    "method",
    "params",
    "result",
    "error",
    "name",
    "arguments",
    "uri",
    "_meta",
    "cursor",
    "ref",
    "argument",
    "requestState",
];

/// A message that client, policy and server read in the same way.
#[derive(Debug, Clone, PartialEq)]
pub struct Message(pub(crate) Map<String, Value>);

/// Why a line is not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Not JSON, a key twice, or nested too deeply.
    #[error("the message is not strict JSON: {0}")]
    Json(String),
    /// Not an object. Batches are no longer part of the protocol.
    #[error("the message is not a JSON object")]
    NotAnObject,
    /// A key that some servers take for another one.
    #[error("the key `{0}` is another spelling of `{1}`")]
    Spelling(String, &'static str),
    /// Longer than anything that is judged.
    #[error("the message is longer than {MAX_LINE} bytes")]
    TooLong,
}

impl Message {
    /// Reads one line.
    ///
    /// # Errors
    /// When it could be read in more than one way, or is not a message.
    pub fn parse(line: &[u8]) -> Result<Self, Malformed> {
        if line.len() > MAX_LINE {
            return Err(Malformed::TooLong);
        }
        let strict: Strict =
            serde_json::from_slice(line).map_err(|error| Malformed::Json(error.to_string()))?;
        let Value::Object(fields) = strict.0 else { return Err(Malformed::NotAnObject) };
        check_spelling(&fields)?;
        if let Some(Value::Object(params)) = fields.get("params") {
            check_spelling(params)?;
        }
        Ok(Self(fields))
    }

    /// The method, for a request or a notification.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        self.0.get("method").and_then(Value::as_str)
    }

    /// The id, for a request or a response.
    #[must_use]
    pub fn id(&self) -> Option<&Value> {
        self.0.get("id").filter(|id| !id.is_null())
    }

    /// A parameter.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&Value> {
        self.0.get("params").and_then(|params| params.get(name))
    }

    /// The line that is sent on: what was judged, written anew.
    #[must_use]
    pub fn to_line(&self) -> String {
        let mut line = Value::Object(self.0.clone()).to_string();
        line.push('\n');
        line
    }

    pub(crate) fn result(id: &Value, result: Value) -> Self {
        Self(object(json!({"jsonrpc": "2.0", "id": id, "result": result})))
    }

    pub(crate) fn error(id: &Value, code: i64, message: &str) -> Self {
        Self(object(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})))
    }

    pub(crate) fn request(id: &str, method: &str, params: Value) -> Self {
        Self(object(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})))
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn check_spelling(fields: &Map<String, Value>) -> Result<(), Malformed> {
    for key in fields.keys() {
        let meant = CANONICAL.iter().find(|known| known.eq_ignore_ascii_case(key));
        if let Some(known) = meant.filter(|known| **known != key.as_str()) {
            return Err(Malformed::Spelling(key.clone(), known));
        }
    }
    Ok(())
}

/// JSON in which no key stands twice. Nesting is bounded by the parser.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some((key, Strict(value))) = entries.next_entry::<String, Strict>()? {
            if fields.insert(key.clone(), value).is_some() {
                return Err(de::Error::custom(format!("the key `{key}` stands twice")));
            }
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests;
