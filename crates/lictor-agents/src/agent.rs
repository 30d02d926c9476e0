//! The supported agents: one file for each, and its entry in the list below.

mod antigravity;
mod claude_code;
mod cline;
mod codex;
mod copilot_cli;
mod crush;
mod cursor;
mod factory;
mod gemini_cli;
mod goose;
mod kilo;
mod kimi;
mod opencode;
mod qwen_code;
mod vscode;
mod windsurf;

use std::fmt;
use std::str::FromStr;

use crate::spec::AgentSpec;

/// Declares the agents: the variant and the module with its specification.
macro_rules! agents {
    ($($(#[$doc:meta])* $variant:ident: $module:ident,)*) => {
        /// A coding agent.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Agent {
            $($(#[$doc])* $variant,)*
        }

        impl Agent {
            /// All of them.
            pub const ALL: [Self; [$(stringify!($variant)),*].len()] = [$(Self::$variant,)*];

            pub(crate) fn spec(self) -> &'static AgentSpec {
                match self {
                    $(Self::$variant => &$module::SPEC,)*
                }
            }
        }
    };
}

agents! {
    /// Anthropic's Claude Code.
    ClaudeCode: claude_code,
    /// OpenAI's Codex CLI.
    Codex: codex,
    /// Google's Gemini CLI.
    GeminiCli: gemini_cli,
    /// Cursor, the editor and `cursor-agent`.
    Cursor: cursor,
    /// GitHub Copilot CLI.
    CopilotCli: copilot_cli,
    /// Agents in VS Code.
    VsCode: vscode,
    /// OpenCode, through a plugin that calls the binary.
    OpenCode: opencode,
    /// Google's Antigravity CLI.
    Antigravity: antigravity,
    /// Factory's Droid.
    Factory: factory,
    /// Windsurf Cascade.
    Windsurf: windsurf,
    /// Alibaba's Qwen Code.
    QwenCode: qwen_code,
    /// Kilo, through the plugin that OpenCode takes too.
    Kilo: kilo,
    /// Moonshot's Kimi Code.
    Kimi: kimi,
    /// Goose, of the Agentic AI Foundation.
    Goose: goose,
    /// Charm's Crush.
    Crush: crush,
    /// Cline, through a plugin that calls the binary.
    Cline: cline,
}

impl Agent {
    /// The name used on the command line, in policies and in session keys.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The tool with which it submits a structured final answer, if it has one.
    #[must_use]
    pub fn answers_by(self) -> Option<&'static str> {
        self.spec().answers_by
    }

    /// Its own tools, as it names them.
    pub fn tools(self) -> impl Iterator<Item = &'static str> {
        self.spec().tools.iter().map(|(name, _)| *name)
    }

    /// Directories below the home directory, besides those of its governing files, in which it keeps its conversations.
    pub fn state(self) -> impl Iterator<Item = &'static str> {
        self.spec().state.iter().copied()
    }

    /// The script that hosts its plugins, if that is a separate process.
    #[must_use]
    pub fn plugin_host(self) -> Option<&'static str> {
        self.spec().plugin_host
    }

    /// Programs by which it is started.
    pub fn programs(self) -> impl Iterator<Item = &'static str> {
        let spec = self.spec();
        let launched = spec.launch.as_ref().map_or(&[][..], |launch| launch.programs);
        launched.iter().chain(spec.editors).copied()
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no agent's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent called `{0}`; {instead}", instead = self.instead())]
pub struct UnknownAgent(pub String);

impl UnknownAgent {
    /// The agent that begins like this (`claude`, `gemini`), or all of them.
    fn instead(&self) -> String {
        let word = self.0.to_ascii_lowercase();
        let begun = |name: &str| name.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
        let nearest = Agent::ALL.into_iter().map(Agent::name).max_by_key(|name| begun(name));
        match nearest.filter(|name| begun(name) >= 4) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("use one of {}", Agent::ALL.map(Agent::name).join(", ")),
        }
    }
}

impl FromStr for Agent {
    type Err = UnknownAgent;

    fn from_str(name: &str) -> Result<Self, UnknownAgent> {
        Self::ALL.into_iter().find(|agent| agent.name() == name).ok_or_else(|| UnknownAgent(name.to_owned()))
    }
}
