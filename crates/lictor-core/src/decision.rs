//! The four public decisions and the five internal values.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The decision about an action, from lenient to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Allowed, without a message.
    Pass,
    /// Allowed, with a remark.
    Warn,
    /// Allowed only if a person approves.
    Ask,
    /// Refused.
    Block,
}

impl Decision {
    /// Whether the action may proceed now. `ask` may not.
    #[must_use]
    pub fn allows(self) -> bool {
        self <= Self::Warn
    }

    /// The word used in output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Ask => "ask",
            Self::Block => "block",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The value of a node in the graph: a decision, or `Error` when the node failed.
///
/// `Error` ranks just below `Block`: it stops the action but is not a deliberate refusal. If it ranked highest,
/// `Not(Any(error, block))` would turn a failure into a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// As [`Decision::Pass`].
    Pass,
    /// As [`Decision::Warn`].
    Warn,
    /// As [`Decision::Ask`].
    Ask,
    /// A guard panicked, ran out of time or could not be evaluated.
    Error,
    /// As [`Decision::Block`].
    Block,
}

impl Value {
    /// All five, from lenient to strict.
    pub const ALL: [Self; 5] = [Self::Pass, Self::Warn, Self::Ask, Self::Error, Self::Block];

    /// The public decision: an error at the root becomes a block.
    #[must_use]
    pub fn settle(self) -> Decision {
        match self {
            Self::Pass => Decision::Pass,
            Self::Warn => Decision::Warn,
            Self::Ask => Decision::Ask,
            Self::Error | Self::Block => Decision::Block,
        }
    }

    /// The table of `Not`: only a definite block becomes a pass.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::Pass | Self::Warn => Self::Block,
            Self::Ask | Self::Error => Self::Error,
            Self::Block => Self::Pass,
        }
    }

    /// The word used in traces.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            other => other.settle().as_str(),
        }
    }
}

impl From<Decision> for Value {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Pass => Self::Pass,
            Decision::Warn => Self::Warn,
            Decision::Ask => Self::Ask,
            Decision::Block => Self::Block,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
