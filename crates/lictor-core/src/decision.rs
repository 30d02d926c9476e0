//! The four public decisions and the five inner values.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What Lictor says about an action, from lenient to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Go ahead; nothing to say.
    Pass,
    /// Go ahead; there is a remark.
    Warn,
    /// Only with a person's yes.
    Ask,
    /// No.
    Block,
}

impl Decision {
    /// Whether the action may go ahead as it is. `ask` may not.
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

/// What a node of the graph yields: a decision, or the knowledge that something failed.
///
/// `Error` stands just below `Block`: it stops the action but is not known to be a refusal. With it on top,
/// `Not(Any(error, block))` would let a fault allow something.
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

    /// What the outside sees: an error that reached the root is a block.
    #[must_use]
    pub fn settle(self) -> Decision {
        match self {
            Self::Pass => Decision::Pass,
            Self::Warn => Decision::Warn,
            Self::Ask => Decision::Ask,
            Self::Error | Self::Block => Decision::Block,
        }
    }

    /// The table of `Not`: only a certain block turns into a pass.
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
