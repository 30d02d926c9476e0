//! The pure model of Lictor.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod facts;
