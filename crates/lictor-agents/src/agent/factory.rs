//! Factory's Droid: Claude's shape. Its JSON answers are known from third parties only; exit code 2 is documented.

use crate::contract::{BlockForm, Contract, Moment, Row, TellForm};
use crate::tools::{Shape, ToolRow};

pub(super) static CONTRACT: Contract = Contract::like_claude(EVENTS, TOOLS);

const CONTEXT: TellForm = TellForm::AdditionalContext;

const EVENTS: &[Row] = &[
    Row::new("PreToolUse", Moment::PreTool).blocks(BlockForm::ExitTwo),
    Row::new("PostToolUse", Moment::PostTool).blocks(BlockForm::ExitTwo).tells(CONTEXT),
    Row::new("UserPromptSubmit", Moment::Prompt).blocks(BlockForm::ExitTwo).tells(CONTEXT),
    Row::new("Stop", Moment::Stop).blocks(BlockForm::ExitTwo),
    Row::new("SubagentStop", Moment::SubagentStop).blocks(BlockForm::ExitTwo),
    Row::new("SessionStart", Moment::SessionStart).tells(CONTEXT),
    Row::new("SessionEnd", Moment::SessionEnd),
    Row::new("PreCompact", Moment::Compaction),
    Row::new("Notification", Moment::Other),
];

const TOOLS: &[ToolRow] = &[
    ("Execute", Shape::Shell),
    ("Read", Shape::Read),
    ("LS", Shape::Search),
    ("Glob", Shape::Glob),
    ("Grep", Shape::Search),
    ("Create", Shape::Write),
    ("Edit", Shape::Edit),
    ("MultiEdit", Shape::Edit),
    ("ApplyPatch", Shape::Patch),
    ("FetchUrl", Shape::Fetch),
    ("WebSearch", Shape::WebSearch),
    ("Task", Shape::Delegate),
    ("TodoWrite", Shape::Todo),
];
