//! Gemini CLI: `tmp/<project>/chats/session-*.json`, one document a session, or lines of the same messages; checkpoints of
//! older versions keep the conversation as the model sees it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Entry, Kept, Reader, source};
use crate::agent::Agent;

pub(super) const KEPT: Kept = Kept {
    agent: Agent::GeminiCli,
    place: |homes| homes.home.join(".gemini/tmp"),
    is_one: |path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let ends = name.ends_with(".json") || name.ends_with(".jsonl");
        ends && (name.starts_with("session-") || name.starts_with("checkpoint"))
            && super::claude_code::through(path, ".gemini")
    },
    read: |path, reader, each| {
        if let Some(root) = project(path) {
            reader.cwd = root;
        }
        if path.extension().is_some_and(|end| end == "jsonl") {
            return source::lines(
                path,
                &["toolCalls", "sessionId", "functionCall"],
                reader,
                each,
                |reader, line, found| {
                    reader.note(line.get("sessionId"), line.get("cwd"), line.get("timestamp"));
                    message(reader, line, found);
                },
            );
        }
        let Some(document) = source::document(path, reader)? else { return Ok(()) };
        reader.note(document.get("sessionId"), None, document.get("startTime"));
        let messages = document.get("messages").or_else(|| document.get("history")).unwrap_or(&document);
        let mut found = Vec::new();
        for one in messages.as_array().into_iter().flatten() {
            message(reader, one, &mut found);
            if source::deliver(&mut found, each).is_break() {
                break;
            }
        }
        Ok(())
    },
};

fn message(reader: &mut Reader, message: &Value, found: &mut Vec<Entry>) {
    reader.note(None, None, message.get("timestamp"));
    for call in message.get("toolCalls").and_then(Value::as_array).into_iter().flatten() {
        let text = |name: &str| call.get(name).and_then(Value::as_str);
        reader.note(None, None, call.get("timestamp"));
        let input = call.get("args").cloned().unwrap_or(Value::Null);
        found.extend(reader.call(text("name").unwrap_or_default(), input, text("id")));
        if let (Some(id), Some(status)) = (text("id"), text("status")) {
            found.push(Entry::Done { id: id.to_owned(), success: status == "success" });
        }
    }
    for part in message.get("parts").and_then(Value::as_array).into_iter().flatten() {
        if let Some(call) = part.get("functionCall") {
            let input = call.get("args").cloned().unwrap_or(Value::Null);
            let id = call.get("id").and_then(Value::as_str);
            found.extend(reader.call(
                call.get("name").and_then(Value::as_str).unwrap_or_default(),
                input,
                id,
            ));
        }
    }
}

/// The project's root, if the directory of its sessions contains it; its name is often only a digest.
fn project(path: &Path) -> Option<String> {
    let kept = path.ancestors().nth(2)?;
    let root = fs::read_to_string(kept.join(".project_root")).ok()?;
    Some(root.trim().to_owned()).filter(|root| root.starts_with('/'))
}
