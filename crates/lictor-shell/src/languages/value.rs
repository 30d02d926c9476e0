//! What is known about an expression's value.

use std::collections::BTreeMap;

use crate::operand::{Arg, Known, Taint};

/// How many alternatives or elements are kept.
pub(super) const KEPT: usize = 256;

/// The longest text that is put together.
const LONGEST: usize = 1 << 20;

/// A value, as far as the text of the program tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// A string or a path.
    Text(Arg),
    /// A list or tuple.
    List(Vec<Value>),
    /// One of these: the variable of a loop over a list.
    Any(Vec<Value>),
    /// Keys with values: keyword options.
    Map(Vec<(String, Value)>),
    /// Something with a name: a module, a function, a class (`shutil.rmtree`).
    Name(String),
    /// Nothing is known, except where it came from.
    Unknown(Taint),
}

impl Value {
    pub(super) fn text(text: impl AsRef<str>) -> Self {
        Self::Text(Arg::literal(text))
    }

    /// A string that was hidden by an encoding.
    pub(super) fn decoded(text: impl AsRef<str>) -> Self {
        Self::Text(Arg { taint: Taint { decoded: true, ..Taint::default() }, ..Arg::literal(text) })
    }

    pub(super) fn unknown() -> Self {
        Self::Unknown(Taint::default())
    }

    /// A string of which only the start is known.
    pub(super) fn starts(prefix: &str, taint: Taint) -> Self {
        if prefix.is_empty() {
            return Self::Unknown(taint);
        }
        Self::Text(Arg {
            value: Known::Partly { prefix: prefix.to_owned(), suffix: String::new() },
            text: prefix.into(),
            glob: false,
            splits: false,
            taint,
            found: None,
        })
    }

    pub(super) fn known(&self) -> Option<&str> {
        match self {
            Self::Text(arg) => arg.known(),
            _ => None,
        }
    }

    /// Whether the value, or each of those that it may be, is a known text.
    pub(super) fn all_known(&self) -> bool {
        match self {
            Self::Any(values) => values.iter().all(Self::all_known),
            value => value.known().is_some(),
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn taint(&self) -> Taint {
        match self {
            Self::Text(arg) => arg.taint,
            Self::List(values) | Self::Any(values) => {
                values.iter().fold(Taint::default(), |taint, value| taint.and(value.taint()))
            }
            Self::Map(pairs) => {
                pairs.iter().fold(Taint::default(), |taint, (_, value)| taint.and(value.taint()))
            }
            // All variables, the secret ones among them.
            Self::Name(name) => {
                Taint { secret: matches!(name.as_str(), "process.env" | "os.environ"), ..Taint::default() }
            }
            Self::Unknown(taint) => *taint,
        }
    }

    /// The words of this value as one operand.
    pub(super) fn args(&self, text: &str) -> Vec<Arg> {
        match self {
            Self::Text(arg) => vec![arg.clone()],
            Self::Any(values) => values.iter().flat_map(|value| value.args(text)).take(KEPT).collect(),
            Self::List(values) => values.iter().flat_map(|value| value.args(text)).take(KEPT).collect(),
            _ => vec![Arg { splits: false, taint: self.taint(), ..Arg::unknown(text) }],
        }
    }

    /// The elements of a list.
    pub(super) fn elements(&self) -> Option<&[Value]> {
        match self {
            Self::List(values) => Some(values),
            _ => None,
        }
    }

    /// One field of a map.
    pub(super) fn field(&self, key: &str) -> Option<&Value> {
        match self {
            Self::Map(pairs) => pairs.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Whether a value counts as true, when that is known.
    pub(super) fn is_true(&self) -> bool {
        matches!(self.name(), Some("True" | "true"))
    }

    /// One of several values: the value itself, where there is only one.
    pub(super) fn one_of(values: Vec<Self>) -> Self {
        let mut different: Vec<Self> = Vec::new();
        for value in values {
            let parts = match value {
                Self::Any(parts) => parts,
                value => vec![value],
            };
            for part in parts {
                if different.len() < KEPT && !different.contains(&part) {
                    different.push(part);
                }
            }
        }
        match different.len() {
            0 => Self::unknown(),
            1 => different.remove(0),
            _ => Self::Any(different),
        }
    }

    /// The value, and what is not known of it comes from there as well.
    pub(super) fn with_taint(self, from: Taint) -> Self {
        match self {
            Self::Unknown(taint) => Self::Unknown(taint.and(from)),
            Self::Any(values) => Self::Any(values.into_iter().map(|value| value.with_taint(from)).collect()),
            value => value,
        }
    }

    /// A text without its pattern: the prefix is known.
    fn opened(self) -> Self {
        match self {
            Self::Text(arg) if arg.glob => {
                let start = arg.prefix().split(['*', '?', '[', '{']).next().unwrap_or_default();
                Self::starts(start, arg.taint)
            }
            value => value,
        }
    }

    /// Two strings put together.
    pub(super) fn concat(self, other: Self) -> Self {
        match (self, other) {
            (Self::Text(left), Self::Text(right)) => Self::Text(concat(&left, &right)),
            (Self::Any(values), other) if started(&values) && !matches!(other, Self::Any(_)) => {
                Self::Any(values.into_iter().map(|value| value.opened().concat(other.clone())).collect())
            }
            (value, Self::Any(values)) if plain(&values) && !matches!(value, Self::Any(_)) => {
                Self::Any(values.into_iter().map(|other| value.clone().concat(other)).collect())
            }
            (Self::List(mut left), Self::List(right)) => {
                left.extend(right);
                left.truncate(KEPT);
                Self::List(left)
            }
            // A known start, and more words after it.
            (Self::List(mut left), Self::Unknown(taint)) => {
                left.push(Self::Text(Arg { taint, ..Arg::unknown("…") }));
                Self::List(left)
            }
            (Self::Text(left), other) => {
                let right = Arg { splits: false, taint: other.taint(), ..Arg::unknown("…") };
                Self::Text(concat(&left, &right))
            }
            (value, Self::Text(right)) => {
                let left = Arg { splits: false, taint: value.taint(), ..Arg::unknown("…") };
                Self::Text(concat(&left, &right))
            }
            (left, right) => Self::Unknown(left.taint().and(right.taint())),
        }
    }
}

/// Whether all alternatives are known texts without patterns.
fn plain(values: &[Value]) -> bool {
    values.iter().all(|value| matches!(value, Value::Text(arg) if !arg.glob && arg.known().is_some()))
}

/// Whether the start of each alternative is known.
fn started(values: &[Value]) -> bool {
    values.iter().all(|value| matches!(value, Value::Text(arg) if !arg.prefix().is_empty()))
}

fn concat(left: &Arg, right: &Arg) -> Arg {
    let value = match (&left.value, &right.value) {
        // Text that doubles with each line is not followed for ever.
        (Known::Text(a), Known::Text(b)) if a.len() + b.len() > LONGEST => {
            Known::Partly { prefix: a.to_string(), suffix: String::new() }
        }
        (Known::Text(a), Known::Text(b)) => Known::Text(format!("{a}{b}").into()),
        (Known::Text(a), Known::Partly { prefix, suffix }) => {
            Known::Partly { prefix: format!("{a}{prefix}"), suffix: suffix.clone() }
        }
        (Known::Text(a), Known::Nothing) if !a.is_empty() => {
            Known::Partly { prefix: a.to_string(), suffix: String::new() }
        }
        (Known::Partly { prefix, suffix }, Known::Text(b)) => {
            Known::Partly { prefix: prefix.clone(), suffix: format!("{suffix}{b}") }
        }
        (Known::Partly { prefix, .. }, Known::Partly { suffix, .. })
            if !(prefix.is_empty() && suffix.is_empty()) =>
        {
            Known::Partly { prefix: prefix.clone(), suffix: suffix.clone() }
        }
        (Known::Partly { prefix, .. }, Known::Nothing) if !prefix.is_empty() => {
            Known::Partly { prefix: prefix.clone(), suffix: String::new() }
        }
        (Known::Nothing, Known::Text(b)) if !b.is_empty() => {
            Known::Partly { prefix: String::new(), suffix: b.to_string() }
        }
        (Known::Nothing, Known::Partly { suffix, .. }) if !suffix.is_empty() => {
            Known::Partly { prefix: String::new(), suffix: suffix.clone() }
        }
        _ => Known::Nothing,
    };
    let text: String = left.text.chars().chain(right.text.chars()).take(400).collect();
    Arg {
        value,
        text: text.into(),
        glob: left.glob || right.glob,
        splits: false,
        taint: left.taint.and(right.taint),
        found: None,
    }
}

/// Path components put together: a later absolute one starts over.
pub(super) fn join_path(parts: Vec<Value>) -> Value {
    let mut whole: Option<Value> = None;
    for part in parts {
        let absolute = part.known().is_some_and(|text| text.starts_with('/'));
        whole = Some(match whole {
            Some(left) if !absolute => {
                let ends = left.known().is_some_and(|text| text.ends_with('/'));
                let left = if ends { left } else { left.concat(Value::text("/")) };
                left.concat(part)
            }
            _ => part,
        });
    }
    whole.unwrap_or_else(Value::unknown)
}

/// Variables of the program.
#[derive(Debug, Default)]
pub(super) struct Scope {
    values: BTreeMap<String, Value>,
    /// Functions whose bodies are being read.
    frames: Vec<Frame>,
    /// Variables that a test has narrowed.
    narrowed: Vec<Narrowed>,
}

/// A variable inside of the branch of a test.
#[derive(Debug)]
struct Narrowed {
    /// Where the branch ends.
    end: usize,
    name: String,
    value: Value,
    before: Value,
}

/// One function while its body is read.
#[derive(Debug)]
struct Frame {
    /// Where the body ends.
    end: usize,
    /// The outer values of its variables.
    outside: BTreeMap<String, Option<Value>>,
    /// Names that are not its own.
    shared: Vec<String>,
}

impl Scope {
    /// The body of a function begins: what it sets is its own.
    pub(super) fn enter(&mut self, end: usize) {
        self.frames.push(Frame { end, outside: BTreeMap::new(), shared: Vec::new() });
    }

    /// Narrows a variable up to the end of a branch. An assignment inside of the branch counts after it.
    pub(super) fn narrow(&mut self, name: &str, value: Value, end: usize) {
        let Some(before) = self.values.insert(name.to_owned(), value.clone()) else { return };
        self.narrowed.push(Narrowed { end, name: name.to_owned(), value, before });
    }

    /// Bodies and branches that end before a place are over.
    pub(super) fn leave(&mut self, at: usize) {
        while let Some(Narrowed { name, value, before, .. }) =
            self.narrowed.pop_if(|narrowed| narrowed.end <= at)
        {
            if self.values.get(&name) == Some(&value) {
                self.values.insert(name, before);
            }
        }
        while let Some(frame) = self.frames.pop_if(|frame| frame.end <= at) {
            for (name, value) in frame.outside {
                match value {
                    Some(value) => self.values.insert(name, value),
                    None => self.values.remove(&name),
                };
            }
        }
    }

    /// A variable of the function that is being read is one from outside.
    pub(super) fn share(&mut self, name: &str) {
        if let Some(frame) = self.frames.last_mut() {
            frame.shared.push(name.to_owned());
        }
    }

    /// Sets each name to the element at its index: `a, b = pair`.
    pub(super) fn set_elements<'n>(&mut self, names: impl Iterator<Item = &'n str>, value: &Value) {
        for (at, name) in names.enumerate() {
            let part = value.elements().and_then(|values| values.get(at)).cloned();
            self.set(name, part.unwrap_or(Value::Unknown(value.taint())));
        }
    }

    /// Sets a variable, of the function that is being read when there is one. Fields of objects outlive it.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        if let Some(frame) = self.frames.last_mut()
            && !name.contains('.')
            && !frame.shared.iter().any(|shared| shared == name)
        {
            frame.outside.entry(name.to_owned()).or_insert_with(|| self.values.get(name).cloned());
        }
        self.set_outside(name, value);
    }

    /// Sets a variable wherever it is from.
    pub(super) fn set_outside(&mut self, name: &str, value: Value) {
        if self.values.len() < 10_000 || self.values.contains_key(name) {
            self.values.insert(name.to_owned(), value);
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }
}
