//! Typed reading of a tree: collects every problem instead of stopping at the first.

mod inside;
mod values;

use crate::diagnostic::{Diagnostic, Span, suggest};
use crate::source::Origin;
use crate::table::Table;
use crate::yaml::{Key, Tree, Yaml};

pub(crate) use values::REGEX_SIZE;
pub use values::millis;

/// Reads values of one file and collects their errors.
pub(crate) struct Reader<'a> {
    file: &'a str,
    origin: Origin,
    lines: Vec<&'a str>,
    problems: Vec<Diagnostic>,
}

/// The entries of a map.
pub(crate) struct Fields<'t> {
    entries: &'t [(Key, Tree)],
    /// The name of the map in messages.
    name: &'static str,
    /// Keys that this file may not use.
    ignored: Vec<&'t str>,
    /// The span of the map, for missing fields.
    pub(crate) span: Span,
    /// A key of it is misspelt. A missing key is probably the misspelt one, so one message is enough.
    pub(crate) misspelt: bool,
}

impl<'t> Fields<'t> {
    /// The value under a key; `None` for a key that this file may not use.
    pub(crate) fn get(&self, key: &str) -> Option<&'t Tree> {
        if self.ignored.contains(&key) {
            return None;
        }
        self.entries.iter().find(|(known, _)| known.text == key).map(|(_, tree)| tree)
    }

    /// All entries, for maps whose keys are names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'t Key, &'t Tree)> + use<'t> {
        self.entries.iter().map(|(key, tree)| (key, tree))
    }

    /// The name of a field in messages.
    pub(crate) fn label(&self, key: &str) -> String {
        if self.name.is_empty() { format!("`{key}`") } else { format!("`{}.{key}`", self.name) }
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(file: &'a str, origin: Origin, text: &'a str) -> Self {
        Self { file, origin, lines: text.lines().collect(), problems: Vec::new() }
    }

    /// Whether the file is the user's or the managed one.
    pub(crate) fn is_trusted(&self) -> bool {
        self.origin != Origin::Repository
    }

    /// Whether the person cannot change the file.
    pub(crate) fn is_managed(&self) -> bool {
        matches!(self.origin, Origin::Managed | Origin::Team)
    }

    /// All errors, in file order.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.problems.sort_by_key(|problem| (problem.span.line, problem.span.column));
        self.problems
    }

    pub(crate) fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Diagnostic::error(self.file, span, message).help(help));
    }

    pub(crate) fn warning(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Diagnostic::warning(self.file, span, message).help(help));
    }

    /// The entries of a map with any keys, under a label for messages.
    pub(crate) fn map<'t>(&mut self, tree: &'t Tree, what: &str) -> Option<&'t [(Key, Tree)]> {
        match &tree.value {
            Yaml::Map(entries) => Some(entries),
            Yaml::Scalar { text, quoted: false } if is_null(text) => Some(&[]),
            _ => {
                self.wrong_type(tree, what, "a map");
                None
            }
        }
    }

    /// A map with any keys: names that the user chose.
    pub(crate) fn names<'t>(&mut self, tree: &'t Tree, name: &'static str) -> Option<Fields<'t>> {
        let label = called(name);
        // `section:` with nothing below it is an empty section.
        let entries = self.map(tree, &label)?;
        Some(Fields { entries, name, ignored: Vec::new(), span: tree.span, misspelt: false })
    }

    /// A map with the keys of a table. Unknown and missing keys are errors; keys that this file may not use are
    /// warnings.
    pub(crate) fn fields<'t>(&mut self, tree: &'t Tree, table: &'static Table) -> Option<Fields<'t>> {
        if !matches!(&tree.value, Yaml::Map(_)) && tree.scalar().is_none_or(|text| !is_null(text)) {
            self.wrong_type_but(tree, &called(table.name), "a map", instead_of_map(tree, table));
            return None;
        }
        let mut fields = self.names(tree, table.name)?;
        for (key, _) in fields.iter() {
            match table.key(&key.text) {
                Some(known) if known.trusted && !self.is_trusted() => {
                    fields.ignored.push(&key.text);
                    self.warning(
                        key.span,
                        format!("{} is not honoured from a repository's file", fields.label(&key.text)),
                        "put it into the user's file (`~/.config/lictor/governance.yaml`) or the managed one",
                    );
                }
                Some(_) => {}
                None => {
                    fields.misspelt = true;
                    let help = suggest(&key.text, "known here", table.keys.iter().map(|key| key.name));
                    self.error(key.span, format!("unknown key `{}`", shorten(&key.text)), help);
                }
            }
        }
        for key in table.keys.iter().filter(|key| key.required) {
            if !fields.misspelt && fields.get(key.name).is_none() {
                let message = format!("{} has no `{}`", called(table.name), key.name);
                let help = format!("add `{}: {}`", key.name, key.example);
                self.error(fields.span, message, help);
            }
        }
        Some(fields)
    }

    /// A field, read in some way.
    pub(crate) fn field<T>(
        &mut self,
        fields: &Fields<'_>,
        key: &str,
        read: impl FnOnce(&mut Self, &Tree, &str) -> Option<T>,
    ) -> Option<T> {
        let tree = fields.get(key)?;
        let label = fields.label(key);
        read(self, tree, &label)
    }

    fn wrong_type(&mut self, tree: &Tree, what: &str, wanted: &str) {
        self.wrong_type_but(tree, what, wanted, "");
    }

    fn wrong_type_but(&mut self, tree: &Tree, what: &str, wanted: &str, help: impl Into<String>) {
        let found = match &tree.value {
            Yaml::Scalar { text, quoted: false } if is_null(text) => "nothing".to_owned(),
            Yaml::Scalar { text, .. } => format!("`{}`", shorten(text)),
            Yaml::List(_) => "a list".to_owned(),
            Yaml::Map(_) => "a map".to_owned(),
        };
        self.error(tree.span, format!("{what} must be {wanted}, found {found}"), help);
    }
}

/// The suggestion where a map is expected.
fn instead_of_map(tree: &Tree, table: &Table) -> String {
    match tree.scalar().and_then(|text| text.split_once(':')) {
        Some((key, value)) if !value.starts_with(char::is_whitespace) && table.key(key).is_some() => {
            return format!("write a space behind the colon: `{key}: {value}`");
        }
        _ => {}
    }
    let key = table.keys.iter().find(|key| key.required).or_else(|| table.keys.first());
    match key {
        Some(key) if table.name.is_empty() => format!("begin with `{}: {}`", key.name, key.example),
        Some(key) => format!("for example `{{{}: {}}}`", key.name, key.example),
        None => String::new(),
    }
}

/// The name of a map in messages, from the name of its table.
fn called(name: &str) -> String {
    match (name.strip_suffix(".*"), name.strip_suffix("[]")) {
        _ if name.is_empty() => "a policy".to_owned(),
        (Some(section), _) => format!("an entry of `{section}`"),
        (_, Some(section)) => format!("an item of `{section}`"),
        _ => format!("`{name}`"),
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_owned() } else { text.chars().take(39).chain(['…']).collect() }
}
