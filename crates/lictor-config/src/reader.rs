//! Typed reading of a tree: collects every problem instead of stopping at the first.

use crate::diagnostic::{Diagnostic, Span, closest};
use crate::yaml::{Key, Tree, Yaml};

/// A value with the place it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

/// Reads values of one file and keeps what is wrong with them.
pub(crate) struct Reader<'a> {
    file: &'a str,
    problems: Vec<Diagnostic>,
}

/// The entries of a map. Every key that is not asked for is a problem.
pub(crate) struct Fields<'t> {
    entries: &'t [(Key, Tree)],
    /// Where the map stands, for fields that are missing.
    pub(crate) span: Span,
}

impl<'t> Fields<'t> {
    /// The value under a key.
    pub(crate) fn get(&self, key: &str) -> Option<&'t Tree> {
        self.entries.iter().find(|(known, _)| known.text == key).map(|(_, tree)| tree)
    }

    /// All entries, for maps whose keys are names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'t Key, &'t Tree)> {
        self.entries.iter().map(|(key, tree)| (key, tree))
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(file: &'a str) -> Self {
        Self { file, problems: Vec::new() }
    }

    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        self.problems
    }

    pub(crate) fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Diagnostic::error(self.file, span, message).help(help));
    }

    pub(crate) fn warning(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Diagnostic::warning(self.file, span, message).help(help));
    }

    /// A map with any keys: names that the user chose.
    pub(crate) fn names<'t>(&mut self, tree: &'t Tree, what: &str) -> Option<Fields<'t>> {
        match &tree.value {
            Yaml::Map(entries) => Some(Fields { entries, span: tree.span }),
            // `section:` with nothing below it is an empty section.
            Yaml::Scalar { text, quoted: false } if is_null(text) => {
                Some(Fields { entries: &[], span: tree.span })
            }
            _ => {
                self.wrong_type(tree, what, "a map");
                None
            }
        }
    }

    /// A map with known keys. Unknown ones are problems, with a suggestion.
    pub(crate) fn fields<'t>(&mut self, tree: &'t Tree, what: &str, known: &[&str]) -> Option<Fields<'t>> {
        let fields = self.names(tree, what)?;
        for (key, _) in fields.iter() {
            if !known.contains(&key.text.as_str()) {
                let help = closest(&key.text, known.iter().copied()).map_or_else(
                    || format!("{what} takes: {}", known.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                self.error(key.span, format!("unknown key `{}`", key.text), help);
            }
        }
        Some(fields)
    }

    /// A field that must be there.
    pub(crate) fn required<'t>(&mut self, fields: &Fields<'t>, what: &str, key: &str) -> Option<&'t Tree> {
        let found = fields.get(key);
        if found.is_none() {
            self.error(fields.span, format!("{what} has no `{key}`"), format!("add `{key}: …`"));
        }
        found
    }

    /// The items of a list; one value alone counts as a list of one.
    pub(crate) fn list<'t>(&mut self, tree: &'t Tree, what: &str) -> Vec<&'t Tree> {
        match &tree.value {
            Yaml::List(items) => items.iter().collect(),
            Yaml::Scalar { text, quoted: false } if is_null(text) => Vec::new(),
            Yaml::Scalar { .. } => vec![tree],
            Yaml::Map(_) => {
                self.wrong_type(tree, what, "a list");
                Vec::new()
            }
        }
    }

    /// Text. Numbers and booleans without quotes are taken as written.
    pub(crate) fn text(&mut self, tree: &Tree, what: &str) -> Option<Spanned<String>> {
        match &tree.value {
            Yaml::Scalar { text, quoted } if *quoted || !is_null(text) => {
                Some(Spanned { value: text.clone(), span: tree.span })
            }
            _ => {
                self.wrong_type(tree, what, "text");
                None
            }
        }
    }

    /// Text that says something.
    pub(crate) fn sentence(&mut self, tree: &Tree, what: &str) -> Option<Spanned<String>> {
        let text = self.text(tree, what)?;
        if text.value.trim().is_empty() {
            self.error(tree.span, format!("{what} is empty"), "say it in a few words");
            return None;
        }
        Some(text)
    }

    /// A list of texts.
    pub(crate) fn texts(&mut self, tree: &Tree, what: &str) -> Vec<Spanned<String>> {
        self.list(tree, what).into_iter().filter_map(|item| self.text(item, what)).collect()
    }

    pub(crate) fn boolean(&mut self, tree: &Tree, what: &str) -> Option<bool> {
        match &tree.value {
            Yaml::Scalar { text, quoted: false } if text == "true" => Some(true),
            Yaml::Scalar { text, quoted: false } if text == "false" => Some(false),
            _ => {
                self.wrong_type(tree, what, "`true` or `false`");
                None
            }
        }
    }

    pub(crate) fn integer(&mut self, tree: &Tree, what: &str) -> Option<u64> {
        let value = match &tree.value {
            Yaml::Scalar { text, quoted: false } => text.parse().ok(),
            _ => None,
        };
        if value.is_none() {
            self.wrong_type(tree, what, "a whole number, 0 or more");
        }
        value
    }

    /// A number from 0 to 1.
    pub(crate) fn fraction(&mut self, tree: &Tree, what: &str) -> Option<f64> {
        let value = match &tree.value {
            Yaml::Scalar { text, quoted: false } => text.parse::<f64>().ok(),
            _ => None,
        };
        let value = value.filter(|number| (0.0..=1.0).contains(number));
        if value.is_none() {
            self.wrong_type(tree, what, "a number from 0 to 1");
        }
        value
    }

    /// A length of time: `500ms`, `30s`, `10m`, `2h`, `1d`. In milliseconds.
    pub(crate) fn duration(&mut self, tree: &Tree, what: &str) -> Option<u64> {
        let value = match &tree.value {
            Yaml::Scalar { text, .. } => millis(text),
            _ => None,
        };
        if value.is_none() {
            self.wrong_type(tree, what, "a length of time such as `30s`, `10m` or `2h`");
        }
        value
    }

    /// One of a closed set of words.
    pub(crate) fn choice<T: Copy>(&mut self, tree: &Tree, what: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(tree, what)?;
        let found = words.iter().find(|(word, _)| *word == text.value).map(|(_, value)| *value);
        if found.is_none() {
            let all = words.iter().map(|(word, _)| *word);
            let help = closest(&text.value, all.clone()).map_or_else(
                || format!("use one of: {}", all.collect::<Vec<_>>().join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            self.error(tree.span, format!("{what} cannot be `{}`", shorten(&text.value)), help);
        }
        found
    }

    fn wrong_type(&mut self, tree: &Tree, what: &str, wanted: &str) {
        let found = match &tree.value {
            Yaml::Scalar { text, quoted: false } if is_null(text) => "nothing".to_owned(),
            Yaml::Scalar { text, .. } => format!("`{}`", shorten(text)),
            Yaml::List(_) => "a list".to_owned(),
            Yaml::Map(_) => "a map".to_owned(),
        };
        self.error(tree.span, format!("{what} must be {wanted}, found {found}"), "");
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_owned() } else { text.chars().take(39).chain(['…']).collect() }
}

/// Milliseconds of `500ms`, `30s`, `10m`, `2h`, `1d`. A bare number has no unit and is refused.
#[must_use]
pub fn millis(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let factor: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}
