//! The maximum rate of actions in a session, or in all sessions of a tenant.

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
    of_tenant: bool,
}

impl RateLimit {
    /// A guard with that limit.
    #[must_use]
    pub fn new(config: RateLimitConfig) -> Self {
        Self { config, of_tenant: false }
    }

    /// A guard with that limit over all sessions of a tenant.
    #[must_use]
    pub fn of_tenant(config: RateLimitConfig) -> Self {
        Self { config, of_tenant: true }
    }
}

impl Guard for RateLimit {
    fn name(&self) -> &str {
        if self.of_tenant { "tenant_rate_limit" } else { "rate_limit" }
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
        let tenant = context.tenant().filter(|_| self.of_tenant);
        let counted = context.lineage().chain(tenant).map(|session| session.allowed_in_last_minute(now));
        let recent = counted.max().unwrap_or(0);
        let claim = Claim::Pace { per_minute: max };
        if context.claim(if self.of_tenant { Claim::Tenant(Box::new(claim)) } else { claim }) {
            return Verdict::pass();
        }
        let whose = if self.of_tenant { " of the tenant" } else { "" };
        Verdict::block(
            format!("{recent} actions{whose} were allowed in the last minute, and {max} may be"),
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
