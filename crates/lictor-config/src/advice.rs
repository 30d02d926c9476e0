//! Fixes and programs that a file names, with their places, for callers that can try them.

use crate::diagnostic::Span;
use crate::load::Loaded;
use crate::reader::Reader;
use crate::yaml::{Tree, Yaml};

/// Something that a file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The file.
    pub file: String,
    /// Its position in the file.
    pub span: Span,
    /// The words of a program, or one command line that a `fix` recommends.
    pub words: Vec<String>,
}

impl Loaded {
    /// The command lines in backticks that the file's own `fix` texts recommend, wherever a `fix` occurs. A
    /// command that a text only warns about (`instead of …`, `not …`) is not recommended.
    #[must_use]
    pub fn recommended_commands(&self) -> Vec<Named> {
        let mut found = Vec::new();
        for file in &self.files {
            walk(&file.tree, "fix", &mut |tree| {
                let reader = Reader::new(&file.path, file.origin, &file.text);
                for (at, command) in recommended(tree.scalar().unwrap_or_default()) {
                    let span = reader.inside(tree, at, at + command.len());
                    found.push(Named { file: file.path.clone(), span, words: vec![command.to_owned()] });
                }
            });
        }
        found
    }

    /// The paths that boundaries name, one each.
    #[must_use]
    pub fn named_paths(&self) -> Vec<Named> {
        let mut found = Vec::new();
        for file in &self.files {
            for key in ["red_line_files", "allowed_dirs", "blocked_paths"] {
                walk(&file.tree, key, &mut |tree| {
                    for item in tree.items() {
                        let words = item.scalar().map(str::to_owned).into_iter().collect();
                        found.push(Named { file: file.path.clone(), span: item.span, words });
                    }
                });
            }
        }
        found
    }

    /// The programs that the files run, each with its arguments.
    #[must_use]
    pub fn named_programs(&self) -> Vec<Named> {
        let mut found = Vec::new();
        for file in &self.files {
            // The command of an exception is run by an agent, not by Lictor.
            let sections = file.tree.entries().iter().filter(|(key, _)| key.text != "exceptions");
            for (_, section) in sections {
                walk(section, "command", &mut |tree| {
                    let words =
                        tree.items().into_iter().filter_map(Tree::scalar).map(str::to_owned).collect();
                    let span = tree.items().first().map_or(tree.span, |first| first.span);
                    found.push(Named { file: file.path.clone(), span, words });
                });
            }
        }
        found
    }
}

/// The recommended texts in backticks, with their offsets.
fn recommended(text: &str) -> impl Iterator<Item = (usize, &str)> {
    const WARNING: [&str; 7] = ["instead of", "rather than", "not", "never", "without", "don't run", "avoid"];
    let mut at = 0;
    let mut before = "";
    text.split('`').enumerate().filter_map(move |(index, part)| {
        let (start, said) = (at, before);
        at += part.len() + 1;
        before = part;
        let lead = said.trim_end().to_lowercase();
        let lead = lead.strip_suffix("run").or(lead.strip_suffix("use")).unwrap_or(&lead).trim_end();
        let warned = WARNING.iter().any(|word| lead.ends_with(word));
        (index % 2 == 1 && !part.trim().is_empty() && !warned).then_some((start, part))
    })
}

/// Every value under that key, in the order of the file.
fn walk<'t>(tree: &'t Tree, wanted: &str, found: &mut impl FnMut(&'t Tree)) {
    match &tree.value {
        Yaml::Scalar { .. } => {}
        Yaml::List(items) => items.iter().for_each(|item| walk(item, wanted, found)),
        Yaml::Map(entries) => {
            for (key, value) in entries {
                if key.text == wanted && !matches!(value.value, Yaml::Map(_)) {
                    found(value);
                } else {
                    walk(value, wanted, found);
                }
            }
        }
    }
}
