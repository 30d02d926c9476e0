//! Copilot CLI: `session-state/<session>/events.jsonl`, or `<session>.jsonl` of older versions; the oldest kept one document
//! a session in `history-session-state`.

use serde_json::Value;

use super::claude_code::through;
use super::{Entry, Kept, Reader, arguments, source};
use crate::agent::Agent;

pub(super) const KEPT: Kept = Kept {
    agent: Agent::CopilotCli,
    place: |homes| homes.copilot.clone().unwrap_or_else(|| homes.home.join(".copilot")),
    is_one: |path| {
        let ends = |end: &str| path.extension().is_some_and(|is| is == end);
        (through(path, "session-state") && ends("jsonl"))
            || (through(path, "history-session-state") && ends("json"))
    },
    read: |path, reader, each| {
        if path.extension().is_some_and(|end| end == "json") {
            let Some(document) = source::document(path, reader)? else { return Ok(()) };
            let mut found = Vec::new();
            history(reader, &document, &mut found);
            let _ = source::deliver(&mut found, each);
            return Ok(());
        }
        source::lines(path, &["session.", "tool.execution_"], reader, each, event)
    },
};

fn event(reader: &mut Reader, line: &Value, found: &mut Vec<Entry>) {
    let data = line.get("data").unwrap_or(line);
    let text = |name: &str| data.get(name).and_then(Value::as_str);
    reader.note(
        data.get("sessionId"),
        data.pointer("/context/cwd").or_else(|| data.get("cwd")),
        line.get("timestamp"),
    );
    match line.get("type").and_then(Value::as_str) {
        Some("tool.execution_start") => {
            let input = arguments(data.get("arguments"));
            found.extend(reader.call(text("toolName").unwrap_or_default(), input, text("toolCallId")));
        }
        Some("tool.execution_complete") => {
            let success = data.get("success").and_then(Value::as_bool).unwrap_or(true);
            found.extend(text("toolCallId").map(|id| Entry::Done { id: id.to_owned(), success }));
        }
        _ => {}
    }
}

fn history(reader: &mut Reader, document: &Value, found: &mut Vec<Entry>) {
    reader.note(document.get("sessionId"), document.get("cwd"), document.get("startTime"));
    for message in document.get("chatMessages").and_then(Value::as_array).into_iter().flatten() {
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let Some(function) = call.get("function") else { continue };
            let input = arguments(function.get("arguments"));
            let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
            found.extend(reader.call(name, input, call.get("id").and_then(Value::as_str)));
        }
        if message.get("role").and_then(Value::as_str) == Some("tool")
            && let Some(id) = message.get("tool_call_id").and_then(Value::as_str)
        {
            found.push(Entry::Done { id: id.to_owned(), success: true });
        }
    }
}
