//! One parsed file: its tree with positions and its typed sections.

use crate::diagnostic::{Diagnostic, Severity};
use crate::reader::Reader;
use crate::sections::{self, Sections};
use crate::source::{Origin, Source};
use crate::yaml::{self, Tree};

/// A policy file that could be read.
#[derive(Debug, Clone)]
pub(crate) struct PolicyFile {
    pub(crate) origin: Origin,
    pub(crate) path: String,
    /// Its source text, to show places inside a value.
    pub(crate) text: String,
    pub(crate) tree: Tree,
    pub(crate) sections: Sections,
}

impl PolicyFile {
    /// Reads one file. Warnings come with the file, errors instead of it.
    pub(crate) fn read(source: &Source) -> Result<(Self, Vec<Diagnostic>), Vec<Diagnostic>> {
        let tree = yaml::parse(&source.path, &source.bytes)?;
        let text = std::str::from_utf8(&source.bytes).unwrap_or_default();
        let mut reader = Reader::new(&source.path, source.origin, text);
        let sections = sections::read(&mut reader, &tree);
        let problems = reader.finish();
        let refused = problems.iter().any(|problem| problem.severity == Severity::Error);
        match sections {
            Some(sections) if !refused => {
                let text = text.to_owned();
                Ok((
                    Self { origin: source.origin, path: source.path.clone(), text, tree, sections },
                    problems,
                ))
            }
            _ => Err(problems),
        }
    }
}
