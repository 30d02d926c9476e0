//! Agents in VS Code: Claude's format with VS Code's own tools.

use super::copilot_cli;
use crate::agent::Agent;
use crate::contract::{AskForm, BlockForm, Moment, Row, TellForm};
use crate::files::{At, GoverningFile, HomeDir, project};
use crate::install::Scope;
use crate::install::servers::ServerFile;
use crate::spec::AgentSpec;
use crate::tools::{Shape, ToolRow};

pub(super) static SPEC: AgentSpec = AgentSpec {
    person_present: |_, env| !env.is_set("CI"),
    files: FILES,
    servers: &[
        ServerFile::project(".vscode/mcp.json", "servers"),
        ServerFile::home(LINUX, "Code/User/mcp.json", "servers"),
    ],
    also_reads: &[(Agent::ClaudeCode, &[Scope::User, Scope::Project])],
    traces: &[
        (At::Home(HomeDir::at(".vscode")), ""),
        (At::Home(LINUX), "Code"),
        (At::Home(HomeDir::at("Library/Application Support/Code")), ""),
        (At::Project, ".vscode"),
    ],
    editors: &["code", "code-insiders"],
    advice: &["hooks are a preview: check that `chat.hookFilesLocations` has not been narrowed"],
    ..AgentSpec::like_claude("vscode", EVENTS, TOOLS)
};

const LINUX: HomeDir = HomeDir::at(".config").moved_by(&[("XDG_CONFIG_HOME", ""), ("VSCODE_APPDATA", "")]);

const FILES: &[GoverningFile] = &[
    copilot_cli::SHARED_WITH_VSCODE[0],
    copilot_cli::SHARED_WITH_VSCODE[1],
    copilot_cli::SHARED_WITH_VSCODE[2],
    copilot_cli::SHARED_WITH_VSCODE[3],
    project(".vscode/settings.json").may_mention_hooks(),
    project(".vscode/mcp.json").lists_servers(),
    LINUX.file("Code/User/mcp.json").lists_servers(),
    LINUX.file("Code - Insiders/User/mcp.json").lists_servers(),
    HomeDir::at("Library/Application Support/Code").file("User/mcp.json").lists_servers(),
    LINUX.file("Code/User/settings.json").may_mention_hooks(),
    LINUX.file("Code - Insiders/User/settings.json").may_mention_hooks(),
    HomeDir::at("Library/Application Support/Code").file("User/settings.json").may_mention_hooks(),
    HomeDir::at(".vscode-server").file("data/Machine/settings.json").may_mention_hooks(),
];

const CONTEXT: TellForm = TellForm::AdditionalContext;

const EVENTS: &[Row] = &[
    Row::new("PreToolUse", Moment::PreTool)
        .also(&["preToolUse"])
        .blocks(BlockForm::PermissionDecision)
        .asks(AskForm::PermissionDecision)
        .tells(CONTEXT),
    Row::new("PostToolUse", Moment::PostTool)
        .also(&["postToolUse"])
        .blocks(BlockForm::Decision("block"))
        .tells(CONTEXT),
    Row::new("SessionStart", Moment::SessionStart).also(&["sessionStart"]).tells(CONTEXT),
    Row::new("UserPromptSubmit", Moment::Prompt).also(&["userPromptSubmitted"]).blocks(BlockForm::Halt),
    // Here the decision sits one level deeper than for a subagent.
    Row::new("Stop", Moment::Stop).also(&["agentStop"]).blocks(BlockForm::NestedDecision),
    Row::new("SubagentStop", Moment::SubagentStop)
        .also(&["subagentStop"])
        .blocks(BlockForm::Decision("block")),
    Row::new("SubagentStart", Moment::SubagentStart).also(&["subagentStart"]).tells(CONTEXT),
    Row::new("PreCompact", Moment::Compaction).also(&["preCompact"]),
];

const TOOLS: &[ToolRow] = &[
    ("runTerminalCommand", Shape::Shell),
    ("run_in_terminal", Shape::Shell),
    ("read_file", Shape::Read),
    ("list_dir", Shape::Search),
    ("file_search", Shape::Glob),
    ("grep_search", Shape::Search),
    ("semantic_search", Shape::Search),
    ("create_file", Shape::Write),
    ("editFiles", Shape::WriteMany),
    ("replace_string_in_file", Shape::Edit),
    ("multi_replace_string_in_file", Shape::WriteMany),
    ("insert_edit_into_file", Shape::Edit),
    ("apply_patch", Shape::Patch),
    ("edit_notebook_file", Shape::Notebook),
    ("fetch_webpage", Shape::Fetch),
    ("runSubagent", Shape::Delegate),
    ("manage_todo_list", Shape::Todo),
];
