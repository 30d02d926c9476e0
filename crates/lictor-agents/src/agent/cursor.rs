//! Cursor. Shell commands, server tools and file reads have their own events besides the general one, and only
//! the first two can ask a person.

use lictor_core::Action;
use serde_json::{Map, Value, json};

use crate::agent::Agent;
use crate::contract::{AskForm, BlockForm, Moment, Row, TellForm};
use crate::event::{EventKind, Outcome, Status, Stop};
use crate::files::{At, GoverningFile, HomeDir, mac, machine, project};
use crate::input::{Fields, Unreadable};
use crate::install::Scope;
use crate::install::json::Json;
use crate::install::layout::{Form, LATE, Layout, every};
use crate::install::servers::ServerFile;
use crate::launch::{Launch, Unchecked};
use crate::parse::{self, Context};
use crate::spec::AgentSpec;
use crate::tools::{Shape, Tool, ToolRow};

pub(super) static SPEC: AgentSpec = AgentSpec {
    read,
    session: |fields| fields.text(&["conversation_id"]),
    post_means_success: true,
    person_present: |_, env| !env.is_set("CURSOR_CODE_REMOTE") && !env.is_set("CI"),
    files: FILES,
    servers: &[
        ServerFile::project(".cursor/mcp.json", "mcpServers"),
        ServerFile::home(CURSOR, "mcp.json", "mcpServers"),
    ],
    also_reads: &[(Agent::ClaudeCode, &[Scope::User, Scope::Project])],
    traces: &[(At::Home(CURSOR), ""), (At::Project, ".cursor")],
    directory: Some(".cursor"),
    editors: &["cursor"],
    launch: Some(Launch {
        programs: &["cursor-agent"],
        packages: &[],
        unchecked: &[Unchecked::Option("f"), Unchecked::Option("force"), Unchecked::Option("yolo")],
        ..Launch::NONE
    }),
    advice: &[
        "trust the workspace: otherwise its hooks do not run",
        "edits by Tab completion cannot be refused by hooks",
    ],
    ..AgentSpec::like_claude("cursor", EVENTS, TOOLS)
};

const HOOKS: Form = Form::Json(&LAYOUT);
const CURSOR: HomeDir = HomeDir::at(".cursor").moved_by(&[("CURSOR_CONFIG_DIR", "")]);

const FILES: &[GoverningFile] = &[
    CURSOR.file("hooks.json").installs(HOOKS),
    CURSOR.file("hooks"),
    CURSOR.file("cli-config.json").keeps_state(),
    CURSOR.file("permissions.json"),
    HomeDir::at(".config/cursor").moved_by(&[("XDG_CONFIG_HOME", "cursor")]).file("cli-config.json"),
    project(".cursor/hooks.json").installs(HOOKS),
    project(".cursor/hooks"),
    project(".cursor/cli.json"),
    project(".cursor/permissions.json"),
    project(".cursor/mcp.json").lists_servers(),
    CURSOR.file("mcp.json").lists_servers(),
    machine("/etc/cursor/hooks.json").installs(HOOKS),
    machine("/etc/cursor"),
    mac("/Library/Application Support/Cursor/hooks.json").installs(HOOKS),
];

const EVENTS: &[Row] = &[
    Row::new("preToolUse", Moment::PreTool).also(&["PreToolUse"]).blocks(BlockForm::Permission),
    Row::new("beforeShellExecution", Moment::PreTool).blocks(BlockForm::Permission).asks(AskForm::Permission),
    Row::new("beforeMCPExecution", Moment::PreTool).blocks(BlockForm::Permission).asks(AskForm::Permission),
    Row::new("beforeReadFile", Moment::PreTool).blocks(BlockForm::PermissionForUser),
    Row::new("beforeTabFileRead", Moment::PreTool).blocks(BlockForm::PermissionForUser),
    Row::new("postToolUse", Moment::PostTool).also(&["PostToolUse"]).tells(TellForm::SnakeContext),
    Row::new("postToolUseFailure", Moment::PostTool).also(&["PostToolUseFailure"]),
    Row::new("afterShellExecution", Moment::PostTool),
    Row::new("afterMCPExecution", Moment::PostTool),
    Row::new("afterFileEdit", Moment::PostTool),
    Row::new("afterTabFileEdit", Moment::PostTool),
    Row::new("sessionStart", Moment::SessionStart).also(&["SessionStart"]).tells(TellForm::SnakeContext),
    Row::new("sessionEnd", Moment::SessionEnd).also(&["SessionEnd"]),
    Row::new("beforeSubmitPrompt", Moment::Prompt).also(&["UserPromptSubmit"]).blocks(BlockForm::Refuse),
    Row::new("stop", Moment::Stop).also(&["Stop"]).blocks(BlockForm::FollowUp),
    Row::new("subagentStop", Moment::SubagentStop).also(&["SubagentStop"]).blocks(BlockForm::FollowUp),
    Row::new("subagentStart", Moment::SubagentStart)
        .also(&["SubagentStart"])
        .blocks(BlockForm::PermissionForUser),
    Row::new("preCompact", Moment::Compaction).also(&["PreCompact"]),
    Row::new("afterAgentResponse", Moment::Other),
    Row::new("afterAgentThought", Moment::Other),
    Row::new("workspaceOpen", Moment::Other),
];

const TOOLS: &[ToolRow] = &[
    ("Shell", Shape::Shell),
    ("Bash", Shape::Shell),
    ("Read", Shape::Read),
    ("TabRead", Shape::Read),
    ("Grep", Shape::Search),
    ("LS", Shape::Search),
    ("Glob", Shape::Glob),
    ("Write", Shape::Edit),
    ("TabWrite", Shape::Edit),
    ("Edit", Shape::Edit),
    ("Delete", Shape::Delete),
    ("NotebookEdit", Shape::Notebook),
    ("WebFetch", Shape::Fetch),
    ("WebSearch", Shape::WebSearch),
    ("Task", Shape::Delegate),
    ("TodoWrite", Shape::Todo),
];

static LAYOUT: Layout = Layout {
    root: &["hooks"],
    versioned: true,
    says_fail_closed: true,
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
            Json::object([("command", Json::text(command)), ("timeout", Json::number(entry.patience))]);
        if let Some(matcher) = entry.matcher {
            handler = handler.with("matcher", Json::text(matcher));
        }
        if entry.closed { handler.with("failClosed", Json::Scalar(Value::Bool(true))) } else { handler }
    },
};

fn read(context: &Context<'_>, fields: &Fields) -> Result<EventKind, Unreadable> {
    Ok(match context.slot.row.name {
        "beforeShellExecution" => EventKind::PreTool(own(context, "Shell", fields.clone())?),
        "afterShellExecution" => {
            ended(own(context, "Shell", fields.clone())?, fields, "output", Status::Unknown)
        }
        "beforeMCPExecution" => EventKind::PreTool(server_tool(context, fields)?),
        "afterMCPExecution" => ended(server_tool(context, fields)?, fields, "result_json", Status::Succeeded),
        "beforeReadFile" | "beforeTabFileRead" => EventKind::PreTool(files_read(context, fields)?),
        "afterFileEdit" | "afterTabFileEdit" => {
            let action = own(context, "Write", fields.clone())?;
            ended(action, fields, "edits", Status::Succeeded)
        }
        "beforeSubmitPrompt" => {
            EventKind::Prompt { text: fields.need_text(&["prompt"])?.to_owned(), files: attachments(fields) }
        }
        "stop" | "subagentStop" => EventKind::Stop(stop(context, fields)?),
        "subagentStart" => EventKind::SubagentStart {
            child: context.key(fields.need_text(&["subagent_id"])?)?,
            agent_type: fields.text(&["subagent_type"])?.map(str::to_owned),
        },
        _ => parse::common(context, fields)?,
    })
}

fn own(context: &Context<'_>, tool: &str, input: Fields) -> Result<Action, Unreadable> {
    context.action(Tool { name: tool, server: None }, input, None)
}

fn server_tool(context: &Context<'_>, fields: &Fields) -> Result<Action, Unreadable> {
    let tool = Tool {
        name: fields.need_text(&["tool_name"])?,
        server: Some(fields.text(&["mcp_server_name"])?.unwrap_or("unknown")),
    };
    let input = fields.object_or_json(&["tool_input"])?.unwrap_or_default();
    context.action(tool, input, None)
}

fn ended(action: Action, fields: &Fields, output: &str, status: Status) -> EventKind {
    let output = fields.0.get(output).cloned().unwrap_or(Value::Null);
    EventKind::PostTool(action, Outcome { status, output })
}

/// The file and what is sent along with it.
fn files_read(context: &Context<'_>, fields: &Fields) -> Result<Action, Unreadable> {
    let path = fields.need_text(&["file_path"])?;
    let mut action = own(context, "Read", Fields(Map::from_iter([("path".to_owned(), path.into())])))?;
    let also = attachments(fields);
    if !also.is_empty() {
        let paths: Vec<Value> = std::iter::once(path.to_owned()).chain(also).map(Value::from).collect();
        action.payload = json!({"paths": paths}).as_object().cloned().unwrap_or_default();
    }
    Ok(action)
}

fn attachments(fields: &Fields) -> Vec<String> {
    let list = fields.0.get("attachments").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let path = |item: &Value| {
        item.get("file_path").or_else(|| item.get("filePath")).and_then(Value::as_str).map(str::to_owned)
    };
    list.iter().filter_map(path).collect()
}

/// A turn that was aborted or failed takes no follow-up.
fn stop(context: &Context<'_>, fields: &Fields) -> Result<Stop, Unreadable> {
    let rounds = fields.0.get("loop_count").and_then(Value::as_u64).unwrap_or(0);
    Ok(Stop {
        subagent: context.slot.moment() == Moment::SubagentStop,
        hook_active: rounds > 0,
        last_message: fields.text(&["summary"])?.map(str::to_owned),
        background: Vec::new(),
        aborted: fields.text(&["status"])?.is_some_and(|status| status != "completed"),
    })
}
