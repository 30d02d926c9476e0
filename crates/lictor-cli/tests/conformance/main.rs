//! Every agent's contract through the real binary: recorded payloads, one intent in every agent's words, whole sessions.

mod fake;
mod intents;
mod payloads;
#[path = "../cli/sandbox.rs"]
#[expect(dead_code, reason = "shared with the tests of the commands")]
mod sandbox;
mod sessions;
