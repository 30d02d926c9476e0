//! Codex: `sessions/<year>/<month>/<day>/rollout-*.jsonl`. Newer versions wrap the entries of older ones.

use serde_json::{Value, json};

use super::{Entry, Kept, Reader, arguments, source};
use crate::agent::Agent;

pub(super) const KEPT: Kept = Kept {
    agent: Agent::Codex,
    place: |homes| homes.codex.clone().unwrap_or_else(|| homes.home.join(".codex")).join("sessions"),
    is_one: |path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("rollout-") && name.ends_with(".jsonl")
    },
    read: |path, reader, each| {
        let marks = ["_call", "session_meta", "turn_context", "\"instructions\""];
        source::lines(path, &marks, reader, each, entry)
    },
};

fn entry(reader: &mut Reader, line: &Value, found: &mut Vec<Entry>) {
    let item = line.get("payload").unwrap_or(line);
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    let session = match line.get("type").and_then(Value::as_str) {
        Some("session_meta") => item.get("id"),
        // The first line of the older form has no type.
        None => line.get("id"),
        Some(_) => None,
    };
    reader.note(session, item.get("cwd"), line.get("timestamp"));
    let id = text("call_id").or(text("id"));
    match text("type") {
        Some("function_call") => {
            let input = arguments(item.get("arguments"));
            found.extend(reader.call(text("name").unwrap_or_default(), elsewhere(input), id));
        }
        Some("custom_tool_call") => {
            let input = json!({"input": text("input").unwrap_or_default()});
            found.extend(reader.call(text("name").unwrap_or_default(), input, id));
        }
        Some("local_shell_call") => {
            let action = item.get("action").cloned().unwrap_or(Value::Null);
            found.extend(reader.call("local_shell", elsewhere(action), id));
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            found.extend(
                id.map(|id| Entry::Done { id: id.to_owned(), success: succeeded(item.get("output")) }),
            );
        }
        _ => {}
    }
}

/// Codex has had several names for the directory that a command runs in.
fn elsewhere(mut input: Value) -> Value {
    if let Some(fields) = input.as_object_mut() {
        for name in ["workdir", "working_directory"] {
            if let Some(directory) = fields.remove(name)
                && directory.is_string()
            {
                fields.entry("cwd").or_insert(directory);
            }
        }
        if let Some(command) = fields.remove("cmd") {
            fields.entry("command").or_insert(command);
        }
    }
    input
}

/// The result is an object, the text of one, or plain text with the exit status.
fn succeeded(output: Option<&Value>) -> bool {
    let value = arguments(output);
    if let Some(code) = value.pointer("/metadata/exit_code").and_then(Value::as_i64) {
        return code == 0;
    }
    if let Some(success) = value.get("success").and_then(Value::as_bool) {
        return success;
    }
    let text = output.and_then(Value::as_str).unwrap_or_default();
    !text.contains("Process exited with code ") || text.contains("Process exited with code 0")
}
