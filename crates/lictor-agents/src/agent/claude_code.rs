//! Claude Code: the hook format that others follow.

use crate::contract::{AskForm, BlockForm, Moment, Row, TellForm};
use crate::event::PermissionMode;
use crate::files::{At, GoverningFile, HomeDir, mac, machine, project};
use crate::install::json::Json;
use crate::install::layout::{Form, LATE, Layout, command_handler, every, tool};
use crate::install::servers::ServerFile;
use crate::launch::{Launch, Unchecked};
use crate::parse::HookEnv;
use crate::spec::AgentSpec;
use crate::tools::{Shape, ToolRow};

pub(super) static SPEC: AgentSpec = AgentSpec {
    post_means_success: true,
    person_present,
    answers_by: Some("StructuredOutput"),
    files: FILES,
    servers: &[
        ServerFile::project(".mcp.json", "mcpServers"),
        ServerFile::home(HomeDir::at(""), ".claude.json", "mcpServers").by_project(),
    ],
    managed_only: Some(("/etc/claude-code/managed-settings.json", "allowManagedHooksOnly")),
    traces: &[(At::Home(CLAUDE), ""), (At::Project, ".claude")],
    directory: Some(".claude"),
    launch: Some(Launch {
        programs: &["claude"],
        packages: &["@anthropic-ai/claude-code", "claude-code"],
        unchecked: &[
            Unchecked::Option("dangerously-skip-permissions"),
            Unchecked::Option("allow-dangerously-skip-permissions"),
            Unchecked::Option("bare"),
            Unchecked::Variable("CLAUDE_CODE_SIMPLE", "1"),
            Unchecked::Option("safe-mode"),
            Unchecked::Value("permission-mode", &["bypassPermissions"]),
            Unchecked::ValueContains("settings", &["disableAllHooks", "bypassPermissions"]),
            Unchecked::EmptyValue("setting-sources"),
        ],
        serves: &[("mcp", "serve"), ("remote-control", "")],
        libraries: &[
            ("claude_agent_sdk", "query("),
            ("claude_agent_sdk", "ClaudeSDKClient("),
            ("claude_code_sdk", "query("),
            ("claude-agent-sdk", "query("),
            ("@anthropic-ai/claude-code", "query("),
        ],
        ..Launch::NONE
    }),
    advice: &[
        "in a terminal it asks whether you trust the folder, and does nothing before the answer; `claude -p` does not ask, and \
         runs the hooks",
        "files named with `@` reach the model without a hook: add `Read(...)` deny rules for secrets",
    ],
    ..AgentSpec::like_claude("claude-code", EVENTS, TOOLS)
};

const HOOKS: Form = Form::Json(&LAYOUT);
const CLAUDE: HomeDir = HomeDir::at(".claude").moved_by(&[("CLAUDE_CONFIG_DIR", "")]);

const FILES: &[GoverningFile] = &[
    CLAUDE.file("settings.json").installs(HOOKS),
    CLAUDE.file("settings.local.json").holds(HOOKS),
    CLAUDE.file("remote-settings.json"),
    CLAUDE.file("hooks"),
    CLAUDE.file("plugins"),
    // Which folders are trusted.
    HomeDir::at("").moved_by(&[("CLAUDE_CONFIG_DIR", "")]).file(".claude.json").keeps_state(),
    project(".claude/settings.json").installs(HOOKS),
    project(".claude/settings.local.json").holds(HOOKS),
    project(".claude/hooks"),
    project(".mcp.json").lists_servers(),
    machine("/etc/claude-code/managed-settings.d/lictor.json").installs(HOOKS),
    machine("/etc/claude-code"),
    mac("/Library/Application Support/ClaudeCode/managed-settings.d/lictor.json").installs(HOOKS),
    mac("/Library/Application Support/ClaudeCode"),
    mac("/Library/Managed Preferences"),
];

const DECISION: BlockForm = BlockForm::Decision("block");
const CONTEXT: TellForm = TellForm::AdditionalContext;

const EVENTS: &[Row] = &[
    Row::new("PreToolUse", Moment::PreTool)
        // Exit code 2 stops the call in every version, even if the JSON reply is ignored or truncated. The model
        // sees the same text as with exit code 0: `PreToolUse:Bash hook error:` precedes every refusal. The JSON
        // keeps the path of the program out of it.
        .blocks(BlockForm::PermissionDecisionExitTwo)
        .asks(AskForm::PermissionDecision)
        .tells(CONTEXT),
    // Exit code 2 is not honoured here, only the JSON is.
    Row::new("PermissionRequest", Moment::PermissionRequest).blocks(BlockForm::Behavior),
    Row::new("PostToolUse", Moment::PostTool).blocks(DECISION).tells(CONTEXT),
    Row::new("PostToolUseFailure", Moment::PostTool).blocks(DECISION).tells(CONTEXT),
    Row::new("SessionStart", Moment::SessionStart).tells(CONTEXT),
    Row::new("SessionEnd", Moment::SessionEnd),
    Row::new("UserPromptSubmit", Moment::Prompt).blocks(DECISION).tells(CONTEXT),
    // Context keeps the agent going here just as a block does, so a remark without a block is not possible.
    Row::new("Stop", Moment::Stop).blocks(DECISION),
    Row::new("SubagentStop", Moment::SubagentStop).blocks(DECISION),
    Row::new("SubagentStart", Moment::SubagentStart).tells(CONTEXT),
    Row::new("PreCompact", Moment::Compaction).blocks(DECISION),
    Row::new("ConfigChange", Moment::Other).blocks(DECISION),
    Row::new("UserPromptExpansion", Moment::Other).blocks(DECISION),
    Row::new("TaskCreated", Moment::Other).blocks(DECISION),
    Row::new("TaskCompleted", Moment::Other).blocks(BlockForm::ExitTwo),
    Row::new("TeammateIdle", Moment::Other).blocks(BlockForm::ExitTwo),
    Row::new("PostToolBatch", Moment::Other).blocks(DECISION).tells(CONTEXT),
    Row::new("Elicitation", Moment::Other).blocks(BlockForm::ExitTwo),
    Row::new("ElicitationResult", Moment::Other).blocks(BlockForm::ExitTwo),
    Row::new("PreModelSwitch", Moment::Other).blocks(BlockForm::ExitTwo),
    Row::new("WorktreeCreate", Moment::Other).blocks(BlockForm::ExitTwo),
    Row::new("Setup", Moment::Other).tells(CONTEXT),
    Row::new("InstructionsLoaded", Moment::Other),
    Row::new("MessageDisplay", Moment::Other),
    Row::new("PermissionDenied", Moment::Other),
    Row::new("Notification", Moment::Other),
    Row::new("StopFailure", Moment::Other),
    Row::new("CwdChanged", Moment::Other),
    Row::new("FileChanged", Moment::Other),
    Row::new("DirectoryAdded", Moment::Other),
    Row::new("WorktreeRemove", Moment::Other),
    Row::new("PostCompact", Moment::Other),
    Row::new("PostModelSwitch", Moment::Other),
];

const TOOLS: &[ToolRow] = &[
    ("Bash", Shape::Shell),
    ("PowerShell", Shape::PowerShell),
    ("Monitor", Shape::Monitor),
    // The shell tool of Devin, which reads the same settings.
    ("exec", Shape::Shell),
    ("Read", Shape::Read),
    ("Glob", Shape::Glob),
    ("Grep", Shape::Search),
    ("LS", Shape::Search),
    ("Write", Shape::Write),
    ("Edit", Shape::Edit),
    ("MultiEdit", Shape::Edit),
    ("NotebookEdit", Shape::Notebook),
    ("WebFetch", Shape::Fetch),
    ("WebSearch", Shape::WebSearch),
    ("Agent", Shape::Delegate),
    ("Task", Shape::Delegate),
    ("TodoWrite", Shape::Todo),
    ("TaskCreate", Shape::Todo),
    ("TaskUpdate", Shape::Todo),
];

static LAYOUT: Layout = Layout {
    root: &["hooks"],
    versioned: false,
    says_fail_closed: true,
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

/// Only modes in which Claude Code is known to show a question; runs through the SDK, with `-p`, in the cloud or
/// in CI are unattended.
fn person_present(mode: Option<&PermissionMode>, env: &HookEnv) -> bool {
    // Where a classifier decides, which is the default, a hook's question still goes to the person.
    let asks = matches!(
        mode,
        Some(
            PermissionMode::Default
                | PermissionMode::Plan
                | PermissionMode::AcceptEdits
                | PermissionMode::Auto
        )
    );
    let attended = !env.get("CLAUDE_CODE_ENTRYPOINT").is_some_and(|entry| entry.starts_with("sdk"));
    asks && attended && !env.is_set("CLAUDE_CODE_REMOTE") && !env.is_set("CI")
}
