//! The agents that Lictor speaks to, and the contract of each as data.

use std::fmt;
use std::str::FromStr;

use crate::contract::Contract;

mod antigravity;
mod claude_code;
mod codex;
mod copilot_cli;
mod cursor;
mod factory;
mod gemini_cli;
mod opencode;
mod vscode;
mod windsurf;

/// A coding agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Agent {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// OpenAI's Codex CLI.
    Codex,
    /// Google's Gemini CLI.
    GeminiCli,
    /// Cursor, the editor and `cursor-agent`.
    Cursor,
    /// GitHub Copilot CLI.
    CopilotCli,
    /// Agents in VS Code.
    VsCode,
    /// OpenCode, through a plugin that calls the binary.
    OpenCode,
    /// Google's Antigravity CLI.
    Antigravity,
    /// Factory's Droid.
    Factory,
    /// Windsurf Cascade.
    Windsurf,
}

impl Agent {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::GeminiCli,
        Self::Cursor,
        Self::CopilotCli,
        Self::VsCode,
        Self::OpenCode,
        Self::Antigravity,
        Self::Factory,
        Self::Windsurf,
    ];

    /// The name used on the command line, in policies and in session keys.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::Cursor => "cursor",
            Self::CopilotCli => "copilot-cli",
            Self::VsCode => "vscode",
            Self::OpenCode => "opencode",
            Self::Antigravity => "antigravity",
            Self::Factory => "factory",
            Self::Windsurf => "windsurf",
        }
    }

    pub(crate) fn contract(self) -> &'static Contract {
        match self {
            Self::ClaudeCode => &claude_code::CONTRACT,
            Self::Codex => &codex::CONTRACT,
            Self::GeminiCli => &gemini_cli::CONTRACT,
            Self::Cursor => &cursor::CONTRACT,
            Self::CopilotCli => &copilot_cli::CONTRACT,
            Self::VsCode => &vscode::CONTRACT,
            Self::OpenCode => &opencode::CONTRACT,
            Self::Antigravity => &antigravity::CONTRACT,
            Self::Factory => &factory::CONTRACT,
            Self::Windsurf => &windsurf::CONTRACT,
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
