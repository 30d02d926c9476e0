//! The binary as its users run it: a real process, an empty home, a fresh repository.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

mod agent;
mod agent_trust;
mod allow;
mod approvals;
mod audit;
mod check;
mod completions;
mod contexts;
mod councils;
mod daily;
mod demo;
mod described;
mod doctor;
mod eval;
mod faults;
mod fixes;
mod golden;
mod governed;
mod guardrails;
mod hook;
mod init;
mod json_schema;
mod ledger;
mod looking_back;
mod mcp;
mod mistakes;
mod month;
mod policies;
mod policy_change;
mod policy_life;
mod policy_tests;
mod progress;
mod redact;
mod retention;
mod rpc;
mod run;
mod sandbox;
mod terminal;
mod tools;
mod undo;
