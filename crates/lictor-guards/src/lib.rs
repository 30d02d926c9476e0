//! The built-in guards, one file each, and the rule packs.
//!
//! Guards see only [`Facts`](lictor_core::Facts): what an action would really do, worked out by `lictor-observe`. A
//! guard never looks at the world and never reads shell text itself (user-written `blocked_patterns` are the one
//! exception: they are matched with the text as well).
//!
//! [`Rules`] evaluates packs: tables that `build.rs` makes out of `packs/*.yaml`, so that nothing is parsed at start.
//!
//! What this crate deliberately does not do: I/O, clocks, threads, reading `governance.yaml` (`lictor-config` fills the
//! configuration structs), and keeping state (sessions are a fold of the event log).
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod bash_safety;
mod file_boundary;
mod normal;
mod pattern;
mod rules;
mod self_protection;

pub use bash_safety::{BashSafety, BashSafetyConfig};
pub use file_boundary::{FileBoundary, FileBoundaryConfig, RedLineMode};
pub use pattern::{Pattern, PatternError};
pub use rules::{Pack, Rule, Rules, RulesConfig, RulesError};
pub use self_protection::SelfProtection;
