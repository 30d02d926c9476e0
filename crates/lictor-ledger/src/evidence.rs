//! Evidence of a finding: a file, optionally a line, a column and a note.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place that a finding points to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// The file as the reviewer named it. Empty: the evidence points nowhere.
    pub file: String,
    /// The line, counted from one.
    #[serde(default)]
    pub line: Option<u32>,
    /// The column, counted from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// A note.
    #[serde(default)]
    pub note: String,
    /// The content that the reviewer saw, once the ledger has looked it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
}

/// The content that evidence points at. It does not depend on the rest of the file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Bound {
    /// The object id of the file's content.
    pub blob: String,
    /// The fingerprint of the line, ignoring white space. `None` when the evidence is the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
}

/// Evidence that cannot be read without guessing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// The number after the file is too large for a line number.
    #[error("evidence `{spec}` has a line number that is too large: write file, file:line or file:line:note")]
    LineTooLarge {
        /// The text as given.
        spec: String,
    },
}

impl Evidence {
    /// A whole file.
    #[must_use]
    pub fn file(file: impl Into<String>) -> Self {
        Self { file: file.into(), ..Self::default() }
    }

    /// One line of a file.
    #[must_use]
    pub fn line(file: impl Into<String>, line: u32) -> Self {
        Self { line: Some(line), ..Self::file(file) }
    }

    /// The same with a remark.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Reads `file`, `file:line`, `file:line:note` or `file:line:column:note`.
    ///
    /// A drive (`C:\…`, `C:/…`) is part of the file, and so is a URL as a whole. After that the first `:digits`
    /// that is followed by a colon or by the end is the line, and all that follows is the note, so that a note
    /// may contain colons. `file:42:7` is a note that says `7`: only a second colon makes a number a column. Text
    /// without a line is a file name.
    ///
    /// # Errors
    /// When the line number is too large.
    pub fn parse(spec: &str) -> Result<Self, EvidenceError> {
        let Some((file, digits, rest)) = split_line(spec) else {
            return Ok(Self::file(spec));
        };
        let line = digits.parse().map_err(|_| EvidenceError::LineTooLarge { spec: spec.to_owned() })?;
        let (column, note) = match rest.split_once(':') {
            Some((number, note)) if is_number(number) => match number.parse() {
                Ok(column) => (Some(column), note),
                Err(_) => (None, rest),
            },
            _ => (None, rest),
        };
        Ok(Self { file: file.to_owned(), line: Some(line), column, note: note.to_owned(), bound: None })
    }

    /// Whether it points anywhere. Evidence that does not is left out of findings.
    #[must_use]
    pub fn points_somewhere(&self) -> bool {
        !self.file.trim().is_empty()
    }

    /// The file without a leading `./`: how it is compared and looked up.
    #[must_use]
    pub fn path(&self) -> &str {
        let mut path = self.file.as_str();
        while let Some(rest) = path.strip_prefix("./") {
            path = rest.trim_start_matches('/');
        }
        path
    }
}

/// `file:line[:column]`, without the note.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        Ok(())
    }
}

/// File, digits of the line, and what follows the colon after them.
fn split_line(spec: &str) -> Option<(&str, &str, &str)> {
    if is_url(spec) {
        return None;
    }
    let from = if has_drive(spec) { 2 } else { 0 };
    let mut at = from;
    loop {
        let tail = spec.get(at..)?;
        let colon = at + tail.find(':')?;
        let after = spec.get(colon + 1..)?;
        let (digits, rest) = match after.split_once(':') {
            Some((digits, rest)) => (digits, rest),
            None => (after, ""),
        };
        if is_number(digits) {
            return Some((spec.get(..colon)?, digits, rest));
        }
        at = colon + 1;
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn has_drive(spec: &str) -> bool {
    matches!(spec.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

fn is_url(spec: &str) -> bool {
    spec.split_once("://").is_some_and(|(scheme, _)| {
        scheme.len() > 1
            && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
    })
}
