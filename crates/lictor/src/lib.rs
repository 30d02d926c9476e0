//! Lictor as a library: a [`PolicyEngine`] around a policy graph, a store and tracers.
//!
//! Governance meets an agent at two points: [`PolicyEngine::evaluate`] before the act and
//! [`PolicyEngine::post_action`] after it. Any program that can call two functions can be governed.
//!
//! What this crate deliberately does not do: read policy files (`lictor-config`), speak an agent's hook
//! protocol (`lictor-agents`), or print to stdout.

mod approvals;
mod engine;
mod governed;
pub mod log;
mod surroundings;
mod system_clock;
mod tracer;

pub use approvals::{ApprovalError, Approvals, GRANT_LASTS_MS};
pub use engine::{Asking, Builder, Mode, PolicyEngine};
pub use governed::{Blocked, enforce, governed};
pub use lictor_core::*;
pub use lictor_store::{MemoryStore, SqliteOptions, SqliteStore, Store, StoreError};
pub use surroundings::Surroundings;
pub use system_clock::SystemClock;
pub use tracer::{CollectingTracer, StderrTracer, Tracer};
