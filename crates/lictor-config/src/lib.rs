//! `governance.yaml`: read with positions, checked all at once, layered by narrowing, compiled to a policy graph.
//!
//! What this crate deliberately does not do: run anything that a policy names (command guards and callbacks are
//! handed out as descriptions), look for files (the caller says which ones there are), or guess: what it does
//! not understand is refused with file, line, column and a suggestion.

pub mod diagnostic;
mod reader;
mod yaml;

pub use diagnostic::{Diagnostic, Severity, Span};
pub use reader::millis;
