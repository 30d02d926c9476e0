//! Every agent's contract through the real binary: recorded payloads, one intent in every agent's format, whole
//! sessions.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

mod councils;
mod fake;
mod intents;
mod payloads;
#[path = "../cli/sandbox.rs"]
#[expect(dead_code, reason = "shared with the tests of the commands")]
mod sandbox;
mod sessions;
