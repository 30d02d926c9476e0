//! What a policy says that is allowed but probably not meant.

mod conditions;
mod graph;
mod lists;
mod never;
mod overlap;

use crate::diagnostic::{Diagnostic, Span};
use crate::file::PolicyFile;

/// What is worth a look in one file, in the order of the file.
pub(crate) fn lint(file: &PolicyFile) -> Vec<Diagnostic> {
    let mut lint = Lint { file, found: Vec::new() };
    lists::look(&mut lint);
    overlap::look(&mut lint);
    never::look(&mut lint);
    conditions::look(&mut lint);
    graph::look(&mut lint);
    lint.found.sort_by_key(|problem| (problem.span.line, problem.span.column));
    lint.found
}

/// One look at one file.
struct Lint<'a> {
    file: &'a PolicyFile,
    found: Vec<Diagnostic>,
}

impl Lint<'_> {
    fn warn(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.found.push(Diagnostic::warning(&self.file.path, span, message).help(help));
    }
}
