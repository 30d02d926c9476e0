//! Kimi Code: Claude's events with a list of hooks in the person's own `config.toml`. Exit code 2 stops, and so
//! does a refusal in JSON with exit code 0, of which the model reads only the reason. Hooks after a tool call are
//! not awaited.

use crate::contract::{BlockForm, Moment, Row};
use crate::event::EventKind;
use crate::files::{At, GoverningFile, HomeDir, project};
use crate::input::{Fields, Unreadable};
use crate::install::layout::{Form, LATE, Layout, command_handler, every};
use crate::install::servers::ServerFile;
use crate::launch::{Launch, Unchecked};
use crate::parse::{self, Context};
use crate::spec::AgentSpec;
use crate::tools::{Shape, ToolRow};

pub(super) static SPEC: AgentSpec = AgentSpec {
    read,
    post_means_success: true,
    fails_closed: true,
    // Its timeout is at most ten minutes, and then the call proceeds.
    leaks: true,
    files: FILES,
    servers: &[
        ServerFile::project(".kimi-code/mcp.json", "mcpServers"),
        ServerFile::home(KIMI, "mcp.json", "mcpServers"),
    ],
    traces: &[(At::Home(KIMI), ""), (At::Project, ".kimi-code")],
    directory: Some(".kimi-code"),
    launch: Some(Launch {
        programs: &["kimi"],
        packages: &["@moonshot-ai/kimi-code", "kimi-cli"],
        unchecked: &[Unchecked::Option("y"), Unchecked::Option("yolo"), Unchecked::Option("auto")],
        ..Launch::NONE
    }),
    advice: &[
        "its hooks stand in the person's own settings: `lictor init --scope user`",
        "it sends the agent back once in a turn, and reads nothing from hooks after a tool call",
    ],
    ..AgentSpec::like_claude("kimi", EVENTS, TOOLS)
};

const KIMI: HomeDir = HomeDir::at(".kimi-code").moved_by(&[("KIMI_CODE_HOME", "")]);

const FILES: &[GoverningFile] = &[
    KIMI.file("config.toml").installs(Form::Toml(&LAYOUT)),
    KIMI.file("plugins"),
    KIMI.file("hooks"),
    KIMI.file("mcp.json").lists_servers(),
    project(".kimi-code/mcp.json").lists_servers(),
];

const EVENTS: &[Row] = &[
    Row::new("PreToolUse", Moment::PreTool).blocks(BlockForm::PermissionDecision),
    Row::new("PostToolUse", Moment::PostTool),
    Row::new("PostToolUseFailure", Moment::PostTool),
    Row::new("UserPromptSubmit", Moment::Prompt).blocks(BlockForm::ExitTwo),
    Row::new("Stop", Moment::Stop).blocks(BlockForm::ExitTwo),
    Row::new("SessionStart", Moment::SessionStart),
    Row::new("SessionEnd", Moment::SessionEnd),
    Row::new("SubagentStart", Moment::Other),
    Row::new("SubagentStop", Moment::Other),
    Row::new("PreCompact", Moment::Compaction),
    Row::new("PostCompact", Moment::Other),
    Row::new("PermissionRequest", Moment::Other),
    Row::new("PermissionResult", Moment::Other),
    Row::new("StopFailure", Moment::Other),
    Row::new("Interrupt", Moment::Other),
    Row::new("Notification", Moment::Other),
];

const TOOLS: &[ToolRow] = &[
    ("Bash", Shape::Shell),
    ("Read", Shape::Read),
    ("ReadMediaFile", Shape::Read),
    ("Grep", Shape::Search),
    ("Glob", Shape::Glob),
    ("Write", Shape::Write),
    ("Edit", Shape::Edit),
    ("FetchURL", Shape::Fetch),
    ("WebSearch", Shape::WebSearch),
    ("Agent", Shape::Delegate),
    ("TodoList", Shape::Todo),
];

static LAYOUT: Layout = Layout {
    root: &["hooks"],
    versioned: false,
    says_fail_closed: false,
    entries: &[
        every("PreToolUse").flat().waits(LATE),
        every("PostToolUse").flat(),
        every("PostToolUseFailure").flat(),
        every("UserPromptSubmit").flat(),
        every("SessionStart").flat(),
        every("SessionEnd").flat(),
        every("Stop").flat().waits(LATE),
        every("PreCompact").flat(),
    ],
    handler: command_handler,
};

/// A prompt comes as a list of parts, and calls have their id under another name. A call that a hook has stopped
/// is reported as failed, with the hook's message.
fn read(context: &Context<'_>, fields: &Fields) -> Result<EventKind, Unreadable> {
    let parts = fields.0.get("prompt").and_then(serde_json::Value::as_array);
    if let (Moment::Prompt, Some(parts)) = (context.slot.row.moment, parts) {
        let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
        return Ok(EventKind::Prompt { text: texts.join("\n"), files: Vec::new() });
    }
    let error = fields.0.get("error").and_then(|error| error.get("message")?.as_str());
    if error.is_some_and(|error| error.contains("Blocked by Lictor")) {
        return Ok(EventKind::Other);
    }
    let mut fields = Fields(fields.0.clone());
    fields.rename("tool_call_id", "tool_use_id");
    parse::common(context, &fields)
}
