//! The only place that inspects the machine: turns an [`Action`](lictor_core::Action) into
//! [`Facts`](lictor_core::Facts).
//!
//! `lictor-shell` returns the symbolic effects of a command. This crate resolves them through an [`Observer`]
//! (symbolic links, globs, git aliases, script bodies, the home directory) and gives every path a
//! [`Place`](lictor_core::facts::Place): its zone, what exists there, whether it is a secret or one of Lictor's
//! own files. Facts are part of the event, so that a replay reads no files.
//!
//! What this crate deliberately does not do: decide anything, change anything, start a program (git's files are
//! read, git is not run), or track changes afterwards. It is lazy: an action without paths costs no system call.

pub mod describe;
mod edits;
mod facts;
mod git;
mod governing_file;
mod identity;
mod incoming;
mod members;
mod observer;
mod pins;
mod place;
mod project;
mod shell_env;
mod zone;

pub use edits::{NoEdits, OwnEdits, edited};
pub use facts::{as_task, facts, facts_after};
pub use governing_file::governing_in_projects;
pub use lictor_shell::GitWords;
pub use lictor_shell::programs::recipes_of;
pub use observer::{FakeObserver, Identity, Names, Observer, RealObserver, Seen, Stat};
pub use pins::{files_mentioned_in, files_named_by, pins};
pub use project::{DescribedTool, PolicyView, Project};
