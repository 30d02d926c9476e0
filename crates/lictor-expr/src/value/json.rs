//! JSON as values, by reference.

use serde_json::Value as Json;

use super::{Object, Sequence, Value, found_text};
use crate::eval::Env;

impl<'a> From<&'a Json> for Value<'a> {
    /// Numbers without fraction or exponent that fit into an int are ints, the rest are doubles.
    #[inline]
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

/// A vector of anything that converts to a value is a list.
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

    fn find_text(&self, text: &str) -> (usize, bool) {
        found_text(self.iter().map(Into::into), text)
    }
}

/// Up to this many fields, a linear scan is faster than an ordered lookup: most names already differ in length.
const FEW: usize = 11;

fn field<'a>(fields: &'a serde_json::Map<String, Json>, name: &str) -> Option<Value<'a>> {
    let found = if fields.len() <= FEW {
        fields.iter().find_map(|(field, value)| (field == name).then_some(value))
    } else {
        fields.get(name)
    };
    found.map(Value::from)
}

impl Object for serde_json::Map<String, Json> {
    fn get(&self, name: &str) -> Option<Value<'_>> {
        field(self, name)
    }

    fn fields(&self) -> Vec<&str> {
        self.keys().map(String::as_str).collect()
    }
}

/// Each field is a root. There is no history.
impl Env for serde_json::Map<String, Json> {
    fn root(&self, name: &str) -> Option<Value<'_>> {
        field(self, name)
    }
}
