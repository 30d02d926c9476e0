//! Parses an agent's input: any bytes in, fields or an error out.

use serde_json::{Map, Value};

/// More bytes than this are not read. Events carry whole files, so the limit is generous.
pub const MAX_INPUT: usize = 16 * 1024 * 1024;

/// Why an event cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Longer than [`MAX_INPUT`].
    #[error("the event is longer than {} MiB", MAX_INPUT / 1024 / 1024)]
    TooLong,
    /// No bytes, or only white space.
    #[error("the event is empty")]
    Empty,
    /// Not one JSON object; repeated keys and deep nesting count.
    #[error("the event is not one JSON object: {0}")]
    NotAnObject(String),
    /// A field that is needed is not there.
    #[error("the event has no `{0}`")]
    Missing(&'static str),
    /// A field has a type that was not expected.
    #[error("`{0}` of the event is not {1}")]
    WrongType(&'static str, &'static str),
    /// The same value occurs under two names.
    #[error("the event says both `{0}` and `{1}`")]
    Twice(&'static str, &'static str),
    /// A number that others are read as, too: a yes for one of them would count for all.
    #[error("a number in the tool's input is too large to be told from others; pass it as text")]
    Inexact,
    /// The session id is longer than ids are.
    #[error("the session id of the event is too long")]
    LongSessionId,
    /// The event was sent to the hook of another event.
    #[error("the event calls itself `{0}` but came to the hook for `{1}`")]
    Mismatch(String, String),
    /// The event is not in the agent's contract.
    #[error("the event `{0}` is not known")]
    UnknownEvent(String),
}

/// The fields of a JSON object, read leniently about what is there and strictly about its type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Fields(pub(crate) Map<String, Value>);

impl Fields {
    /// One JSON object and nothing else.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        if bytes.len() > MAX_INPUT {
            return Err(Unreadable::TooLong);
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(Unreadable::Empty);
        }
        let value = lictor_core::strict::from_slice(bytes);
        match value.map_err(|error| Unreadable::NotAnObject(error.to_string()))? {
            Value::Object(map) => Ok(Self(map)),
            _ => Err(Unreadable::NotAnObject("it is another kind of value".to_owned())),
        }
    }

    /// The one of these fields that is there. `null` counts as not there.
    pub(crate) fn get(&self, names: &[&'static str]) -> Result<Option<(&'static str, &Value)>, Unreadable> {
        let mut found = None;
        for name in names {
            match (self.0.get(*name), found) {
                (None | Some(Value::Null), _) => {}
                (Some(value), None) => found = Some((*name, value)),
                (Some(value), Some((_, other))) if value == other => {}
                (Some(_), Some((other, _))) => return Err(Unreadable::Twice(other, name)),
            }
        }
        Ok(found)
    }

    /// Text under one of these names.
    pub(crate) fn text(&self, names: &[&'static str]) -> Result<Option<&str>, Unreadable> {
        match self.get(names)? {
            None => Ok(None),
            Some((_, Value::String(text))) => Ok(Some(text)),
            Some((name, _)) => Err(Unreadable::WrongType(name, "text")),
        }
    }

    /// Text that has to be there.
    pub(crate) fn need_text(&self, names: &[&'static str]) -> Result<&str, Unreadable> {
        self.text(names)?.ok_or_else(|| missing(names))
    }

    /// Yes or no under one of these names.
    pub(crate) fn flag(&self, names: &[&'static str]) -> Result<Option<bool>, Unreadable> {
        match self.get(names)? {
            None => Ok(None),
            Some((_, Value::Bool(flag))) => Ok(Some(*flag)),
            Some((name, _)) => Err(Unreadable::WrongType(name, "true or false")),
        }
    }

    /// An object under one of these names.
    pub(crate) fn object(&self, names: &[&'static str]) -> Result<Option<Self>, Unreadable> {
        match self.get(names)? {
            None => Ok(None),
            Some((_, Value::Object(map))) => Ok(Some(Self(map.clone()))),
            Some((name, _)) => Err(Unreadable::WrongType(name, "an object")),
        }
    }

    /// An object under one of these names, or JSON text of one.
    pub(crate) fn object_or_json(&self, names: &[&'static str]) -> Result<Option<Self>, Unreadable> {
        match self.get(names)? {
            Some((_, Value::String(text))) => Self::read(text.as_bytes()).map(Some),
            _ => self.object(names),
        }
    }

    /// A list of texts under one of these names.
    pub(crate) fn texts(&self, names: &[&'static str]) -> Result<Option<Vec<String>>, Unreadable> {
        let Some((name, value)) = self.get(names)? else { return Ok(None) };
        let wrong = || Unreadable::WrongType(name, "a list of texts");
        let items = value.as_array().ok_or_else(wrong)?;
        items
            .iter()
            .map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// Whether every number in here is the only one that is read so.
    pub(crate) fn is_exact(&self) -> bool {
        self.0.values().all(lictor_core::strict::is_exact)
    }

    /// Moves a value from an agent's own field name to the common one.
    pub(crate) fn rename(&mut self, own: &str, common: &str) {
        if let Some(value) = self.0.remove(own) {
            self.0.insert(common.to_owned(), value);
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }
}

/// The error for a field that is not there; the first name is the one that agents use.
pub(crate) fn missing(names: &[&'static str]) -> Unreadable {
    Unreadable::Missing(names.first().copied().unwrap_or("field"))
}
