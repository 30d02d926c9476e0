//! The outcome of a tool call, as far as the agent reports it.
//!
//! Rules like "tests before push" depend on this, so an unreported success does not count as success.

use lictor_core::{Action, ActionKind};
use serde_json::Value;

use crate::event::{Outcome, Status};
use crate::input::Fields;
use crate::parse::Context;
use crate::spec::AgentSpec;

const OUTPUT: [&str; 4] = ["tool_response", "tool_result", "toolResult", "tool_output"];

/// The outcome that an event of the common shape tells of.
pub(crate) fn read(context: &Context<'_>, fields: &Fields, action: &Action) -> Outcome {
    let output = OUTPUT.iter().find_map(|name| fields.0.get(*name)).cloned().unwrap_or(Value::Null);
    let error =
        ["error", "error_message"].iter().find_map(|name| fields.0.get(*name)).filter(|error| said(error));
    match error {
        Some(error) => Outcome { status: Status::Failed, output: error.clone() },
        None => Outcome { status: status(context.spec, &output, action), output },
    }
}

fn said(error: &Value) -> bool {
    !matches!(error, Value::Null | Value::Bool(false)) && error.as_str() != Some("")
}

pub(crate) fn status(spec: &AgentSpec, output: &Value, action: &Action) -> Status {
    // Some agents send the result as JSON text.
    let unpacked = output.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let output = unpacked.as_ref().unwrap_or(output);
    let yes = |name: &str| output.get(name).and_then(Value::as_bool).unwrap_or(false);
    if yes("interrupted") || yes("isError") || output.get("error").is_some_and(said) {
        return Status::Failed;
    }
    let background = action.payload.get("run_in_background") == Some(&Value::Bool(true))
        || output.get("backgroundTaskId").is_some_and(said);
    match (exit_code(output), &action.kind) {
        (Some(0), _) => Status::Succeeded,
        (Some(_), _) => Status::Failed,
        (None, _) if background => Status::Unknown,
        (None, ActionKind::Bash) if !spec.post_means_success => Status::Unknown,
        (None, _) => Status::Succeeded,
    }
}

fn exit_code(output: &Value) -> Option<i64> {
    let field = |value: &Value, name: &str| value.get(name).and_then(Value::as_i64);
    field(output, "exitCode")
        .or_else(|| field(output, "exit_code"))
        .or_else(|| output.get("metadata").and_then(|metadata| field(metadata, "exit")))
        .or_else(|| told(output, "llmContent", "Exit Code: ", ""))
        .or_else(|| told(output, "textResultForLlm", "<exited with exit code ", ">"))
        .or_else(|| told(output, "text_result_for_llm", "<exited with exit code ", ">"))
}

/// The last line of that form: the agent appends its own line to the command's output.
fn told(output: &Value, field: &str, before: &str, after: &str) -> Option<i64> {
    let text = output.get(field)?.as_str()?;
    let line = text.lines().rev().find_map(|line| line.trim().strip_prefix(before)?.strip_suffix(after))?;
    line.trim().parse().ok()
}
