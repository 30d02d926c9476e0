//! JSON that keeps its order, for settings that people read.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Json {
    Object(Vec<(String, Json)>),
    Array(Vec<Json>),
    Scalar(Value),
}

impl Json {
    pub(crate) fn object<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Scalar(Value::String(text.into()))
    }

    pub(crate) fn number(number: u32) -> Self {
        Self::Scalar(number.into())
    }

    /// The same with one more member at the end, if it is an object.
    pub(crate) fn with(mut self, key: &str, value: Self) -> Self {
        if let Self::Object(members) = &mut self {
            members.push((key.to_owned(), value));
        }
        self
    }

    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Object(members) => {
                Value::Object(members.iter().map(|(key, value)| (key.clone(), value.value())).collect())
            }
            Self::Array(items) => Value::Array(items.iter().map(Self::value).collect()),
            Self::Scalar(value) => value.clone(),
        }
    }

    /// On one line.
    pub(crate) fn line(&self) -> String {
        let list = |items: Vec<String>| items.join(", ");
        match self {
            Self::Object(members) => {
                let members = members
                    .iter()
                    .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), value.line()));
                format!("{{{}}}", list(members.collect()))
            }
            Self::Array(items) => format!("[{}]", list(items.iter().map(Self::line).collect())),
            Self::Scalar(value) => value.to_string(),
        }
    }

    /// On several lines; the first one is not indented.
    pub(crate) fn lines(&self, unit: &str, indent: &str, newline: &str) -> String {
        let inner = format!("{indent}{unit}");
        let wrap = |open: char, items: Vec<String>, close: char| {
            let items = items.join(&format!(",{newline}{inner}"));
            format!("{open}{newline}{inner}{items}{newline}{indent}{close}")
        };
        match self {
            Self::Object(members) if !members.is_empty() => {
                let member = |(key, value): &(String, Self)| {
                    format!("{}: {}", Value::from(key.as_str()), value.lines(unit, &inner, newline))
                };
                wrap('{', members.iter().map(member).collect(), '}')
            }
            Self::Array(items) if !items.is_empty() => {
                wrap('[', items.iter().map(|item| item.lines(unit, &inner, newline)).collect(), ']')
            }
            other => other.line(),
        }
    }
}
