//! Gemini CLI. JSON on stdout decides whatever the exit code is; exit code 2 with no output at all blocks nothing.
//!
//! `ask` is not used: it opens a question even over a refusal of the user's own policy.

use crate::contract::{BlockForm, Contract, Moment, Row, TellForm};
use crate::event::EventKind;
use crate::input::{Fields, Unreadable};
use crate::parse::{self, Context};
use crate::tools::{Shape, Tool, ToolRow};

pub(super) static CONTRACT: Contract = Contract { read, ..Contract::like_claude(EVENTS, TOOLS) };

const DENY: BlockForm = BlockForm::Decision("deny");
const CONTEXT: TellForm = TellForm::AdditionalContext;

const EVENTS: &[Row] = &[
    Row::new("BeforeTool", Moment::PreTool).blocks(DENY).tells(TellForm::SystemMessage),
    Row::new("AfterTool", Moment::PostTool).blocks(DENY).tells(CONTEXT),
    Row::new("BeforeAgent", Moment::Prompt).blocks(DENY).tells(CONTEXT),
    Row::new("AfterAgent", Moment::Stop).blocks(DENY),
    Row::new("SessionStart", Moment::SessionStart).tells(CONTEXT),
    Row::new("SessionEnd", Moment::SessionEnd),
    Row::new("PreCompress", Moment::Compaction),
    Row::new("BeforeModel", Moment::Other),
    Row::new("AfterModel", Moment::Other),
    Row::new("BeforeToolSelection", Moment::Other),
    Row::new("Notification", Moment::Other),
];

const TOOLS: &[ToolRow] = &[
    ("run_shell_command", Shape::Shell),
    ("read_file", Shape::Read),
    ("read_many_files", Shape::ReadMany),
    ("list_directory", Shape::Search),
    ("glob", Shape::Glob),
    ("grep_search", Shape::Search),
    ("search_file_content", Shape::Search),
    ("write_file", Shape::Write),
    ("replace", Shape::Edit),
    ("web_fetch", Shape::Fetch),
    ("google_web_search", Shape::WebSearch),
    ("invoke_agent", Shape::Delegate),
    ("write_todos", Shape::Todo),
];

/// A server's tool has one name made of both with single underscores; only `mcp_context` says where it splits.
fn read(context: &Context<'_>, fields: &Fields) -> Result<EventKind, Unreadable> {
    let event = parse::common(context, fields)?;
    let Some(mcp) = fields.object(&["mcp_context"])? else { return Ok(event) };
    let tool = Tool { server: Some(mcp.need_text(&["server_name"])?), name: mcp.need_text(&["tool_name"])? };
    let input = fields.object(&["tool_input"])?.unwrap_or_default();
    let action = context.action(tool, input, None)?;
    Ok(match event {
        EventKind::PostTool(_, outcome) => EventKind::PostTool(action, outcome),
        EventKind::PreTool(_) => EventKind::PreTool(action),
        other => other,
    })
}
