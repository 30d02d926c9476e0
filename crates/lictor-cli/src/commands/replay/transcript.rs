//! Claude Code transcripts: one JSON object a line, tool calls and their results among them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;

use anyhow::Result;
use lictor_agents::{Agent, EventKind, HookEnv, parse};
use lictor_core::{Action, Decision, Timestamp};
use serde_json::{Value, json};

use super::Past;
use crate::exit;

/// The tool calls of these files, in order. Lines that are nothing of the kind are passed over.
pub fn read(files: &[PathBuf]) -> Result<Vec<Past>> {
    let mut past = Vec::new();
    for file in files {
        let opened = File::open(file).map_err(|error| exit::unreadable(file, &error))?;
        let mut open: HashMap<String, Action> = HashMap::new();
        for line in BufReader::new(opened).lines() {
            let line = line.map_err(|error| exit::unreadable(file, &error))?;
            let Ok(entry) = serde_json::from_str::<Value>(&line) else { continue };
            let Some(parts) = entry.pointer("/message/content").and_then(Value::as_array) else { continue };
            let at = Timestamp(i64::try_from(past.len()).unwrap_or(i64::MAX).saturating_mul(1000));
            for part in parts {
                match part.get("type").and_then(Value::as_str) {
                    Some("tool_use") => {
                        let Some(action) = call(&entry, part) else { continue };
                        if let Some(id) = &action.tool_use_id {
                            open.insert(id.clone(), action.clone());
                        }
                        past.push(Past::Judged {
                            id: None,
                            action: Box::new(action),
                            facts: None,
                            was: Decision::Pass,
                            lifted: false,
                            at,
                        });
                    }
                    Some("tool_result") => {
                        let id = part.get("tool_use_id").and_then(Value::as_str).unwrap_or_default();
                        let failed = part.get("is_error").and_then(Value::as_bool).unwrap_or(false);
                        if let Some(action) = open.remove(id) {
                            past.push(Past::Happened { action: Box::new(action), success: !failed, at });
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(past)
}

/// A tool call as the hook would have been told of it.
fn call(entry: &Value, part: &Value) -> Option<Action> {
    let payload = json!({
        "session_id": entry.get("sessionId").and_then(Value::as_str).unwrap_or("transcript"),
        "cwd": entry.get("cwd").and_then(Value::as_str).unwrap_or("/"),
        "hook_event_name": "PreToolUse",
        "tool_name": part.get("name")?,
        "tool_input": part.get("input")?,
        "tool_use_id": part.get("id").and_then(Value::as_str).unwrap_or_default(),
    });
    let event =
        parse(Agent::ClaudeCode, Some("PreToolUse"), payload.to_string().as_bytes(), &HookEnv::default());
    match event.ok()?.kind {
        EventKind::PreTool(action) => Some(action),
        _ => None,
    }
}
