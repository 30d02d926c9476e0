//! The agents that Lictor speaks to, and the contract of each as data.

use std::fmt;
use std::str::FromStr;

use crate::contract::Contract;

mod claude_code;

/// A coding agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Agent {
    /// Anthropic's Claude Code.
    ClaudeCode,
}

impl Agent {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::ClaudeCode];

    /// The name used on the command line, in policies and in session keys.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
        }
    }

    pub(crate) fn contract(self) -> &'static Contract {
        match self {
            Self::ClaudeCode => &claude_code::CONTRACT,
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no agent's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent called `{0}`; use one of {names}", names = Agent::ALL.map(Agent::name).join(", "))]
pub struct UnknownAgent(pub String);

impl FromStr for Agent {
    type Err = UnknownAgent;

    fn from_str(name: &str) -> Result<Self, UnknownAgent> {
        Self::ALL.into_iter().find(|agent| agent.name() == name).ok_or_else(|| UnknownAgent(name.to_owned()))
    }
}
