//! Derives the symbolic effects of a shell command, an inline script or a patch.
//!
//! [`read`] takes the text of a command and returns which programs it runs and which files, hosts, repositories,
//! databases and processes they touch, as [`Effect`]s over [`Operand`]s: paths as far as the text itself
//! determines them. `lictor-observe` then inspects the file system and turns operands into places.
//!
//! The tree is used in two ways: everything is walked to find danger, but only a closed list of constructs counts
//! as understood. Everything else is reported as opaque, never dropped.
//!
//! What this crate deliberately does not do: read the file system, the environment or the clock (the few inputs
//! it needs come through [`ShellEnv`]); decide anything (guards do); expand globs; run code.
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

pub use operand::{Arg, Coding, Cwd, Found, Incoming, Known, Listed, Operand, Source, Taint};
pub use paths::TEMPORARY;
pub use programs::{GitChanges, GitWords};
pub use reading::{Done, Mention, Nowhere, Reading, ShellEnv};

pub use lictor_core::facts::Effect;
pub use walk::{governs_sessions, runs_at_start};

/// Says what a shell command does.
#[must_use]
pub fn read(text: &str, env: &dyn ShellEnv) -> Reading {
    walk::read(text, env)
}
