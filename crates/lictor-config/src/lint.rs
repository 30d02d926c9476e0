//! Lints: policies that are valid but probably not intended.

mod conditions;
mod graph;
mod lists;
mod never;
mod overlap;

use crate::diagnostic::{Diagnostic, Span};
use crate::file::PolicyFile;

/// The lints of one file, in file order.
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
