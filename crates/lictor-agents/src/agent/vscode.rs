//! Agents in VS Code: Claude's shape with VS Code's own tools.

use crate::contract::{AskForm, BlockForm, Contract, Moment, Row, TellForm};
use crate::tools::{Shape, ToolRow};

pub(super) static CONTRACT: Contract =
    Contract { person_present: |_, env| !env.is_set("CI"), ..Contract::like_claude(EVENTS, TOOLS) };

const CONTEXT: TellForm = TellForm::AdditionalContext;

const EVENTS: &[Row] = &[
    Row::new("PreToolUse", Moment::PreTool)
        .also(&["preToolUse"])
        .blocks(BlockForm::PermissionDecision)
        .asks(AskForm::PermissionDecision)
        .tells(CONTEXT),
    Row::new("PostToolUse", Moment::PostTool)
        .also(&["postToolUse"])
        .blocks(BlockForm::Decision("block"))
        .tells(CONTEXT),
    Row::new("SessionStart", Moment::SessionStart).also(&["sessionStart"]).tells(CONTEXT),
    Row::new("UserPromptSubmit", Moment::Prompt).also(&["userPromptSubmitted"]).blocks(BlockForm::Halt),
    // Here the decision sits one level deeper than for a subagent.
    Row::new("Stop", Moment::Stop).also(&["agentStop"]).blocks(BlockForm::NestedDecision),
    Row::new("SubagentStop", Moment::SubagentStop)
        .also(&["subagentStop"])
        .blocks(BlockForm::Decision("block")),
    Row::new("SubagentStart", Moment::SubagentStart).also(&["subagentStart"]).tells(CONTEXT),
    Row::new("PreCompact", Moment::Compaction).also(&["preCompact"]),
];

const TOOLS: &[ToolRow] = &[
    ("runTerminalCommand", Shape::Shell),
    ("run_in_terminal", Shape::Shell),
    ("read_file", Shape::Read),
    ("list_dir", Shape::Search),
    ("file_search", Shape::Glob),
    ("grep_search", Shape::Search),
    ("semantic_search", Shape::Search),
    ("create_file", Shape::Write),
    ("editFiles", Shape::WriteMany),
    ("replace_string_in_file", Shape::Edit),
    ("multi_replace_string_in_file", Shape::WriteMany),
    ("insert_edit_into_file", Shape::Edit),
    ("apply_patch", Shape::Patch),
    ("edit_notebook_file", Shape::Notebook),
    ("fetch_webpage", Shape::Fetch),
    ("runSubagent", Shape::Delegate),
    ("manage_todo_list", Shape::Todo),
];
