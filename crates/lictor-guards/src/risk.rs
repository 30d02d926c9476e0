//! Stops an action when earlier guards have raised the risk too far. Place it last.

use lictor_core::{Action, Context, Fixable, Guard, Risk, Verdict};
use serde::{Deserialize, Serialize};

/// The configuration of `risk:`: fractions between 0 and 1.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct RiskConfig {
    /// From here on a person is asked.
    pub ask_at: Option<f64>,
    /// From here on it is blocked.
    pub block_at: Option<f64>,
}

/// A threshold that is not a risk.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("`{0}` is not a risk; give a number between 0 and 1")]
pub struct RiskError(pub f64);

impl Fixable for RiskError {
    fn kind(&self) -> &'static str {
        "not_a_risk"
    }

    fn fix(&self) -> &'static str {
        "give a number between 0 and 1"
    }
}

/// Asks or blocks at a risk score.
#[derive(Debug, Clone, Copy)]
pub struct RiskLimit {
    ask_at: Option<Risk>,
    block_at: Option<Risk>,
}

impl RiskLimit {
    /// A guard with these thresholds.
    ///
    /// # Errors
    /// A threshold outside 0 to 1.
    pub fn new(config: RiskConfig) -> Result<Self, RiskError> {
        let risk = |value: Option<f64>| match value {
            None => Ok(None),
            Some(value) if value <= 1.0 => Risk::from_fraction(value).map(Some).ok_or(RiskError(value)),
            Some(value) => Err(RiskError(value)),
        };
        Ok(Self { ask_at: risk(config.ask_at)?, block_at: risk(config.block_at)? })
    }
}

impl Guard for RiskLimit {
    fn name(&self) -> &str {
        "risk"
    }

    fn check(&self, _action: &Action, context: &mut Context<'_>) -> Verdict {
        let risk = context.risk();
        if let Some(limit) = self.block_at.filter(|limit| risk >= *limit) {
            return Verdict::block(
                format!("the risk of this action is {risk}, and {limit} is too much"),
                "split it into smaller steps that each touch less",
            );
        }
        match self.ask_at.filter(|limit| risk >= *limit) {
            Some(limit) => {
                Verdict::ask(format!("the risk of this action is {risk}; from {limit} on a person decides"))
                    .with_fix("split it into smaller steps that each touch less")
            }
            None => Verdict::pass(),
        }
    }
}

#[cfg(test)]
mod tests;
