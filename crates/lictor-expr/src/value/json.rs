//! JSON as values, by reference.

use serde_json::Value as Json;

use super::{Object, Sequence, Value};
use crate::eval::Env;

impl<'a> From<&'a Json> for Value<'a> {
    /// Numbers without fraction or exponent that fit into an int are ints, the rest are doubles.
    fn from(json: &'a Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(value) => Self::Int(value),
                None => Self::Double(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Self::text(text),
            Json::Array(items) => Self::sequence(items),
            Json::Object(fields) => Self::object(fields),
        }
    }
}

/// Anything that can be looked at as a value is a list when there are many of it.
impl<T> Sequence for Vec<T>
where
    for<'a> &'a T: Into<Value<'a>>,
{
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, index: usize) -> Option<Value<'_>> {
        self.as_slice().get(index).map(Into::into)
    }
}

impl Object for serde_json::Map<String, Json> {
    fn get(&self, field: &str) -> Option<Value<'_>> {
        self.get(field).map(Value::from)
    }

    fn fields(&self) -> Vec<&str> {
        self.keys().map(String::as_str).collect()
    }
}

/// Each field is a root. There is no history.
impl Env for serde_json::Map<String, Json> {
    fn root(&self, name: &str) -> Option<Value<'_>> {
        self.get(name).map(Value::from)
    }
}
