//! The gate on real git repositories: what it stops, what it lets through, and each way around it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod binding;
mod bypass;
mod council;
mod hooks;
mod hostile;
mod tools;
mod world;
