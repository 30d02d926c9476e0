//! Loads files into a policy, or returns all their errors.

use std::fmt;

use lictor_core::Fixable;

use crate::diagnostic::{Diagnostic, Severity};
use crate::file::PolicyFile;
use crate::lint::lint;
use crate::policy::{Layered, PolicyBundle};
use crate::source::Source;

/// A policy, and the warnings of its files.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The combined policy.
    pub policy: PolicyBundle,
    /// Problems that do not refuse it.
    pub warnings: Vec<Diagnostic>,
    pub(crate) files: Vec<PolicyFile>,
}

impl Loaded {
    /// All warnings, file by file: from parsing and from lints.
    #[must_use]
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for file in &self.files {
            let read = self.warnings.iter().filter(|problem| problem.file == file.path);
            let mut here: Vec<Diagnostic> = read.cloned().chain(lint(file)).collect();
            here.sort_by_key(|problem| (problem.span.line, problem.span.column));
            found.append(&mut here);
        }
        found
    }
}

/// Why a policy is refused: all errors, in the order of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// Errors and warnings. At least one is an error.
    pub diagnostics: Vec<Diagnostic>,
}

impl LoadError {
    fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|problem| problem.severity == Severity::Error)
    }
}

/// The first problem and how many there are, in one line.
impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the policy is refused: ")?;
        match self.errors().next() {
            Some(first) => {
                write!(f, "{}:{}:{}: {}", first.file, first.span.line, first.span.column, first.message)?
            }
            None => f.write_str("it could not be read")?,
        }
        match self.errors().count() {
            0 | 1 => Ok(()),
            2 => f.write_str(" (and one more problem)"),
            count => write!(f, " (and {} more problems)", count - 1),
        }
    }
}

impl std::error::Error for LoadError {}

impl Fixable for LoadError {
    fn kind(&self) -> &'static str {
        "policy_refused"
    }

    fn fix(&self) -> &'static str {
        "correct the policy; `lictor check` shows everything"
    }
}

/// Reads and combines the files. Their order does not matter; an absent file is left out.
///
/// # Errors
/// All errors in all of the files.
pub fn load(sources: &[Source]) -> Result<Loaded, LoadError> {
    let mut sources: Vec<&Source> = sources.iter().collect();
    sources.sort_by_key(|source| source.origin);
    let mut files = Vec::new();
    let mut problems = Vec::new();
    let mut refused = false;
    for source in &sources {
        match PolicyFile::read(source) {
            Ok((file, warnings)) => {
                files.push(file);
                problems.extend(warnings);
            }
            Err(found) => {
                refused = true;
                problems.extend(found);
            }
        }
    }
    if refused {
        return Err(LoadError { diagnostics: problems });
    }
    let layers: Vec<_> = files
        .iter()
        .map(|file| Layered { origin: file.origin, path: file.path.clone(), sections: file.sections.clone() })
        .collect();
    let policy = PolicyBundle { key: PolicyBundle::key_of(sources), layers: layers.into() };
    Ok(Loaded { policy, warnings: problems, files })
}
