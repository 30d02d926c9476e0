//! How agents are started from a command line, as far as it affects whether the new agent is governed. The only
//! source of agents' program names for the shell analysis.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::agent::Agent;
use crate::files::{GoverningFile, governing_files};

/// The command line of one agent.
#[derive(Debug, Clone, Copy)]
pub struct Launch {
    /// Programs by which it is started.
    pub programs: &'static [&'static str],
    /// Its packages, as `npx`, `uvx` and similar tools name them.
    pub packages: &'static [&'static str],
    /// Flags and variables with which it acts without asking, or without its hooks.
    pub unchecked: &'static [Unchecked],
    /// Libraries that start it, with the call that does. The started agent does not read settings by default.
    pub libraries: &'static [(&'static str, &'static str)],
    /// The words that start it, where the program has the name of others too. Any words when there are none.
    pub tasks: &'static [&'static str],
    /// Subcommands of two words that write something for programmers and start no agent.
    pub generators: &'static [(&'static str, &'static str)],
    /// Subcommands, the second word empty where there is none, with which it serves other clients: their requests
    /// pass no hook, or bring their own settings.
    pub serves: &'static [(&'static str, &'static str)],
}

impl Launch {
    /// An agent that is not started from a command line.
    pub(crate) const NONE: Self = Self {
        programs: &[],
        packages: &[],
        unchecked: &[],
        libraries: &[],
        tasks: &[],
        generators: &[],
        serves: &[],
    };
}

/// One way to start an agent unchecked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unchecked {
    /// An option that is there.
    Option(&'static str),
    /// An option with one of these values.
    Value(&'static str, &'static [&'static str]),
    /// An option whose value, without spaces and quotes, contains one of these.
    ValueContains(&'static str, &'static [&'static str]),
    /// An option whose value is empty.
    EmptyValue(&'static str),
    /// A variable with that value.
    Variable(&'static str, &'static str),
    /// A variable, whatever its value.
    Set(&'static str),
}

/// Short options with a value, of whatever agent.
pub const SHORT_WITH_VALUE: &str = "pmscCa";
/// Long options with a value, of whatever agent.
pub const LONG_WITH_VALUE: &str = "print permission-mode= prompt= model= ask-for-approval= sandbox= approval-mode= config= settings= setting-sources= \
     allowedTools= allowed-tools= profile= cd= allow-tool= deny-tool= output-format= disable= enable= dir= auto= \
     config-dir= plugin-dir=";
/// Subcommands that start no agent.
pub const MANAGING: &[&str] = &[
    "mcp",
    "config",
    "doctor",
    "update",
    "upgrade",
    "login",
    "logout",
    "help",
    "completion",
    "completions",
    "--version",
    "plugin",
    "plugins",
    "auth",
    "hooks",
    "features",
    "extensions",
    "extension",
    "models",
];
/// Words after those that change something.
pub const CHANGING: &[&str] = &[
    "add",
    "install",
    "i",
    "uninstall",
    "remove",
    "rm",
    "disable",
    "disable-all",
    "enable",
    "enable-all",
    "set",
    "unset",
    "update",
    "link",
    "import",
    "marketplace",
];
/// Settings that a `config` subcommand must not change, in lower case.
pub const GOVERNING_SETTINGS: &[&str] = &["hook", "permission", "approval", "sandbox", "trust"];

const YOLO: &[Unchecked] = &[
    Unchecked::Option("y"),
    Unchecked::Option("yolo"),
    Unchecked::Option("trust-all-tools"),
    Unchecked::Option("dangerously-skip-permissions"),
];

/// Agents that Lictor has no adapter for. Nothing governs what they do.
const OTHERS: &[Launch] = &[
    Launch {
        programs: &["aider"],
        packages: &["aider-chat"],
        unchecked: &[Unchecked::Option("yes-always"), Unchecked::Option("yes")],
        ..Launch::NONE
    },
    Launch {
        programs: &["amp"],
        packages: &["@sourcegraph/amp"],
        unchecked: &[Unchecked::Option("dangerously-allow-all")],
        ..Launch::NONE
    },
    // The name is also that of a tool for databases.
    Launch {
        programs: &["goose"],
        unchecked: &[Unchecked::Variable("GOOSE_MODE", "auto")],
        tasks: &["run", "session", "web"],
        ..Launch::NONE
    },
    Launch {
        programs: &["iflow"],
        packages: &["@iflow-ai/iflow-cli"],
        unchecked: &[
            Unchecked::Option("y"),
            Unchecked::Option("yolo"),
            Unchecked::Value("approval-mode", &["yolo", "auto_edit", "auto-edit"]),
        ],
        ..Launch::NONE
    },
    Launch { programs: &["crush"], packages: &["@charmland/crush"], unchecked: YOLO, ..Launch::NONE },
    Launch { programs: &["auggie"], packages: &["@augmentcode/auggie"], unchecked: YOLO, ..Launch::NONE },
    Launch { programs: &["kiro-cli"], unchecked: YOLO, ..Launch::NONE },
    Launch {
        programs: &["interpreter", "open-interpreter"],
        packages: &["open-interpreter"],
        unchecked: &[Unchecked::Option("y"), Unchecked::Option("auto_run"), Unchecked::Option("auto-run")],
        ..Launch::NONE
    },
    Launch {
        programs: &["openhands", "sweagent", "swe-agent"],
        packages: &["openhands-ai", "sweagent"],
        unchecked: &[Unchecked::Option("t"), Unchecked::Option("always-approve")],
        ..Launch::NONE
    },
    Launch {
        programs: &["plandex"],
        unchecked: &[Unchecked::Option("full"), Unchecked::Option("auto-exec")],
        ..Launch::NONE
    },
    // Adapters between editors and an agent: their libraries read no settings by default.
    Launch {
        programs: &["claude-code-acp", "claude-agent-acp", "codex-acp"],
        packages: &[
            "@zed-industries/claude-code-acp",
            "@zed-industries/claude-agent-acp",
            "@agentclientprotocol/claude-agent-acp",
            "@zed-industries/codex-acp",
        ],
        ..Launch::NONE
    },
    Launch {
        programs: &["ccr"],
        packages: &["@musistudio/claude-code-router"],
        tasks: &["code"],
        ..Launch::NONE
    },
    Launch { programs: &["cn"], packages: &["@continuedev/cli"], unchecked: YOLO, ..Launch::NONE },
    Launch { programs: &["gptme"], packages: &["gptme"], unchecked: YOLO, ..Launch::NONE },
];

/// Libraries that start an agent, with the calls that do.
pub fn libraries() -> impl Iterator<Item = (&'static str, &'static str)> {
    launches().flat_map(|launch| launch.libraries.iter().copied())
}

/// Every agent's command line, with an adapter or without.
pub fn launches() -> impl Iterator<Item = &'static Launch> {
    Agent::ALL.into_iter().filter_map(|agent| agent.spec().launch.as_ref()).chain(OTHERS)
}

/// The command line of the agent that this program starts.
#[must_use]
pub fn by_program(program: &str) -> Option<&'static Launch> {
    launches().find(|launch| launch.programs.contains(&program))
}

/// Whether Lictor has an adapter for the agent that this program starts.
#[must_use]
pub fn has_adapter(program: &str) -> bool {
    !OTHERS.iter().any(|launch| launch.programs.contains(&program))
}

/// The agent with an adapter that this program starts.
#[must_use]
pub fn agent_of(program: &str) -> Option<Agent> {
    let starts =
        |agent: &Agent| agent.spec().launch.as_ref().is_some_and(|launch| launch.programs.contains(&program));
    Agent::ALL.into_iter().find(starts)
}

/// The program of a package, if it is an agent.
#[must_use]
pub fn by_package(package: &str) -> Option<&'static str> {
    let launch = launches().find(|launch| launch.packages.contains(&package))?;
    launch.programs.first().copied()
}

/// Whether the name is that of a directory in which an agent stores its settings and hooks.
#[must_use]
pub fn is_agent_directory(name: &str) -> bool {
    Agent::ALL.into_iter().any(|agent| agent.spec().directory == Some(name))
}

/// The variables that make agents read other settings than those that govern them now.
pub fn moving() -> impl Iterator<Item = &'static str> {
    std::iter::once("HOME").chain(governing_files().flat_map(GoverningFile::variables))
}

/// Whether a variable makes an agent read other settings than those that govern it now.
#[must_use]
pub fn moves_settings(variable: &str) -> bool {
    static MOVING: LazyLock<BTreeSet<&str>> = LazyLock::new(|| moving().collect());
    MOVING.contains(variable)
}
