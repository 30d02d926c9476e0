//! Windsurf Cascade: one event per kind of tool. Only exit code 2 of a `pre_` hook stops anything, and nothing that a hook
//! prints reaches the model.

use serde_json::Value;

use crate::contract::{BlockForm, Moment, Row};
use crate::event::{EventKind, Outcome, Status, Stop};
use crate::files::{At, GoverningFile, HomeDir, mac, machine, project};
use crate::input::{Fields, Unreadable, missing};
use crate::install::json::Json;
use crate::install::layout::{Form, Layout, every};
use crate::install::servers::ServerFile;
use crate::parse::Context;
use crate::spec::AgentSpec;
use crate::tools::{Shape, Tool, ToolRow};

pub(super) static SPEC: AgentSpec = AgentSpec {
    read,
    event_name: |fields| fields.text(&["agent_action_name"]),
    session: |fields| fields.text(&["trajectory_id"]),
    files: FILES,
    servers: &[ServerFile::home(CODEIUM, "windsurf/mcp_config.json", "mcpServers")],
    traces: &[(At::Home(CODEIUM), "windsurf"), (At::Project, ".windsurf")],
    directory: Some(".windsurf"),
    editors: &["windsurf"],
    advice: &["nothing that a hook says reaches the model except the reason of a refusal"],
    ..AgentSpec::like_claude("windsurf", EVENTS, TOOLS)
};

const HOOKS: Form = Form::Json(&LAYOUT);
const CODEIUM: HomeDir = HomeDir::at(".codeium");

const FILES: &[GoverningFile] = &[
    CODEIUM.file("windsurf/hooks.json").installs(HOOKS),
    // The plugin for JetBrains.
    CODEIUM.file("hooks.json"),
    CODEIUM.file("windsurf/mcp_config.json").lists_servers(),
    project(".windsurf/hooks.json").installs(HOOKS),
    project(".windsurf/hooks"),
    machine("/etc/windsurf/hooks.json").installs(HOOKS),
    machine("/etc/windsurf"),
    mac("/Library/Application Support/Windsurf/hooks.json").installs(HOOKS),
];

const EVENTS: &[Row] = &[
    Row::new("pre_run_command", Moment::PreTool).blocks(BlockForm::ExitTwo),
    Row::new("pre_read_code", Moment::PreTool).blocks(BlockForm::ExitTwo),
    Row::new("pre_write_code", Moment::PreTool).blocks(BlockForm::ExitTwo),
    Row::new("pre_mcp_tool_use", Moment::PreTool).blocks(BlockForm::ExitTwo),
    Row::new("pre_user_prompt", Moment::Prompt).blocks(BlockForm::ExitTwo),
    Row::new("post_run_command", Moment::PostTool),
    Row::new("post_read_code", Moment::PostTool),
    Row::new("post_write_code", Moment::PostTool),
    Row::new("post_mcp_tool_use", Moment::PostTool),
    Row::new("post_cascade_response", Moment::Stop),
    Row::new("post_cascade_response_with_transcript", Moment::Other),
    Row::new("post_setup_worktree", Moment::Other),
];

/// The event determines the tool.
const TOOLS: &[ToolRow] =
    &[("run_command", Shape::Shell), ("read_code", Shape::Read), ("write_code", Shape::Edit)];

static LAYOUT: Layout = Layout {
    root: &["hooks"],
    versioned: false,
    says_fail_closed: false,
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

fn read(context: &Context<'_>, fields: &Fields) -> Result<EventKind, Unreadable> {
    const INFO: &[&str] = &["tool_info"];
    let info = fields.object(INFO)?.ok_or_else(|| missing(INFO))?;
    let name = context.slot.event_name();
    let call = |tool: &str| match tool {
        "mcp_tool_use" => {
            let tool = Tool {
                name: info.need_text(&["mcp_tool_name"])?,
                server: Some(info.need_text(&["mcp_server_name"])?),
            };
            let input = info.object(&["mcp_tool_arguments"])?.unwrap_or_default();
            context.action(tool, input, None)
        }
        tool => context.action(Tool { name: tool, server: None }, info.clone(), None),
    };
    Ok(match context.slot.moment() {
        Moment::PreTool => EventKind::PreTool(call(name.trim_start_matches("pre_"))?),
        Moment::PostTool => {
            let action = call(name.trim_start_matches("post_"))?;
            let status = match name {
                "post_run_command" => Status::Unknown,
                _ => Status::Succeeded,
            };
            EventKind::PostTool(action, Outcome { status, output: Value::Object(info.0.clone()) })
        }
        Moment::Prompt => {
            EventKind::Prompt { text: info.need_text(&["user_prompt"])?.to_owned(), files: Vec::new() }
        }
        Moment::Stop => EventKind::Stop(Stop {
            last_message: info.text(&["response"])?.map(str::to_owned),
            ..Stop::default()
        }),
        _ => EventKind::Other,
    })
}
