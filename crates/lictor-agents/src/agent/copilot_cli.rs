//! GitHub Copilot CLI. The case of the event's name in the settings selects the dialect: lower-case names give
//! camelCase fields and Copilot's own tools, capitalised names give snake_case fields and Claude's tool names.

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::contract::{AskForm, BlockForm, Moment, Row, TellForm};
use crate::event::EventKind;
use crate::files::{At, GoverningFile, HomeDir, machine, project};
use crate::input::{Fields, Unreadable, missing};
use crate::install::Scope;
use crate::install::json::Json;
use crate::install::layout::{Form, LATE, Layout, every};
use crate::install::servers::ServerFile;
use crate::launch::{Launch, Unchecked};
use crate::outcome;
use crate::parse::{self, Context};
use crate::spec::AgentSpec;
use crate::tools::{Shape, ToolRow};

pub(super) static SPEC: AgentSpec = AgentSpec {
    read,
    event_name: |fields| fields.text(&["hook_event_name", "hookName"]),
    post_means_success: true,
    person_present: |_, env| !env.is_set("CI"),
    fails_closed: true,
    files: FILES,
    servers: &[ServerFile::home(COPILOT, "mcp-config.json", "mcpServers")],
    also_reads: &[(Agent::ClaudeCode, &[Scope::Project])],
    traces: &[(At::Home(COPILOT), "")],
    directory: Some(".copilot"),
    launch: Some(Launch {
        programs: &["copilot"],
        packages: &["@github/copilot"],
        unchecked: &[
            Unchecked::Option("allow-all-tools"),
            Unchecked::Option("allow-all"),
            Unchecked::Option("yolo"),
            Unchecked::Option("allow-all-paths"),
            Unchecked::Option("allow-all-urls"),
        ],
        ..Launch::NONE
    }),
    advice: &[
        "trust the folder; with `-p` set GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true",
        "with `--sandbox` hooks run inside of its sandbox, and what they record is gone with it: use `lictor run` instead",
    ],
    ..AgentSpec::like_claude("copilot-cli", EVENTS, TOOLS)
};

const HOOKS: Form = Form::Json(&LAYOUT);
const COPILOT: HomeDir = HomeDir::at(".copilot").moved_by(&[("COPILOT_HOME", "")]);

/// Files that VS Code reads too.
pub(super) const SHARED_WITH_VSCODE: [GoverningFile; 4] = [
    COPILOT.file("hooks/lictor.json").installs(HOOKS),
    COPILOT.file("hooks"),
    project(".github/hooks/lictor.json").installs(HOOKS),
    project(".github/hooks"),
];

const FILES: &[GoverningFile] = &[
    SHARED_WITH_VSCODE[0],
    SHARED_WITH_VSCODE[1],
    SHARED_WITH_VSCODE[2],
    SHARED_WITH_VSCODE[3],
    COPILOT.file("settings.json"),
    // Which folders are trusted.
    COPILOT.file("config.json").keeps_state().at_first("{\"firstLaunchAt\": \"1970-01-01T00:00:00.000Z\"}\n"),
    COPILOT.file("permissions-config.json"),
    COPILOT.file("installed-plugins"),
    COPILOT.file("mcp-config.json").lists_servers(),
    project(".github/copilot/settings.json"),
    project(".github/copilot/settings.local.json"),
    machine("/etc/github-copilot/policy.d/lictor.json").installs(HOOKS),
    machine("/etc/github-copilot"),
];

const DECISION: BlockForm = BlockForm::Decision("block");
const CONTEXT: TellForm = TellForm::TopAdditionalContext;

const EVENTS: &[Row] = &[
    Row::new("preToolUse", Moment::PreTool)
        .also(&["PreToolUse"])
        .blocks(BlockForm::TopPermissionDecision)
        .asks(AskForm::TopPermissionDecision),
    Row::new("permissionRequest", Moment::PermissionRequest)
        .also(&["PermissionRequest"])
        .blocks(BlockForm::TopBehavior),
    Row::new("postToolUse", Moment::PostTool).also(&["PostToolUse"]).tells(CONTEXT),
    Row::new("postToolUseFailure", Moment::PostTool).also(&["PostToolUseFailure"]),
    Row::new("sessionStart", Moment::SessionStart).also(&["SessionStart"]).tells(CONTEXT),
    Row::new("sessionEnd", Moment::SessionEnd).also(&["SessionEnd"]),
    Row::new("userPromptSubmitted", Moment::Prompt).also(&["UserPromptSubmit"]),
    Row::new("agentStop", Moment::Stop).also(&["Stop"]).blocks(DECISION),
    Row::new("subagentStop", Moment::SubagentStop).also(&["SubagentStop"]).blocks(DECISION),
    Row::new("subagentStart", Moment::SubagentStart).also(&["SubagentStart"]).tells(CONTEXT),
    Row::new("preCompact", Moment::Compaction).also(&["PreCompact"]),
    Row::new("userPromptTransformed", Moment::Other),
    Row::new("errorOccurred", Moment::Other).also(&["ErrorOccurred"]),
    Row::new("notification", Moment::Other).also(&["Notification"]),
];

const TOOLS: &[ToolRow] = &[
    ("bash", Shape::Shell),
    ("Bash", Shape::Shell),
    ("powershell", Shape::PowerShell),
    ("view", Shape::Read),
    ("Read", Shape::Read),
    ("grep", Shape::Search),
    ("rg", Shape::Search),
    ("Grep", Shape::Search),
    ("glob", Shape::Glob),
    ("Glob", Shape::Glob),
    ("create", Shape::Write),
    ("Write", Shape::Write),
    ("edit", Shape::Edit),
    ("Edit", Shape::Edit),
    ("apply_patch", Shape::Patch),
    ("web_fetch", Shape::Fetch),
    ("WebFetch", Shape::Fetch),
    ("web_search", Shape::WebSearch),
    ("WebSearch", Shape::WebSearch),
    ("task", Shape::Delegate),
    ("Agent", Shape::Delegate),
    ("update_todo", Shape::Todo),
    ("TodoWrite", Shape::Todo),
];

pub(super) static LAYOUT: Layout = Layout {
    root: &["hooks"],
    versioned: true,
    says_fail_closed: false,
    entries: &[
        every("preToolUse").flat().patient(),
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
            ("timeoutSec", Json::number(entry.patience)),
        ])
    },
};

/// A tool's arguments come as an object or as text that holds one; a patch may come as the bare text.
fn read(context: &Context<'_>, fields: &Fields) -> Result<EventKind, Unreadable> {
    const INPUT: &[&str] = &["toolArgs", "toolInput", "tool_input"];
    let call = || {
        let input = match fields.get(INPUT)? {
            Some((_, Value::String(text))) if text.trim_start().starts_with("*** Begin Patch") => {
                Fields(json!({"patch": text}).as_object().cloned().unwrap_or_default())
            }
            _ => fields.object_or_json(INPUT)?.ok_or_else(|| missing(INPUT))?,
        };
        parse::named_call(context, fields, input)
    };
    match context.slot.row.moment {
        Moment::PreTool => call().map(EventKind::PreTool),
        Moment::PermissionRequest => call().map(EventKind::PermissionRequest),
        Moment::PostTool => {
            call().map(|action| EventKind::PostTool(action.clone(), outcome::read(context, fields, &action)))
        }
        _ => parse::common(context, fields),
    }
}
