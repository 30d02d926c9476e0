//! `redact:`: the policy's own patterns of text that must not be written down.

use std::borrow::Cow;
use std::ops::Range;

use lictor_core::redact::REDACTED;
use lictor_core::{Redact, Secrets};
use regex::{Regex, RegexBuilder};

use crate::policy::PolicyBundle;
use crate::reader::REGEX_SIZE;

/// Takes out what the policy's patterns find, and then what looks like a credential.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    patterns: Vec<Regex>,
}

impl PolicyBundle {
    /// What takes the policy's patterns out of everything that is written down or answered.
    ///
    /// # Errors
    /// Only for a policy that [`load`](crate::load) did not make.
    pub fn redactor(&self) -> Result<Redactor, regex::Error> {
        Redactor::new(self.layers.iter().flat_map(|layer| &layer.sections.redact).map(String::as_str))
    }
}

impl Redactor {
    /// Takes out what these patterns find.
    ///
    /// # Errors
    /// A pattern that is not a regular expression, or a very large one.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, regex::Error> {
        Ok(Self { patterns: patterns.into_iter().map(compiled).collect::<Result<_, _>>()? })
    }

    /// Takes out what either finds.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        let new = |pattern: &Regex| !self.patterns.iter().any(|known| known.as_str() == pattern.as_str());
        let more: Vec<Regex> = other.patterns.into_iter().filter(new).collect();
        self.patterns.extend(more);
        self
    }
}

impl Redact for Redactor {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        // Every pattern sees the text as it was: what one takes out must not hide the rest from another.
        let mut found: Vec<Range<usize>> = Vec::new();
        for pattern in &self.patterns {
            found.extend(pattern.find_iter(text).map(|hit| hit.range()).filter(|range| !range.is_empty()));
        }
        if found.is_empty() {
            return Secrets.redact(text);
        }
        found.sort_by_key(|range| range.start);
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for Range { start, end } in joined(found) {
            out.push_str(text.get(done..start).unwrap_or_default());
            out.push_str(REDACTED);
            done = end;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(Secrets.redact(&out).into_owned())
    }

    /// A pattern may find in a text what it does not find in the text's JSON form: anchors, quotes, line ends.
    fn may_redact_json(&self, json: &str) -> bool {
        !self.patterns.is_empty() || Secrets.may_redact_json(json)
    }
}

/// Sorted ranges without overlaps.
fn joined(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Keys and fixed words of records, one a line.
const WORDS: &str = include_str!("redact/words.txt");

/// A word that the record itself is written in and that this pattern would take out of it.
pub(crate) fn word_of_the_record(pattern: &str) -> Option<&'static str> {
    let pattern = compiled(pattern).ok()?;
    WORDS.lines().find(|word| pattern.is_match(word))
}

fn compiled(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(REGEX_SIZE).build()
}

#[cfg(test)]
mod tests;
