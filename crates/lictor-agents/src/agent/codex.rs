//! Codex CLI: Claude's shape with closed schemas. A field that is not in the schema, an `ask`, an `allow` that
//! changes nothing or an empty reason makes the run fail, and a failed run lets the action through.

use crate::contract::{BlockForm, Contract, Moment, Row, TellForm};
use crate::tools::{Shape, ToolRow};

pub(super) static CONTRACT: Contract = Contract::like_claude(EVENTS, TOOLS);

const DECISION: BlockForm = BlockForm::Decision("block");
const CONTEXT: TellForm = TellForm::AdditionalContext;

const EVENTS: &[Row] = &[
    Row::new("PreToolUse", Moment::PreTool).blocks(BlockForm::PermissionDecision).tells(CONTEXT),
    Row::new("PermissionRequest", Moment::PermissionRequest).blocks(BlockForm::Behavior),
    Row::new("PostToolUse", Moment::PostTool).blocks(DECISION).tells(CONTEXT),
    Row::new("SessionStart", Moment::SessionStart).tells(CONTEXT),
    Row::new("SessionEnd", Moment::SessionEnd),
    Row::new("UserPromptSubmit", Moment::Prompt).blocks(DECISION).tells(CONTEXT),
    Row::new("Stop", Moment::Stop).blocks(DECISION),
    Row::new("SubagentStop", Moment::SubagentStop).blocks(DECISION),
    Row::new("SubagentStart", Moment::SubagentStart).tells(CONTEXT),
    Row::new("PreCompact", Moment::Compaction),
    Row::new("PostCompact", Moment::Other),
    Row::new("Interrupt", Moment::Other),
];

const TOOLS: &[ToolRow] = &[
    ("Bash", Shape::Shell),
    ("shell", Shape::Argv),
    ("local_shell", Shape::Argv),
    ("exec_command", Shape::Argv),
    ("container.exec", Shape::Argv),
    ("apply_patch", Shape::Patch),
    ("view_image", Shape::Read),
    ("spawn_agent", Shape::Delegate),
    ("update_plan", Shape::Todo),
    ("web_search", Shape::WebSearch),
];
