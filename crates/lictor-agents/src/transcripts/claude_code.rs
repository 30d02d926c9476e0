//! Claude Code: `projects/<directory>/<session>.jsonl`, one message per line, including tool calls and their
//! results.

use std::path::Path;

use serde_json::Value;

use super::{Entry, Kept, Reader, source};
use crate::agent::Agent;

pub(super) const KEPT: Kept = Kept {
    agent: Agent::ClaudeCode,
    place: |homes| homes.claude.clone().unwrap_or_else(|| homes.home.join(".claude")).join("projects"),
    is_one: |path| {
        through(path, "projects")
            && !through(path, ".cursor")
            && path.extension().is_some_and(|end| end == "jsonl")
    },
    read: |path, reader, each| source::lines(path, &["\"tool_use\"", "\"tool_result\""], reader, each, entry),
};

fn entry(reader: &mut Reader, line: &Value, found: &mut Vec<Entry>) {
    reader.note(line.get("sessionId"), line.get("cwd"), line.get("timestamp"));
    let message = line.get("message").unwrap_or(line);
    for part in message.get("content").and_then(Value::as_array).into_iter().flatten() {
        parts(reader, part, found);
    }
}

/// A part of a message in the form of the Messages API, which others use too.
pub(super) fn parts(reader: &mut Reader, part: &Value, found: &mut Vec<Entry>) {
    let text = |name: &str| part.get(name).and_then(Value::as_str);
    match text("type") {
        Some("tool_use") => {
            let input = part.get("input").cloned().unwrap_or(Value::Null);
            found.extend(reader.call(text("name").unwrap_or_default(), input, text("id")));
        }
        Some("tool_result") => {
            let failed = part.get("is_error").and_then(Value::as_bool).unwrap_or(false);
            found.extend(text("tool_use_id").map(|id| Entry::Done { id: id.to_owned(), success: !failed }));
        }
        _ => {}
    }
}

/// Whether a path goes through a directory of that name.
pub(super) fn through(path: &Path, name: &str) -> bool {
    path.components().any(|part| part.as_os_str() == name)
}
