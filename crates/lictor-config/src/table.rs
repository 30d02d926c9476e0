//! The keys of a policy file, as data.
//!
//! One table for each map with known keys. The reader refuses unknown keys and suggests known ones; the JSON
//! Schema and `docs/reference.md` are generated from the same tables.

/// A map with known keys.
#[derive(Debug)]
pub(crate) struct Table {
    /// Its name in messages and the reference: `budget`, `policies[]`.
    pub(crate) name: &'static str,
    /// Its purpose, in one sentence.
    pub(crate) about: &'static str,
    /// Its keys, in the order in which the reference shows them.
    pub(crate) keys: &'static [Key],
}

impl Table {
    /// The entry for a key.
    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// One key of a map.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    /// The map makes no sense without it.
    pub(crate) required: bool,
    /// Honoured only from the user's and the managed file.
    pub(crate) trusted: bool,
    /// Its meaning, in one sentence.
    pub(crate) about: &'static str,
    /// A value, as YAML in one line.
    pub(crate) example: &'static str,
}

impl Key {
    pub(crate) const fn new(
        name: &'static str,
        shape: Shape,
        example: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, shape, required: false, trusted: false, about, example }
    }

    /// The same, needed.
    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// The same, honoured only from the user's and the managed file.
    pub(crate) const fn trusted(mut self) -> Self {
        self.trusted = true;
        self
    }
}

/// What a value may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// Any text.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number, 0 or more.
    Integer,
    /// A number from 0 to 1.
    Fraction,
    /// A length of time with its unit.
    Duration,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A regular expression.
    Regex,
    /// A path or a glob.
    Path,
    /// An expression; see `docs/expressions.md`.
    Expression,
    /// A pattern of actions: `write`, `delete file`, `bash("cargo test")`.
    Actions,
    /// A program and its arguments.
    Argv,
    /// A list of these; one value alone counts as a list of one.
    List(&'static Shape),
    /// A map from names that the author chooses.
    Names(&'static Shape),
    /// A map from patterns of actions.
    ByActions(&'static Shape),
    /// A map with known keys.
    Fields(&'static Table),
    /// Any of these.
    OneOf(&'static [Shape]),
    /// A number, 0 or more.
    Number,
    /// A map of the author's own: names, and under them any value.
    Data,
    /// A node of the policy graph: a guard's name or a combinator.
    Node,
}

/// The decisions that a rule may set.
pub(crate) const DECISIONS: Shape = Shape::Word(&["pass", "warn", "ask", "block"]);
/// The decisions that stop or remark.
pub(crate) const OBJECTIONS: Shape = Shape::Word(&["warn", "ask", "block"]);
/// A list of texts.
pub(crate) const TEXTS: Shape = Shape::List(&Shape::Text);
/// A list of regular expressions.
pub(crate) const REGEXES: Shape = Shape::List(&Shape::Regex);
/// A list of paths and globs.
pub(crate) const PATHS: Shape = Shape::List(&Shape::Path);
/// A list of patterns of actions.
pub(crate) const ACTIONS: Shape = Shape::List(&Shape::Actions);

#[cfg(test)]
mod tests;
