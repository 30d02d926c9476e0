//! Ways out and programs that a file names, with their places, for whoever can try them.

use crate::diagnostic::Span;
use crate::load::Loaded;
use crate::yaml::{Tree, Yaml};

/// Something that a file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The file.
    pub file: String,
    /// Where in it.
    pub span: Span,
    /// What: the words of a program, or one command line that a `fix` recommends.
    pub words: Vec<String>,
}

impl Loaded {
    /// The command lines in backticks that the file's own `fix` texts recommend.
    #[must_use]
    pub fn recommended_commands(&self) -> Vec<Named> {
        let mut found = Vec::new();
        for file in &self.files {
            walk(&file.tree, "fix", &mut |tree| {
                let text = tree.scalar().unwrap_or_default();
                for command in text.split('`').skip(1).step_by(2).filter(|words| words.trim().contains(' ')) {
                    let words = vec![command.to_owned()];
                    found.push(Named { file: file.path.clone(), span: tree.span, words });
                }
            });
        }
        found
    }

    /// The programs that the files run, each with its arguments.
    #[must_use]
    pub fn named_programs(&self) -> Vec<Named> {
        let mut found = Vec::new();
        for file in &self.files {
            walk(&file.tree, "command", &mut |tree| {
                let words = tree.items().into_iter().filter_map(Tree::scalar).map(str::to_owned).collect();
                let span = tree.items().first().map_or(tree.span, |first| first.span);
                found.push(Named { file: file.path.clone(), span, words });
            });
        }
        found
    }
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
