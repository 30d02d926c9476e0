//! Goose: Claude's events in a plugin's `hooks.json`, with its own fields and names. A refusal in JSON stops a
//! call and sends the agent back; hooks after a call are not read. Calls of subagents reach no hook.

use lictor_core::{Action, ActionKind};
use serde_json::{Value, json};

use crate::contract::{BlockForm, Moment, Row};
use crate::event::{EventKind, Status};
use crate::files::{At, GoverningFile, HomeDir, project};
use crate::input::{Fields, Unreadable};
use crate::install::json::Json;
use crate::install::layout::{Form, LATE, Layout, command_handler, every};
use crate::launch::{Launch, Unchecked};
use crate::parse::{self, Context};
use crate::spec::AgentSpec;
use crate::tools::{Shape, ToolRow};

pub(super) static SPEC: AgentSpec = AgentSpec {
    read,
    event_name: |fields| fields.text(&["event"]),
    post_means_success: true,
    delegates_unseen: true,
    files: FILES,
    traces: &[(At::Home(GOOSE), "")],
    state: &[".local/share/goose", ".local/state/goose"],
    launch: Some(Launch {
        programs: &["goose"],
        packages: &["@aaif/goose"],
        // There is a program for databases of the same name.
        tasks: &["run", "session", "s", "recipe", "acp", "serve", "web", "term"],
        unchecked: &[Unchecked::Variable("GOOSE_MODE", "auto")],
        ..Launch::NONE
    }),
    advice: &[
        "its hooks do not see what subagents do: Lictor asks about every `delegate`",
        "it reads nothing from hooks after a tool call, and plugins only of the directory in which it is started",
    ],
    ..AgentSpec::like_claude("goose", EVENTS, TOOLS)
};

const HOOKS: Form = Form::Json(&LAYOUT);
/// Not its own directory: other agents use it too.
const HOME: HomeDir = HomeDir::at("");
const GOOSE: HomeDir =
    HomeDir::at(".config/goose").moved_by(&[("XDG_CONFIG_HOME", "goose"), ("GOOSE_PATH_ROOT", "config")]);

const FILES: &[GoverningFile] = &[
    HOME.file(".agents/plugins/lictor/hooks/hooks.json").installs(HOOKS),
    HOME.file(".agents/plugins"),
    // Plugins are switched off there.
    GOOSE.file("settings.json").holds(HOOKS),
    GOOSE.file("permission.yaml").keeps_state(),
    GOOSE.file("config.yaml").keeps_state(),
    project(".agents/plugins/lictor/hooks/hooks.json").installs(HOOKS),
    project(".agents/plugins"),
    project(".config/goose/settings.json").holds(HOOKS),
];

const BLOCK: BlockForm = BlockForm::Decision("block");

const EVENTS: &[Row] = &[
    Row::new("PreToolUse", Moment::PreTool).blocks(BLOCK),
    Row::new("PostToolUse", Moment::PostTool),
    Row::new(FAILED, Moment::PostTool),
    Row::new("UserPromptSubmit", Moment::Prompt),
    Row::new("Stop", Moment::Stop).blocks(BLOCK),
    Row::new("SessionStart", Moment::SessionStart),
    Row::new("SessionEnd", Moment::SessionEnd),
    Row::new("PreToolUseResult", Moment::Other),
    Row::new("BeforeReadFile", Moment::Other),
    Row::new("AfterFileEdit", Moment::Other),
    Row::new("BeforeShellExecution", Moment::Other),
    Row::new("AfterShellExecution", Moment::Other),
];

const TOOLS: &[ToolRow] = &[
    ("shell", Shape::Shell),
    ("write", Shape::Write),
    ("edit", Shape::Edit),
    ("tree", Shape::Search),
    ("analyze", Shape::Search),
    (READ_IMAGE, Shape::Read),
    ("delegate", Shape::Delegate),
];

const READ_IMAGE: &str = "read_image";
const FAILED: &str = "PostToolUseFailure";

static LAYOUT: Layout = Layout {
    root: &["hooks"],
    versioned: false,
    says_fail_closed: true,
    entries: &[
        every("PreToolUse").closed(),
        every("PostToolUse"),
        every(FAILED),
        every("UserPromptSubmit"),
        every("SessionStart"),
        every("SessionEnd").waits(10),
        every("Stop").waits(LATE),
    ],
    handler: |entry, command| {
        let handler = command_handler(entry, command);
        if entry.closed { handler.with("on_failure", Json::text("block")) } else { handler }
    },
};

/// Maps its own names to the common ones. A tool of a server is called `server__tool`; images may come from a
/// URL.
fn read(context: &Context<'_>, fields: &Fields) -> Result<EventKind, Unreadable> {
    if context.slot.row.moment == Moment::Prompt {
        let text = fields.need_text(&["message"])?.to_owned();
        return Ok(EventKind::Prompt { text, files: Vec::new() });
    }
    let mut fields = Fields(fields.0.clone());
    fields.rename("tool_call_id", "tool_use_id");
    let tool = fields.text(&["tool_name"])?.map(str::to_owned);
    if let Some(tool) = tool.filter(|tool| tool.contains("__")) {
        fields.0.insert("tool_name".to_owned(), format!("mcp__{tool}").into());
    } else if let Some(mut input) = fields.object(&["tool_input"])? {
        for (own, common) in [("before", "old_string"), ("after", "new_string"), ("source", "path")] {
            input.rename(own, common);
        }
        fields.0.insert("tool_input".to_owned(), Value::Object(input.0));
    }
    Ok(match parse::common(context, &fields)? {
        EventKind::PreTool(action) => EventKind::PreTool(with_address(action)),
        EventKind::PostTool(action, mut outcome) => {
            // Only the name of the event shows it.
            if context.slot.row.name == FAILED {
                outcome.status = Status::Failed;
            }
            EventKind::PostTool(with_address(action), outcome)
        }
        other => other,
    })
}

/// An image that is named by an address is fetched.
fn with_address(mut action: Action) -> Action {
    let source = action.payload.get("path").and_then(Value::as_str);
    let address = source.filter(|source| source.contains("://") && !source.starts_with("file:"));
    if let Some(address) = address.filter(|_| action.tool == READ_IMAGE).map(str::to_owned) {
        action.kind = ActionKind::Fetch;
        action.payload = [("url".to_owned(), json!(address))].into_iter().collect();
    }
    action
}
