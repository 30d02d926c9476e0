//! Lictor as a library: a governance runtime for AI agents.
//!
//! [`PolicyEngine`] judges actions by a policy graph and records every judgement; everything of `lictor-engine` and
//! `lictor-core` is re-exported here. The parts around it are modules: [`config`] reads policy files, [`agents`] speaks
//! the agents' hook protocols, [`ledger`] keeps findings, [`store`] keeps the record.
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

pub use lictor_agents as agents;
pub use lictor_config as config;
pub use lictor_engine::*;
pub use lictor_ledger as ledger;
pub use lictor_store as store;
