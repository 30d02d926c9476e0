//! Lictor as a library: a governance runtime for AI agents.
//!
//! [`Runtime`] is a governed project: it reads the policy files, opens the record, and judges.
//!
//! ```
//! use lictor::{Action, Decision, Options, Outcome, Runtime};
//!
//! # let dir = tempfile::tempdir()?;
//! # let options = Options::from_process().home(dir.path());
//! # let path = dir.path().join("project");
//! # std::fs::create_dir(&path)?;
//! let lictor = Runtime::open_with(&path, options)?; // or Runtime::open(path)
//! let evaluation = lictor.evaluate(&Action::bash("rm -rf /").in_session("s1"));
//! assert_eq!(evaluation.decision, Decision::Block);
//! println!("{}\nfix: {}", evaluation.reason(), evaluation.fix());
//!
//! let list = Action::bash("ls").in_session("s1");
//! assert!(lictor.evaluate(&list).passed());
//! lictor.post(&list, Outcome::success())?;
//! assert_eq!(lictor.session(list.session.as_ref().unwrap())?.block_count, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`PolicyEngine`] is the underlying evaluator: a policy graph of your own guards with any store. Everything of
//! `lictor-engine` and `lictor-core` is re-exported here; the other parts are modules: [`config`] reads policy
//! files, [`agents`] implements the agents' hook protocols, [`ledger`] stores findings, [`store`] stores the
//! record.
//!
//! ```
//! use lictor::{Action, All, PolicyEngine, Verdict, guard_fn};
//!
//! let engine = PolicyEngine::new(All::new([guard_fn("no_deploy", |action, _| match action.text("command") {
//!     Some(command) if command.starts_with("deploy") => Verdict::block("no deploys", "open a pull request"),
//!     _ => Verdict::pass(),
//! })]))?;
//! assert!(!engine.evaluate(&Action::bash("deploy prod")).passed());
//! assert!(engine.evaluate(&Action::bash("ls")).passed());
//! # Ok::<(), lictor::GraphError>(())
//! ```
//!
//! The library reads no environment variable and keeps no global: what it needs of the process is passed in
//! [`Options`].

pub mod allow;
mod ancestry;
pub mod anchor;
pub mod checkpoint;
mod commit_gate;
pub mod companion;
pub mod councils;
pub mod demo;
pub mod diff;
pub mod dirs;
pub mod drawing;
mod earlier;
mod error;
pub mod fault;
mod files;
pub mod forms;
mod git_switch;
pub mod governed;
pub mod hook;
pub mod keeping;
mod memory;
mod options;
pub mod policy_files;
pub mod policy_run;
mod probe;
mod programs;
mod project;
mod project_ledger;
pub mod remembered;
pub mod rpc;
mod runtime;
mod sandboxed;
pub mod session_home;
pub mod share;
pub mod team;
mod trust;

pub use lictor_agents as agents;
pub use lictor_config as config;
pub use lictor_engine::*;
pub use lictor_ledger as ledger;
pub use lictor_store as store;

pub use councils::{ActiveCouncils, CouncilMoment, summoned::Looked};
pub use dirs::Dirs;
pub use error::Error;
pub use hook::HookReply;
pub use memory::bound_memory;
pub use options::{Environment, Options};
pub use policy_files::Snapshot;
pub use programs::NoPrograms;
pub use project::Project;
pub use project_ledger::{Committed, Invited, ProgressFn, ProjectLedger, gate};
pub use runtime::{Posted, Runtime, StopRequest};
pub use trust::Program;

/// The samples of the page are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryPage;
