//! The expression language of governance.yaml: a checked subset of [CEL] plus history operators.
//!
//! An expression is compiled against a [`Schema`], which declares what it may read, with types. Errors that can
//! be detected at load are reported at load, with the place and a suggestion. Errors that depend on the data (an
//! absent field, a payload of the wrong shape) are an [`EvalError`] and never `false`. All limits are in
//! [`limits`]: no expression can take unbounded time, memory or stack on any input.
//!
//! This crate does no I/O. It does not know what an action or a session is: the roots come from the [`Schema`],
//! their values from an [`Env`]. It does not evaluate history operators either: it parses them
//! ([`Program::history`]) and gets their values from the environment.
//!
//! ```
//! use lictor_expr::{Program, Schema, Type};
//! use serde_json::json;
//!
//! let schema = Schema::builder()
//!     .record("action", [("kind", Type::String), ("task_type", Type::optional(Type::String))])
//!     .root("payload", Type::map(Type::Dyn))
//!     .build();
//!
//! let source = r#"action.kind != "deploy" || payload.ticket.matches("^OPS-[0-9]+$")"#;
//! let program = Program::compile(source, &schema, &Type::Bool).map_err(|errors| format!("{errors:?}"))?;
//!
//! let env = json!({"action": {"kind": "deploy"}, "payload": {"ticket": "OPS-7"}});
//! let env = env.as_object().ok_or("an object")?;
//! assert_eq!(program.test(env), Ok(true));
//!
//! // A missing field is an error, which a policy turns into a block.
//! let env = json!({"action": {"kind": "deploy"}, "payload": {}});
//! let env = env.as_object().ok_or("an object")?;
//! assert!(program.test(env).is_err());
//!
//! // A slip is found at load.
//! let errors = Program::compile("acton.kind == 'x'", &schema, &Type::Bool).unwrap_err();
//! assert_eq!(errors[0].to_string(), "there is no `acton`; did you mean `action`?");
//! assert_eq!((errors[0].span.start, errors[0].span.end), (0, 5));
//! # Ok::<(), String>(())
//! ```
//!
//! [CEL]: https://cel.dev

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod limits;

mod check;
mod error;
mod eval;
mod explain;
mod history;
mod lexer;
mod outlook;
mod parser;
mod program;
mod schema;
mod span;
mod suggest;
mod syntax;
mod value;

pub use error::{CompileError, EvalError};
pub use eval::Env;
pub use explain::{Outcome as StepOutcome, Step};
pub use history::{HistoryOp, HistoryValue, Outcome, Pattern, What};
pub use outlook::{Outlook, Part, pattern_covers};
pub use program::{Program, format};
pub use schema::{Record, Schema, SchemaBuilder, Type};
pub use span::Span;
pub use value::{List, Map, Object, Sequence, Text, Value, ValueKind};
