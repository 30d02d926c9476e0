//! Queries of the record for people: sessions by name, decisions by time, text and rule, and statistics.
//!
//! Works on the store alone, without a policy.

mod decisions;
mod sessions;
mod summary;

pub use decisions::{
    COUNTED, Decided, Decisions, Further, Wanted, decided, first_since, further_decisions, newest_decisions,
    rules_of, said_by, title,
};
pub use sessions::{SessionError, find_session, sessions};
pub use summary::{Counts, Example, RuleUse, Summary, Waits};
