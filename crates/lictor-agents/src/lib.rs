//! One file per coding agent: its input becomes an [`Event`], Lictor's decision becomes the bytes and the exit
//! code that this agent obeys.
//!
//! Nothing here judges an action and nothing here but `transcripts` reads files: translation is a pure function
//! of the hook's input, and editing an agent's settings ([`install`]) takes text and returns text.
//!
//! ```
//! use lictor_agents::{Agent, Block, EventKind, HookEnv, Reply, parse, render};
//!
//! let stdin = br#"{"session_id": "s1", "cwd": "/work", "permission_mode": "default",
//!     "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git push --force"}}"#;
//! let event = parse(Agent::ClaudeCode, Some("PreToolUse"), stdin, &HookEnv::default()).unwrap();
//! let EventKind::PreTool(action) = &event.kind else { panic!() };
//! assert_eq!(action.text("command"), Some("git push --force"));
//!
//! let reply = Reply::Block(Block {
//!     reason: "a force push rewrites what others have".into(),
//!     fix: "push to a new branch and open a pull request".into(),
//!     id: Some("0f3a".into()),
//! });
//! let answer = render(&event.slot, &reply);
//! assert!(answer.stdout.contains("rewrites what others have") && answer.exit == 2);
//! ```

mod agent;
mod caller;
mod capabilities;
pub mod commands;
#[cfg(feature = "conformance")]
pub mod conformance;
mod contract;
mod event;
pub mod files;
mod input;
pub mod install;
pub mod launch;
mod outcome;
mod parse;
mod reply;
mod spec;
mod tools;
#[cfg(feature = "transcripts")]
pub mod transcripts;
pub mod trust;

pub use agent::{Agent, UnknownAgent};
pub use capabilities::Capabilities;
pub use contract::Moment;
pub use event::{Event, EventKind, Outcome, PermissionMode, SessionSource, Status, Stop, twin_digest};
pub use input::{MAX_INPUT, Unreadable};
pub use parse::{HookEnv, NotUnderstood, parse};
pub use reply::{Ask, Block, HookContext, Rendered, Reply, render, slots};
