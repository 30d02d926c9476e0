//! The built-in guards, one file each, and the rule packs.
//!
//! Guards see only [`Facts`](lictor_core::Facts): what an action would really do, derived by `lictor-observe`. A
//! guard does no I/O and never parses shell text itself (user-written `blocked_patterns` are the one exception:
//! they are matched against the text as well).
//!
//! [`Rules`] evaluates packs: tables that `build.rs` generates from `packs/*.yaml`, so that nothing is parsed at
//! start.
//!
//! What this crate deliberately does not do: I/O, clocks, threads, reading `governance.yaml` (`lictor-config` fills the
//! configuration structs), and keeping state (sessions are a fold of the event log).
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod access;
mod audit;
mod bash_safety;
mod budget;
mod file_boundary;
mod intent;
mod known_tools;
mod layer_isolation;
mod network;
mod normal;
mod pattern;
mod rate_limit;
mod risk;
mod rules;
mod sandbox;
mod secrets;
mod self_protection;
#[cfg(test)]
mod testing;

pub use access::{Access, AccessConfig, AccessRow, Person};
pub use audit::{Audit, Recorder};
pub use bash_safety::{BashSafety, BashSafetyConfig, BashSafetyError};
pub use budget::{Budget, BudgetConfig};
pub use file_boundary::{BoundaryError, FileBoundary, FileBoundaryConfig, RedLineMode};
pub use intent::{Intent, IntentRule, Predicate};
pub use known_tools::{DESTRUCTIVE, KnownTools, KnownToolsConfig, RememberedTool, ServersWord};
pub use layer_isolation::{LayerConfig, LayerIsolation, LayersConfig, LayersError, MayTouch};
pub use network::{Network, NetworkConfig};
pub use pattern::{Pattern, PatternError};
pub use rate_limit::{RateLimit, RateLimitConfig};
pub use risk::{RiskConfig, RiskError, RiskLimit};
pub use rules::{Pack, Rule, RuleException, Rules, RulesConfig, RulesError, Unmet};
pub use sandbox::{Forbid, Sandbox, SandboxConfig};
pub use secrets::{Secrets, SecretsConfig};
pub use self_protection::SelfProtection;
