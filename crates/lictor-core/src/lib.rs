//! The pure model of Lictor.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod action;
pub mod canonical;
pub mod clock;
pub mod decision;
pub mod digest;
pub mod facts;
pub mod risk;
pub mod verdict;

pub use action::{Action, ActionKind, Actor, SessionKey};
pub use clock::{Clock, FixedClock, Timestamp};
pub use decision::{Decision, Value};
pub use digest::Digest;
pub use facts::Facts;
pub use risk::Risk;
pub use verdict::Verdict;
