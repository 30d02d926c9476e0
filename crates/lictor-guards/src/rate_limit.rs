//! The maximum rate of actions in a session.

use lictor_core::{Action, Claim, Context, Guard, Layer, Verdict};
use serde::{Deserialize, Serialize};

/// The configuration of `rate_limit:`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct RateLimitConfig {
    /// Allowed actions in any minute.
    pub max_per_minute: u64,
}

/// Blocks when too many actions were allowed in the last minute, in the session or in a parent session. Blocked
/// attempts do not count, so that an agent that retries does not lock itself out.
#[derive(Debug, Clone, Copy)]
pub struct RateLimit {
    config: RateLimitConfig,
}

impl RateLimit {
    /// A guard with that limit.
    #[must_use]
    pub fn new(config: RateLimitConfig) -> Self {
        Self { config }
    }
}

impl Guard for RateLimit {
    fn name(&self) -> &str {
        "rate_limit"
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        if action.session.is_none() {
            return Verdict::error(
                "a rate limit counts per session, and the action has none",
                "set `session_id`",
            );
        }
        let max = self.config.max_per_minute;
        let now = context.now();
        let recent = context.lineage().map(|session| session.allowed_in_last_minute(now)).max().unwrap_or(0);
        if context.claim(Claim::Pace { per_minute: max }) {
            return Verdict::pass();
        }
        Verdict::block(
            format!("{recent} actions were allowed in the last minute, and {max} may be"),
            if max == 0 {
                "this policy allows no actions; report to a person"
            } else {
                "wait a minute, then go on"
            },
        )
    }

    fn layer(&self) -> Layer {
        Layer::Resource
    }
}

#[cfg(test)]
mod tests;
