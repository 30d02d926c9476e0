//! What a shell command, an inline script or a patch does, in symbolic terms.
//!
//! [`read`] takes the text of a command and says which programs it runs and which files, hosts, repositories,
//! databases and processes they touch, as [`Effect`]s over [`Operand`]s: paths as far as the text itself tells.
//! `lictor-observe` then looks at the world and turns operands into places.
//!
//! Two readings of one tree: everything is walked to find danger; only a closed list of constructs counts as
//! understood. What is neither is reported as opaque, never dropped.
//!
//! What this crate deliberately does not do: look at the file system, the environment or the clock (the few
//! things it has to know come in through [`ShellEnv`]); decide anything (guards do); expand globs; run code.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod ast;
mod builtins;
pub mod call;
pub mod describe;
mod dialect;
mod expand;
mod flows;
mod forkbomb;
mod gitalias;
mod harmless;
pub mod languages;
mod operand;
mod parser;
pub mod patch;
mod paths;
pub mod programs;
mod reading;
mod state;
mod walk;
mod words;

pub use operand::{Arg, Cwd, Found, Incoming, Known, Listed, Operand, Source, Taint};
pub use programs::{GitChanges, GitWords};
pub use reading::{Done, Mention, Nowhere, Reading, ShellEnv};

pub use lictor_core::facts::Effect;
pub use walk::{governs_sessions, runs_at_start};

/// Says what a shell command does.
#[must_use]
pub fn read(text: &str, env: &dyn ShellEnv) -> Reading {
    walk::read(text, env)
}
