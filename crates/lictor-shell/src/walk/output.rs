//! What a command prints.

use crate::call::Stdin;
use crate::operand::{Arg, Taint};

/// Longest output that is followed.
const LONGEST: usize = 128 * 1024;

#[derive(Debug, Clone)]
pub(crate) enum Output {
    Text(String),
    /// File names of which the shape is known.
    Names(Vec<Arg>),
    Unknown(Taint),
}

impl Output {
    pub(crate) fn silent() -> Self {
        Self::Text(String::new())
    }

    pub(crate) fn unknown() -> Self {
        Self::Unknown(Taint::default())
    }

    pub(crate) fn taint(&self) -> Taint {
        match self {
            Self::Unknown(taint) => *taint,
            Self::Names(names) => names.iter().fold(Taint::default(), |taint, name| taint.and(name.taint)),
            Self::Text(_) => Taint::default(),
        }
    }

    /// This, then `other`.
    pub(crate) fn then(self, other: Self) -> Self {
        match (self, other) {
            (Self::Text(first), second) if first.is_empty() => second,
            (first, Self::Text(second)) if second.is_empty() => first,
            (Self::Text(first), Self::Text(second)) if first.len() + second.len() <= LONGEST => {
                Self::Text(first + &second)
            }
            (Self::Names(mut first), Self::Names(second)) => {
                first.extend(second);
                Self::Names(first)
            }
            (first, second) => Self::Unknown(first.taint().and(second.taint())),
        }
    }

    pub(crate) fn into_stdin(self) -> Stdin {
        match self {
            Self::Text(text) => Stdin::Text(text),
            Self::Names(names) => Stdin::Names(names),
            Self::Unknown(taint) => Stdin::Unknown(taint),
        }
    }
}
