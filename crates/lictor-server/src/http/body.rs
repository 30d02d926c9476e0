//! Request bodies: strict parsing with readable errors.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Map, Value};

/// The object in a body; one without fields when there is no body. A key that stands twice is refused: readers do not
/// agree on which one counts.
pub(super) fn parse(body: &[u8]) -> Result<Value, String> {
    let body = if body.is_empty() {
        Value::Object(Map::new())
    } else {
        lictor_core::strict::from_slice(body).map_err(|error| format!("the body is not JSON: {error}"))?
    };
    match not_an_object(&body) {
        Some(why) => Err(why),
        None => Ok(body),
    }
}

/// The body in the form that an endpoint takes, or what is wrong with it and where.
pub(super) fn read<T: DeserializeOwned>(body: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(Fields(body)).map_err(|error| {
        let (at, why) = (error.path().to_string(), plain(&error.inner().to_string()));
        match at.as_str() {
            "." => format!("the body does not fit: {why}"),
            at => format!("the body does not fit: `{at}`: {why}"),
        }
    })
}

/// The error for a body that is not an object.
fn not_an_object(body: &Value) -> Option<String> {
    let is = match body {
        Value::Object(_) => return None,
        Value::Array(_) => "a list",
        Value::String(_) => "a string",
        Value::Number(_) => "a number",
        Value::Bool(_) => "a boolean",
        Value::Null => "null",
    };
    Some(format!("the body must be a JSON object, and this is {is}"))
}

/// Replaces Rust type names by JSON terms: clients do not know the Rust types.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        if !plain.is_empty() {
            plain.push(' ');
        }
        match (word, words.peek()) {
            ("struct" | "enum", Some(_)) => {
                plain.push_str(if word == "struct" { "an object" } else { "one of the known words" });
                // The name of the form.
                words.next();
            }
            ("map" | "map,", _) => plain.push_str(&word.replace("map", "an object")),
            ("sequence" | "sequence,", _) => plain.push_str(&word.replace("sequence", "list")),
            _ => plain.push_str(word),
        }
    }
    plain.replace("a an object", "an object").replace("unit variant", "word")
}

/// A value in which structs must be objects. Derived deserialisers also accept lists by position, which the API
/// does not document.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a Value);

impl<'de> IntoDeserializer<'de, Error> for Fields<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Fields<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => visitor.visit_seq(SeqDeserializer::new(items.iter().map(Fields))),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| (name.as_str(), Fields(value)));
                visitor.visit_map(MapDeserializer::new(fields))
            }
            value => value.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(_) => Err(Error::custom("invalid type: list, expected an object")),
            _ => self.deserialize_any(visitor),
        }
    }

    /// Null is no map: the form of one would take it for an empty map.
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(_) => self.deserialize_any(visitor),
            value => value.deserialize_map(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests;
