//! Builds the words that an expansion results in.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use super::wildcards;
use crate::operand::{Arg, Found, Known, Taint};
use crate::state::{Datum, GAP};

/// One word in the making.
#[derive(Debug, Default)]
pub(crate) struct Field {
    prefix: String,
    suffix: String,
    /// There is an unknown part between `prefix` and `suffix`.
    gap: bool,
    template: Option<String>,
    glob: bool,
    splits: bool,
    taint: Taint,
    /// The word is one out of a list, and nothing else.
    found: Option<Arc<Found>>,
    /// The word exists even when it is empty: something of it was quoted.
    present: bool,
}

/// A word after expansion: the argument, and its text with gaps when it is to be run as code.
#[derive(Debug, Clone)]
pub(crate) struct Expanded {
    pub arg: Arg,
    pub template: Option<Rc<str>>,
}

impl Field {
    fn text(&mut self, text: &str) {
        // With more in it, it is another name.
        if !text.is_empty() {
            self.found = None;
        }
        if self.gap {
            self.suffix.push_str(text);
        } else {
            self.prefix.push_str(text);
        }
        if let Some(template) = &mut self.template {
            template.push_str(text);
        }
    }

    fn unknown(&mut self) {
        self.found = None;
        let template = self.template.get_or_insert_with(|| self.prefix.clone());
        template.push_str("${");
        template.push_str(GAP);
        template.push('}');
        self.gap = true;
        self.suffix.clear();
    }

    fn datum(&mut self, datum: &Datum) {
        self.taint = self.taint.and(datum.taint);
        self.glob |= datum.glob;
        let only = !self.gap && self.prefix.is_empty();
        match &datum.value {
            Known::Text(text) => self.text(text),
            Known::Nothing => self.unknown(),
            Known::Partly { prefix, suffix } => {
                let before = self.template.take().unwrap_or_else(|| self.prefix.clone());
                if self.gap {
                    self.suffix.clear();
                } else {
                    self.prefix.push_str(prefix);
                }
                self.gap = true;
                self.suffix = suffix.clone();
                self.template = Some(match &datum.template {
                    Some(template) => before + template,
                    None => format!("{before}{prefix}${{{GAP}}}{suffix}"),
                });
            }
        }
        self.found = datum.found.clone().filter(|_| only);
    }

    /// The known text at its end.
    fn last(&self) -> &str {
        if self.gap { &self.suffix } else { &self.prefix }
    }

    /// Whether it holds this text and nothing else.
    fn is_just(&self, text: &str) -> bool {
        !self.gap && self.prefix == text
    }

    fn is_something(&self) -> bool {
        self.present || self.gap || !self.prefix.is_empty()
    }

    fn value(prefix: String, suffix: String, gap: bool) -> Known {
        match (gap, prefix.is_empty() && suffix.is_empty()) {
            (false, _) => Known::Text(prefix.into()),
            (true, true) => Known::Nothing,
            (true, false) => Known::Partly { prefix, suffix },
        }
    }

    /// Brings a pattern into the form that those know who look for what it fits.
    fn simplify(&mut self) {
        for part in [&mut self.prefix, &mut self.suffix] {
            if let Cow::Owned(plain) = wildcards::plain(part) {
                *part = plain;
            }
        }
    }

    fn into_expanded(mut self, written: &str) -> Expanded {
        if self.glob {
            self.simplify();
        }
        Expanded {
            arg: Arg {
                value: Self::value(self.prefix, self.suffix, self.gap),
                text: written.into(),
                glob: self.glob,
                splits: self.splits,
                taint: self.taint,
                found: self.found,
            },
            template: self.template.map(Rc::from),
        }
    }

    fn into_datum(mut self) -> Datum {
        if self.glob {
            self.simplify();
        }
        Datum {
            value: Self::value(self.prefix, self.suffix, self.gap),
            taint: self.taint,
            glob: self.glob,
            template: self.template.map(Rc::from),
            found: self.found,
        }
    }
}

/// The words of one expansion.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    done: Vec<Field>,
    now: Field,
}

impl Fields {
    /// Text that stays as it is.
    pub(super) fn quoted(&mut self, text: &str) {
        self.now.present = true;
        self.now.text(text);
    }

    /// Unquoted literal text: globs in it are live.
    pub(super) fn literal(&mut self, text: &str) {
        // An extended group may come in two parts.
        let opens = text.starts_with('(') && self.now.last().ends_with(['@', '+', '!']);
        self.now.glob |= opens || has_glob(text);
        self.now.text(text);
    }

    /// The word exists even if nothing comes.
    pub(super) fn present(&mut self) {
        self.now.present = true;
    }

    /// A value in double quotes, or where words are not split.
    pub(super) fn whole(&mut self, datum: &Datum) {
        self.now.datum(datum);
    }

    /// A value that may turn into any number of words even in quotes (`"$@"` when it is not known).
    pub(super) fn any_number(&mut self, taint: Taint) {
        self.now.taint = self.now.taint.and(taint);
        self.now.unknown();
        self.now.splits = true;
    }

    /// An unquoted value: split at the separators.
    pub(super) fn split(&mut self, datum: &Datum, separators: Option<&str>) {
        self.now.taint = self.now.taint.and(datum.taint);
        match &datum.value {
            Known::Text(text) => {
                self.split_text(text, separators);
                let whole = separators.is_some_and(|of| !text.contains(|letter| of.contains(letter)));
                if whole && self.now.is_just(text) {
                    self.now.found.clone_from(&datum.found);
                }
            }
            Known::Nothing => {
                self.now.unknown();
                self.now.splits = true;
            }
            Known::Partly { prefix, suffix } => {
                self.split_text(prefix, separators);
                self.now.unknown();
                self.now.splits = true;
                self.split_text(suffix, separators);
            }
        }
    }

    fn split_text(&mut self, text: &str, separators: Option<&str>) {
        let Some(separators) = separators else {
            // The separators are not known: where there may be one, the words could be any.
            if text.contains(|c: char| c.is_whitespace() || ",:;|#!^@%+".contains(c)) {
                self.now.unknown();
            } else {
                self.now.datum(&Datum::known(text));
            }
            self.now.splits = true;
            return;
        };
        for (index, piece) in text.split(|c: char| separators.contains(c)).enumerate() {
            if index > 0 {
                self.end_word();
            }
            if !piece.is_empty() {
                self.now.glob |= has_glob(piece);
                self.now.text(piece);
            }
        }
    }

    /// A list of names, each of which becomes a separate word.
    pub(super) fn names(&mut self, names: &[Arg]) {
        for (index, name) in names.iter().enumerate() {
            if index > 0 {
                self.end_word();
            }
            self.now.datum(&Datum::of(name));
            self.now.splits |= name.splits;
        }
    }

    /// Ends the word if there is one.
    pub(super) fn end_word(&mut self) {
        if self.now.is_something() {
            self.done.push(std::mem::take(&mut self.now));
        }
    }

    pub(super) fn into_words(mut self, written: &str, into: &mut Vec<Expanded>) {
        self.end_word();
        into.extend(self.done.into_iter().map(|field| field.into_expanded(written)));
    }

    /// Everything as one value, where the shell does not split.
    pub(super) fn into_datum(mut self) -> Datum {
        if self.done.is_empty() {
            return self.now.into_datum();
        }
        self.end_word();
        let mut all = Field::default();
        for (index, field) in self.done.into_iter().enumerate() {
            if index > 0 {
                all.text(" ");
            }
            all.datum(&field.into_datum());
        }
        all.into_datum()
    }
}

/// Whether unquoted text is a glob.
pub(crate) fn has_glob(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'*' | b'?'))
        || (text.contains('[') && text.contains(']') && text.len() > 2)
        || text.contains('(') && ["@(", "+(", "!("].iter().any(|group| text.contains(group))
}
