//! GitHub Copilot CLI. The case of the event's name in the settings picks the dialect: small names bring camelCase
//! fields and Copilot's own tools, capital names bring snake_case fields and Claude's tool names.

use serde_json::{Value, json};

use crate::contract::{AskForm, BlockForm, Contract, Moment, Row, TellForm};
use crate::event::EventKind;
use crate::input::{Fields, Unreadable, missing};
use crate::outcome;
use crate::parse::{self, Context};
use crate::tools::{Shape, ToolRow};

pub(super) static CONTRACT: Contract = Contract {
    read,
    event_name: |fields| fields.text(&["hook_event_name", "hookName"]),
    post_means_success: true,
    person_present: |_, env| !env.is_set("CI"),
    ..Contract::like_claude(EVENTS, TOOLS)
};

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
