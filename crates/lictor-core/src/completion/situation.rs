use serde::Serialize;

use super::Stop;
use crate::action::SessionKey;
use crate::clock::Timestamp;
use crate::session::SessionState;

/// The inputs of a check when an agent wants to stop.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The request: the last message, the reason, whether it is a subagent.
    pub stop: &'a Stop,
    /// The session's key.
    pub key: &'a SessionKey,
    /// The session.
    pub session: &'a SessionState,
    /// The current time.
    pub now: Timestamp,
    /// The number of this round, from 1.
    pub round: u32,
    /// The maximum number of rounds.
    pub of: u32,
    /// What is left of the limits.
    pub left: Left,
}

/// What is left of a session's limits. An absent field is unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Left {
    /// Milliseconds to the deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// Actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<u64>,
    /// Submitted tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u64>,
    /// Milliseconds of the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// Tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money, in millionths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}
