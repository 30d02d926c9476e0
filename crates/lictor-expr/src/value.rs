//! Values: borrowed from the environment where possible.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::syntax::quoted;

mod json;

/// A value, borrowed from the environment or the program unless it was computed. Cheap to clone.
#[derive(Clone)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An int.
    Int(i64),
    /// A double.
    Double(f64),
    /// Text.
    Text(Text<'a>),
    /// A list.
    List(List<'a>),
    /// A map or record.
    Map(Map<'a>),
}

/// Text, borrowed or computed.
#[derive(Clone)]
pub enum Text<'a> {
    /// Text of the environment or the program.
    Borrowed(&'a str),
    /// Text that was computed.
    Shared(Arc<str>),
}

/// A list, borrowed or computed.
#[derive(Clone)]
pub enum List<'a> {
    /// A list of the environment.
    Borrowed(&'a dyn Sequence),
    /// A list that was computed.
    Shared(Arc<[Value<'a>]>),
}

/// A map, borrowed or computed.
#[derive(Clone)]
pub enum Map<'a> {
    /// A map or record of the environment.
    Borrowed(&'a dyn Object),
    /// A map that was computed.
    Shared(Arc<BTreeMap<Text<'a>, Value<'a>>>),
}

/// A list that the environment holds in its own form.
pub trait Sequence {
    /// The number of elements.
    fn len(&self) -> usize;

    /// The element at an index; `None` when out of range.
    fn get(&self, index: usize) -> Option<Value<'_>>;

    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Searches the leading text elements for a text. Returns how many were compared, and whether the last of
    /// them is equal. Types with direct access to their elements should override this for speed.
    fn find_text(&self, text: &str) -> (usize, bool) {
        found_text((0..self.len()).map_while(|index| self.get(index)), text)
    }
}

/// How many leading texts were compared, and whether the last of them is equal.
#[inline]
pub(crate) fn found_text<'a>(items: impl Iterator<Item = Value<'a>>, text: &str) -> (usize, bool) {
    let mut looked = 0;
    for item in items {
        let Value::Text(item) = &item else { break };
        looked += 1;
        if item.as_str() == text {
            return (looked, true);
        }
    }
    (looked, false)
}

/// A map or record that the environment holds in its own form.
pub trait Object {
    /// The value of a field; none when it is absent.
    fn get(&self, field: &str) -> Option<Value<'_>>;

    /// The names of the existing fields. [`Object::get`] returns a value for each.
    fn fields(&self) -> Vec<&str>;
}

/// The kind of a value, as users see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `null`.
    Null,
    /// A bool.
    Bool,
    /// An int.
    Int,
    /// A double.
    Double,
    /// Text.
    String,
    /// A list.
    List,
    /// A map or record.
    Map,
}

impl ValueKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Double => "double",
            Self::String => "string",
            Self::List => "list",
            Self::Map => "map",
        }
    }

    pub(crate) fn article(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a bool",
            Self::Int => "an int",
            Self::Double => "a double",
            Self::String => "a string",
            Self::List => "a list",
            Self::Map => "a map",
        }
    }
}

impl<'a> Value<'a> {
    /// Borrowed text.
    #[must_use]
    pub fn text(text: &'a str) -> Self {
        Self::Text(Text::Borrowed(text))
    }

    /// A list of the environment.
    #[must_use]
    pub fn sequence(sequence: &'a dyn Sequence) -> Self {
        Self::List(List::Borrowed(sequence))
    }

    /// A map or record of the environment.
    #[must_use]
    pub fn object(object: &'a dyn Object) -> Self {
        Self::Map(Map::Borrowed(object))
    }

    /// The kind of the value.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Null => ValueKind::Null,
            Self::Bool(_) => ValueKind::Bool,
            Self::Int(_) => ValueKind::Int,
            Self::Double(_) => ValueKind::Double,
            Self::Text(_) => ValueKind::String,
            Self::List(_) => ValueKind::List,
            Self::Map(_) => ValueKind::Map,
        }
    }
}

impl Text<'_> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Shared(text) => text,
        }
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text<'_> {}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl core::borrow::Borrow<str> for Text<'_> {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl<'a> List<'a> {
    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Borrowed(list) => list.len(),
            Self::Shared(list) => list.len(),
        }
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at an index.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            Self::Borrowed(list) => list.get(index),
            Self::Shared(list) => list.get(index).cloned(),
        }
    }

    /// As [`Sequence::find_text`].
    pub(crate) fn find_text(&self, text: &str) -> (usize, bool) {
        match self {
            Self::Borrowed(list) => list.find_text(text),
            Self::Shared(list) => found_text(list.iter().cloned(), text),
        }
    }
}

impl<'a> Map<'a> {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        match self {
            Self::Borrowed(map) => map.get(key),
            Self::Shared(map) => map.get(key).cloned(),
        }
    }

    /// The keys.
    #[must_use]
    pub fn keys(&self) -> Vec<Text<'a>> {
        match self {
            Self::Borrowed(map) => map.fields().into_iter().map(Text::Borrowed).collect(),
            Self::Shared(map) => map.keys().cloned().collect(),
        }
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Self::Double(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Self::text(value)
    }
}

impl<'a> From<&'a &str> for Value<'a> {
    fn from(value: &'a &str) -> Self {
        Self::text(value)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(value: &'a String) -> Self {
        Self::text(value)
    }
}

impl From<String> for Value<'_> {
    fn from(value: String) -> Self {
        Self::Text(Text::Shared(value.into()))
    }
}

impl<'a> FromIterator<Value<'a>> for Value<'a> {
    fn from_iter<I: IntoIterator<Item = Value<'a>>>(items: I) -> Self {
        Self::List(List::Shared(items.into_iter().collect()))
    }
}

/// Elements and nesting that [`fmt::Display`] shows of a value.
const SHOWN: usize = 16;
const SHOWN_DEPTH: usize = 4;

impl Value<'_> {
    fn show(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Double(value) => write!(f, "{value:?}"),
            Self::Text(text) => quoted(f, &shortened(text.as_str())),
            Self::List(_) | Self::Map(_) if depth == 0 => f.write_str("…"),
            Self::List(list) => {
                f.write_str("[")?;
                for index in 0..list.len().min(SHOWN) {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    list.get(index).unwrap_or(Value::Null).show(f, depth - 1)?;
                }
                f.write_str(if list.len() > SHOWN { ", …]" } else { "]" })
            }
            Self::Map(map) => {
                f.write_str("{")?;
                let keys = map.keys();
                for (index, key) in keys.iter().take(SHOWN).enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    quoted(f, &shortened(key.as_str()))?;
                    f.write_str(": ")?;
                    map.get(key.as_str()).unwrap_or(Value::Null).show(f, depth - 1)?;
                }
                f.write_str(if keys.len() > SHOWN { ", …}" } else { "}" })
            }
        }
    }
}

/// For messages: the value as a literal, long parts shortened.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f, SHOWN_DEPTH)
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({self})", self.kind().name())
    }
}

/// Text short enough for a message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
