//! Problems in a policy file, shown where they are.
//!
//! Not by `annotate-snippets`: the first line has to be `file:line:column: error: message`, which editors parse,
//! and that crate prints either such a line or a snippet. Twenty lines of code here do both.

use std::fmt::Write as _;

use serde::Serialize;

/// A stretch of text, lines and columns counted from 1, columns in characters. The end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Span {
    /// First line.
    pub line: usize,
    /// First column.
    pub column: usize,
    /// Last line.
    pub end_line: usize,
    /// Column after the last one.
    pub end_column: usize,
}

impl Span {
    /// The place before the first character.
    pub const START: Self = Self { line: 1, column: 1, end_line: 1, end_column: 1 };

    /// One place of no width.
    #[must_use]
    pub fn at(line: usize, column: usize) -> Self {
        Self { line, column, end_line: line, end_column: column }
    }
}

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look; the policy is used.
    Warning,
    /// The policy is refused.
    Error,
}

/// One problem with its place and a suggestion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// Which file, as the user named it.
    pub file: String,
    /// Its position in the file.
    #[serde(flatten)]
    pub span: Span,
    /// What is wrong: lower case, no final stop, user text in backticks.
    pub message: String,
    /// What to do: a suggestion or an example. Empty when the message is enough.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub help: String,
}

impl Diagnostic {
    /// A problem that refuses the file.
    #[must_use]
    pub fn error(file: &str, span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            file: file.to_owned(),
            span,
            message: message.into(),
            help: String::new(),
        }
    }

    /// A problem worth a look.
    #[must_use]
    pub fn warning(file: &str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(file, span, message) }
    }

    /// The same with this help text.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// `file:line:column: error: message`, one line, for editors and logs.
    #[must_use]
    pub fn one_line(&self) -> String {
        let word = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        format!("{}:{}:{}: {word}: {}", self.file, self.span.line, self.span.column, self.message)
    }

    /// The one-line form, the line of the file with the place underlined, and the help.
    #[must_use]
    pub fn render(&self, source: &str) -> String {
        let mut out = self.one_line();
        if let Some(text) = source.lines().nth(self.span.line.saturating_sub(1)) {
            let number = self.span.line.to_string();
            let margin = " ".repeat(number.len());
            let (first, shown) = window(text, self.span.column);
            let from = self.span.column.saturating_sub(first);
            let width = if self.span.end_line == self.span.line {
                self.span.end_column.saturating_sub(self.span.column)
            } else {
                shown.chars().count().saturating_sub(from)
            };
            let lead = " ".repeat(from);
            let mark = "^".repeat(width.clamp(1, shown.chars().count().saturating_sub(from).max(1)));
            let _ = write!(out, "\n {margin} |\n {number} | {shown}\n {margin} | {lead}{mark}");
        }
        if !self.help.is_empty() {
            let _ = write!(out, "\n  help: {}", self.help);
        }
        out
    }
}

/// The longest part of a line that is shown.
const SHOWN: usize = 200;
/// How much of a long line is shown before the place.
const BEFORE: usize = 60;

/// The part of a line around a column, and the column of its first character. Omitted text becomes `…`.
fn window(line: &str, column: usize) -> (usize, String) {
    let length = line.chars().count();
    let first = if column > SHOWN - BEFORE { column - BEFORE } else { 1 };
    let mut shown: String =
        line.chars().skip(first - 1).take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if first > 1 {
        shown = shown.chars().enumerate().map(|(index, c)| if index == 0 { '…' } else { c }).collect();
    }
    if first - 1 + SHOWN < length {
        shown.push('…');
    }
    (first, shown)
}

/// The candidate that a misspelt word most likely meant, if one is close enough to be worth suggesting.
#[must_use]
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The help for an unknown word: the closest candidate, or all of them.
pub(crate) fn suggest<'a>(
    word: &str,
    lead: &str,
    candidates: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
) -> String {
    let candidates = candidates.into_iter();
    match closest(word, candidates.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{lead}: {}", candidates.collect::<Vec<_>>().join(", ")),
    }
}

/// Edit distance that also counts a swap of neighbours, and dashes for underscores, as one.
fn distance(a: &str, b: &str) -> usize {
    let fold = |c: char| if c == '-' { '_' } else { c.to_ascii_lowercase() };
    // Longer words are truncated: the cost grows with both lengths.
    let folded = |word: &str| -> String { word.chars().take(64).map(fold).collect() };
    strsim::osa_distance(&folded(a), &folded(b))
}

#[cfg(test)]
mod tests;
