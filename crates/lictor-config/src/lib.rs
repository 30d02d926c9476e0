//! `governance.yaml`: read with positions, checked all at once, layered by narrowing, compiled to a policy graph.
//!
//! [`load`] reads the files it is given; a [`PolicyBundle`] is the result of all of them, can be stored, and
//! builds the [`Graph`](lictor_core::Graph) that judges. The keys of the format are tables (`table.rs`,
//! `sections/`): reader, suggestions, JSON Schema and reference are all derived from them.
//!
//! What this crate deliberately does not do: run anything that a policy names (programs are handed to a
//! [`Runner`]), look for files (the caller passes them), or guess: unknown input is refused with file, line,
//! column and a suggestion.

mod advice;
mod as_text;
mod command;
mod deferred;
pub mod diagnostic;
mod expressions;
mod file;
mod graph;
mod history;
mod lint;
mod load;
mod merged;
mod plain_yaml;
mod policy;
pub mod policy_tests;
mod reader;
mod redact;
mod reference;
mod schema;
pub mod sections;
mod shared;
mod source;
mod table;
mod yaml;

pub use advice::Named;
pub use command::{Asked, Runner};
pub use deferred::Deferred;
pub use diagnostic::{Diagnostic, Severity, Span};
pub use expressions::{Condition, schema as expression_schema};
pub use graph::{BuildEnv, BuildError, Built};
pub use load::{LoadError, Loaded, load};
pub use merged::Setting;
pub use plain_yaml::{read_plain, write_plain};
pub use policy::{Layered, PolicyBundle, Program, VERSION};
pub use reader::millis;
pub use redact::Redactor;
pub use reference::reference_markdown;
pub use schema::{SCHEMA_FILE, schema};
pub use sections::{Away, RetentionConfig, ServerConfig};
pub use source::{Origin, Source};
