//! `redact:`: the policy's own patterns of text to redact.

use std::borrow::Cow;
use std::ops::Range;

use lictor_core::redact::without;
use lictor_core::{Redact, Secrets};
use regex::{Regex, RegexBuilder};

use crate::policy::PolicyBundle;
use crate::reader::REGEX_SIZE;

/// Redacts matches of the policy's patterns, and then what looks like a credential.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    patterns: Vec<Regex>,
}

impl PolicyBundle {
    /// The redactor with the policy's patterns, for everything that is stored or returned.
    ///
    /// # Errors
    /// Only for a policy that [`load`](crate::load) did not make.
    pub fn redactor(&self) -> Result<Redactor, regex::Error> {
        Redactor::new(self.layers.iter().flat_map(|layer| &layer.sections.redact).map(String::as_str))
    }
}

impl Redactor {
    /// A redactor with these patterns.
    ///
    /// # Errors
    /// A pattern that is not a regular expression, or a very large one.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, regex::Error> {
        Ok(Self { patterns: patterns.into_iter().map(compiled).collect::<Result<_, _>>()? })
    }
}

impl Redact for Redactor {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match without(text, self.places(text)) {
            Cow::Borrowed(text) => Cow::Borrowed(text),
            // Removing a match may place a secret's name before another value.
            Cow::Owned(cut) => Cow::Owned(Secrets.redact(&cut).into_owned()),
        }
    }

    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let found = self.patterns.iter().flat_map(|pattern| pattern.find_iter(text));
        let found = found.map(|hit| hit.range()).filter(|range| !range.is_empty());
        found.chain(Secrets.places(text)).collect()
    }

    /// A pattern may match a text but not its JSON encoding: anchors, quotes, line ends.
    fn may_redact_json(&self, json: &str) -> bool {
        !self.patterns.is_empty() || Secrets.may_redact_json(json)
    }
}

/// Keys and fixed words of records, one a line.
const WORDS: &str = include_str!("redact/words.txt");

/// A word of the record format that this pattern would redact.
pub(crate) fn word_of_the_record(pattern: &str) -> Option<&'static str> {
    let pattern = compiled(pattern).ok()?;
    WORDS.lines().find(|word| pattern.is_match(word))
}

fn compiled(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(REGEX_SIZE).build()
}

#[cfg(test)]
mod tests;
