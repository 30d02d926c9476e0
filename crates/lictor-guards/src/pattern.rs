//! Regular expressions in policies: checked on load, compiled when they could match.

use lictor_core::Fixable;
use regex::{Regex, RegexBuilder};

/// How large a compiled pattern may become.
const SIZE_LIMIT: usize = 1 << 20;

/// An invalid pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a regular expression that can be matched in linear time: {problem}")]
pub struct PatternError {
    pattern: String,
    problem: String,
}

impl Fixable for PatternError {
    fn kind(&self) -> &'static str {
        "pattern"
    }

    fn fix(&self) -> &'static str {
        "write it without look-around and back-references, and escape what is meant literally"
    }
}

/// A regular expression as written. Compiled once, when a text first contains the literal that every match needs,
/// so that nothing is compiled for unrelated commands.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    whole: bool,
    needs: Option<String>,
    /// `None` inside where it cannot be compiled.
    #[expect(clippy::disallowed_types, reason = "a memo inside one value, not a static")]
    compiled: std::sync::OnceLock<Option<Regex>>,
}

impl Pattern {
    /// A pattern that may match anywhere in a text.
    ///
    /// # Errors
    /// Not a regular expression, or one with look-around or back-references.
    pub fn anywhere(source: &str) -> Result<Self, PatternError> {
        Self::checked(source, false)
    }

    /// A pattern that has to match a whole text.
    ///
    /// # Errors
    /// As for [`Pattern::anywhere`].
    pub fn whole(source: &str) -> Result<Self, PatternError> {
        Self::checked(source, true)
    }

    /// Checks the syntax, which costs a fraction of compiling.
    fn checked(source: &str, whole: bool) -> Result<Self, PatternError> {
        regex_syntax::parse(source).map_err(|error| PatternError {
            pattern: source.to_owned(),
            problem: match error {
                regex_syntax::Error::Parse(error) => error.kind().to_string(),
                regex_syntax::Error::Translate(error) => error.kind().to_string(),
                other => other.to_string(),
            },
        })?;
        Ok(Self::unchecked(source, whole))
    }

    /// A pattern for anywhere in a text that was checked before.
    #[must_use]
    pub fn accepted(source: &str) -> Self {
        Self::unchecked(source, false)
    }

    /// A pattern for a whole text that was checked before.
    #[must_use]
    pub fn accepted_whole(source: &str) -> Self {
        Self::unchecked(source, true)
    }

    fn unchecked(source: &str, whole: bool) -> Self {
        Self { needs: needed_literal(source), source: source.to_owned(), whole, compiled: Default::default() }
    }

    /// A regular expression for exactly this text, with as few escapes as possible for readability.
    #[must_use]
    pub fn literal(text: &str) -> String {
        let mut out = String::new();
        for c in text.chars() {
            if r"\.+*?()|[]{}^$#&~".contains(c) {
                out.push('\\');
            }
            out.push(c);
        }
        out
    }

    /// As written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it matches.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.count(text, 1) > 0
    }

    /// How often it matches, at most `limit`. A pattern that cannot be compiled (too large) matches everything if
    /// it searches and nothing if it must match a whole text: the first kind forbids, the second exempts.
    pub(crate) fn count(&self, text: &str, limit: usize) -> usize {
        if self.needs.as_deref().is_some_and(|needs| !text.contains(needs)) {
            return 0;
        }
        match self.compiled.get_or_init(|| self.compile()) {
            Some(regex) => regex.find_iter(text).take(limit).count(),
            None if self.whole => 0,
            None => limit,
        }
    }

    fn compile(&self) -> Option<Regex> {
        let whole = self.whole.then(|| format!("^(?:{})$", self.source));
        RegexBuilder::new(whole.as_ref().unwrap_or(&self.source)).size_limit(SIZE_LIMIT).build().ok()
    }
}

/// The longest literal that every match contains. `None` if none is easy to find.
fn needed_literal(source: &str) -> Option<String> {
    if source.contains(['|', '(', '[', '{']) {
        return None;
    }
    let mut best = String::new();
    let mut run = String::new();
    let mut chars = source.chars().peekable();
    let mut close = |run: &mut String| {
        if run.len() > best.len() {
            best.clone_from(run);
        }
        run.clear();
    };
    while let Some(char) = chars.next() {
        let optional = |next: Option<&char>| matches!(next, Some('?' | '*'));
        let literal = match char {
            '\\' => match chars.next() {
                Some(escaped) if escaped.is_ascii_punctuation() => Some(escaped),
                Some('x' | 'u' | 'U' | 'p' | 'P') => return None,
                _ => None,
            },
            '.' | '^' | '$' | '+' | '?' | '*' => None,
            plain => Some(plain),
        };
        match literal {
            Some(plain) if !optional(chars.peek()) => {
                run.push(plain);
                if chars.peek() == Some(&'+') {
                    close(&mut run);
                }
            }
            _ => close(&mut run),
        }
    }
    close(&mut run);
    (!best.is_empty()).then_some(best)
}

#[cfg(test)]
mod tests;
