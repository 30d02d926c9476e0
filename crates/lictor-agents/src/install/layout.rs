//! Where each agent keeps its hooks and what an entry looks like.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::json::Json;
use super::{Scope, Where};
use crate::agent::Agent;

/// How the hooks of an agent stand in its settings file.
pub(super) struct Layout {
    /// Keys from the top of the file down to the object that has the events.
    pub(super) root: &'static [&'static str],
    /// A file of its own has to say which version of the format it is.
    pub(super) versioned: bool,
    pub(super) entries: &'static [Entry],
    /// One handler: from its command line and its time limit in seconds.
    handler: fn(&Entry, &str) -> Json,
}

/// One event that Lictor wants to hear of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) event: &'static str,
    matcher: Option<&'static str>,
    /// Handlers stand in a group, under `hooks`.
    grouped: bool,
    /// Seconds after which the agent gives up waiting. Lictor's own deadline is shorter.
    pub(super) timeout: u32,
    /// Fails closed, where the agent can be told so.
    closed: bool,
}

/// Long enough for a callback, short enough not to hang an agent.
pub(super) const SOON: u32 = 60;
/// Completion checks run tests.
const LATE: u32 = 600;

const fn tool(event: &'static str) -> Entry {
    Entry { event, matcher: Some("*"), grouped: true, timeout: SOON, closed: true }
}

const fn every(event: &'static str) -> Entry {
    Entry { event, matcher: None, grouped: true, timeout: SOON, closed: false }
}

impl Entry {
    const fn flat(self) -> Self {
        Self { grouped: false, matcher: None, ..self }
    }

    const fn any_tool(self) -> Self {
        Self { matcher: None, ..self }
    }

    const fn matching(self, matcher: &'static str) -> Self {
        Self { matcher: Some(matcher), ..self }
    }

    const fn closed(self) -> Self {
        Self { closed: true, ..self }
    }

    const fn open(self) -> Self {
        Self { closed: false, ..self }
    }

    const fn waits(self, timeout: u32) -> Self {
        Self { timeout, ..self }
    }
}

impl Layout {
    /// What stands in the event's list.
    pub(super) fn item(&self, entry: &Entry, command: &str) -> Json {
        let handler = (self.handler)(entry, command);
        if !entry.grouped {
            return handler;
        }
        let hooks = Json::Array(vec![handler]);
        match entry.matcher {
            Some(matcher) => Json::object([("matcher", Json::text(matcher)), ("hooks", hooks)]),
            None => Json::object([("hooks", hooks)]),
        }
    }
}

/// How hooks stand in that file of that agent.
pub(super) fn form(agent: Agent, path: &Path) -> Form {
    Form::Json(match agent {
        Agent::ClaudeCode => &CLAUDE_CODE,
        Agent::Codex if path.extension().is_some_and(|extension| extension == "toml") => {
            return Form::Toml(&CODEX);
        }
        Agent::Codex => &CODEX,
        Agent::GeminiCli => &GEMINI_CLI,
        Agent::Cursor => &CURSOR,
        // VS Code reads the files of Copilot CLI and turns the names of events into its own.
        Agent::CopilotCli | Agent::VsCode => &COPILOT_CLI,
        Agent::OpenCode => return Form::Plugin,
        Agent::Antigravity => &ANTIGRAVITY,
        Agent::Factory if path.ends_with("hooks.json") => &FACTORY_OWN_FILE,
        Agent::Factory => &FACTORY,
        Agent::Windsurf => &WINDSURF,
    })
}

/// What kind of file it is.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Json(&'static Layout),
    Toml(&'static Layout),
    Plugin,
}

fn command_handler(entry: &Entry, command: &str) -> Json {
    Json::object([
        ("type", Json::text("command")),
        ("command", Json::text(command)),
        ("timeout", Json::number(entry.timeout)),
    ])
}

static CLAUDE_CODE: Layout = Layout {
    root: &["hooks"],
    versioned: false,
    entries: &[
        tool("PreToolUse"),
        tool("PostToolUse").open(),
        tool("PostToolUseFailure").open(),
        every("UserPromptSubmit").closed(),
        every("SessionStart"),
        every("SessionEnd").waits(10),
        every("Stop").waits(LATE),
        every("SubagentStart"),
        every("SubagentStop").waits(LATE),
        every("PreCompact"),
    ],
    handler: |entry, command| {
        let handler = command_handler(entry, command);
        // Older versions ignore it.
        if entry.closed { handler.with("onFailure", Json::text("block")) } else { handler }
    },
};

static CODEX: Layout = Layout {
    root: &["hooks"],
    versioned: false,
    entries: &[
        tool("PreToolUse").any_tool(),
        tool("PermissionRequest").any_tool(),
        tool("PostToolUse").any_tool(),
        every("UserPromptSubmit"),
        every("SessionStart"),
        every("SessionEnd").waits(3),
        every("Stop").waits(LATE),
        every("SubagentStart"),
        every("SubagentStop").waits(LATE),
        every("PreCompact"),
    ],
    handler: command_handler,
};

static GEMINI_CLI: Layout = Layout {
    root: &["hooks"],
    versioned: false,
    entries: &[
        tool("BeforeTool"),
        tool("AfterTool"),
        every("BeforeAgent"),
        every("AfterAgent").waits(LATE),
        every("SessionStart"),
        every("SessionEnd").waits(10),
        every("PreCompress"),
    ],
    // Milliseconds here.
    handler: |entry, command| {
        Json::object([
            ("type", Json::text("command")),
            ("name", Json::text("lictor")),
            ("command", Json::text(command)),
            ("timeout", Json::number(entry.timeout * 1000)),
        ])
    },
};

static CURSOR: Layout = Layout {
    root: &["hooks"],
    versioned: true,
    entries: &[
        every("beforeShellExecution").flat().closed(),
        every("beforeMCPExecution").flat().closed(),
        every("beforeReadFile").flat().closed(),
        // The two above can put a question to a person, this one cannot: it takes what is left.
        every("preToolUse").flat().matching("^(?!Shell$|MCP:)").closed(),
        every("postToolUse").flat(),
        every("postToolUseFailure").flat(),
        every("beforeSubmitPrompt").flat().closed(),
        every("sessionStart").flat(),
        every("sessionEnd").flat(),
        every("subagentStart").flat().closed(),
        every("subagentStop").flat().waits(LATE),
        every("stop").flat().waits(LATE),
        every("preCompact").flat(),
    ],
    handler: |entry, command| {
        let mut handler =
            Json::object([("command", Json::text(command)), ("timeout", Json::number(entry.timeout))]);
        if let Some(matcher) = entry.matcher {
            handler = handler.with("matcher", Json::text(matcher));
        }
        if entry.closed { handler.with("failClosed", Json::Scalar(Value::Bool(true))) } else { handler }
    },
};

static COPILOT_CLI: Layout = Layout {
    root: &["hooks"],
    versioned: true,
    entries: &[
        every("preToolUse").flat(),
        every("postToolUse").flat(),
        every("postToolUseFailure").flat(),
        every("userPromptSubmitted").flat(),
        every("sessionStart").flat(),
        every("sessionEnd").flat(),
        every("agentStop").flat().waits(LATE),
        every("subagentStart").flat(),
        every("subagentStop").flat().waits(LATE),
        every("preCompact").flat(),
    ],
    handler: |entry, command| {
        Json::object([
            ("type", Json::text("command")),
            ("command", Json::text(command)),
            ("timeoutSec", Json::number(entry.timeout)),
        ])
    },
};

static ANTIGRAVITY: Layout = Layout {
    root: &["lictor"],
    versioned: false,
    entries: &[
        tool("PreToolUse"),
        tool("PostToolUse"),
        every("SessionStart").flat(),
        every("Stop").flat().waits(LATE),
    ],
    handler: command_handler,
};

const FACTORY_ENTRIES: &[Entry] = &[
    tool("PreToolUse"),
    tool("PostToolUse"),
    every("UserPromptSubmit"),
    every("SessionStart"),
    every("SessionEnd").waits(10),
    every("Stop").waits(LATE),
    every("SubagentStop").waits(LATE),
    every("PreCompact"),
];

static FACTORY: Layout =
    Layout { root: &["hooks"], versioned: false, entries: FACTORY_ENTRIES, handler: command_handler };

/// In `hooks.json` the events stand at the top.
static FACTORY_OWN_FILE: Layout =
    Layout { root: &[], versioned: false, entries: FACTORY_ENTRIES, handler: command_handler };

static WINDSURF: Layout = Layout {
    root: &["hooks"],
    versioned: false,
    entries: &[
        every("pre_run_command").flat(),
        every("pre_read_code").flat(),
        every("pre_write_code").flat(),
        every("pre_mcp_tool_use").flat(),
        every("pre_user_prompt").flat(),
        every("post_run_command").flat(),
        every("post_read_code").flat(),
        every("post_write_code").flat(),
        every("post_mcp_tool_use").flat(),
        every("post_cascade_response").flat(),
    ],
    handler: |_, command| {
        Json::object([("command", Json::text(command)), ("show_output", Json::Scalar(Value::Bool(true)))])
    },
};

/// The file to install into; `None` where the agent has no such scope on this system.
///
/// `exists` is asked where an agent reads one of two files and ignores the other.
pub(super) fn file(
    agent: Agent,
    scope: Scope,
    place: &Where,
    exists: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let home = |path: &str| Some(place.home.join(path));
    let project = |path: &str| Some(place.project.join(path));
    let system = |path: &str| cfg!(unix).then(|| PathBuf::from(path));
    let on_mac = cfg!(target_os = "macos");
    match (agent, scope) {
        (Agent::ClaudeCode, Scope::User) => home(".claude/settings.json"),
        (Agent::ClaudeCode, Scope::Project) => project(".claude/settings.json"),
        (Agent::ClaudeCode, Scope::Managed) if on_mac => {
            system("/Library/Application Support/ClaudeCode/managed-settings.d/lictor.json")
        }
        (Agent::ClaudeCode, Scope::Managed) => system("/etc/claude-code/managed-settings.d/lictor.json"),
        (Agent::Codex, Scope::User) => Some(place.codex_home().join("hooks.json")),
        (Agent::Codex, Scope::Project) => project(".codex/hooks.json"),
        (Agent::Codex, Scope::Managed) => system("/etc/codex/config.toml"),
        (Agent::GeminiCli, Scope::User) => home(".gemini/settings.json"),
        (Agent::GeminiCli, Scope::Project) => project(".gemini/settings.json"),
        (Agent::GeminiCli, Scope::Managed) if on_mac => {
            system("/Library/Application Support/GeminiCli/settings.json")
        }
        (Agent::GeminiCli, Scope::Managed) => system("/etc/gemini-cli/settings.json"),
        (Agent::Cursor, Scope::User) => home(".cursor/hooks.json"),
        (Agent::Cursor, Scope::Project) => project(".cursor/hooks.json"),
        (Agent::Cursor, Scope::Managed) if on_mac => system("/Library/Application Support/Cursor/hooks.json"),
        (Agent::Cursor, Scope::Managed) => system("/etc/cursor/hooks.json"),
        (Agent::CopilotCli | Agent::VsCode, Scope::User) => {
            Some(place.copilot_home().join("hooks/lictor.json"))
        }
        (Agent::CopilotCli | Agent::VsCode, Scope::Project) => project(".github/hooks/lictor.json"),
        (Agent::CopilotCli, Scope::Managed) => system("/etc/github-copilot/policy.d/lictor.json"),
        (Agent::VsCode, Scope::Managed) => None,
        (Agent::OpenCode, Scope::User) => home(".config/opencode/plugins/lictor.js"),
        (Agent::OpenCode, Scope::Project) => project(".opencode/plugins/lictor.js"),
        (Agent::OpenCode, Scope::Managed) => system("/etc/opencode/plugins/lictor.js"),
        (Agent::Antigravity, Scope::User) => home(".gemini/config/hooks.json"),
        (Agent::Antigravity, Scope::Project) => project(".agents/hooks.json"),
        (Agent::Antigravity | Agent::Factory, Scope::Managed) => None,
        // Where there is a `hooks.json`, the hooks in `settings.json` do not count; where there is none, the
        // settings are the only file that `droid exec` is known to obey.
        (Agent::Factory, Scope::User) => [".factory/hooks.json", ".factory/settings.json"]
            .map(|path| place.home.join(path))
            .into_iter()
            .find(|path| path.ends_with("settings.json") || exists(path)),
        (Agent::Factory, Scope::Project) => [".factory/hooks.json", ".factory/settings.json"]
            .map(|path| place.project.join(path))
            .into_iter()
            .find(|path| path.ends_with("settings.json") || exists(path)),
        (Agent::Windsurf, Scope::User) => home(".codeium/windsurf/hooks.json"),
        (Agent::Windsurf, Scope::Project) => project(".windsurf/hooks.json"),
        (Agent::Windsurf, Scope::Managed) if on_mac => {
            system("/Library/Application Support/Windsurf/hooks.json")
        }
        (Agent::Windsurf, Scope::Managed) => system("/etc/windsurf/hooks.json"),
    }
}
