//! Every recorded payload of every agent, against a reviewed table of what it means.
#![expect(clippy::unwrap_used, reason = "a broken fixture should stop the test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lictor_agents::{Agent, Event, EventKind, HookEnv, Status, parse};
use serde_json::{Map, Value, json};

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path)
}

/// The hook that a payload comes to: the directory names the agent, the file name begins with the event.
fn hook(directory: &str, stem: &str) -> (Agent, Option<String>) {
    let agent = if directory == "devin-cli" { "claude-code" } else { directory };
    let event = (!stem.starts_with("event-")).then(|| stem.split('-').next().unwrap().to_owned());
    (agent.parse().unwrap(), event)
}

fn payloads() -> Vec<(String, Agent, Option<String>, Vec<u8>)> {
    let mut all = Vec::new();
    for directory in fs::read_dir(here("payloads")).unwrap().map(|entry| entry.unwrap()) {
        let name = directory.file_name().into_string().unwrap();
        for file in fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if file.extension().is_some_and(|extension| extension == "json") {
                let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
                let (agent, event) = hook(&name, &stem);
                all.push((format!("{name}/{stem}"), agent, event, fs::read(&file).unwrap()));
            }
        }
    }
    all.sort();
    all
}

/// What an event says, without what is the same in every row of the table.
fn described(event: &Event) -> Value {
    let mut out = Map::new();
    let kind = match &event.kind {
        EventKind::PreTool(_) => "pre-tool",
        EventKind::PermissionRequest(_) => "permission-request",
        EventKind::PostTool(_, outcome) => match outcome.status {
            Status::Succeeded => "post-tool succeeded",
            Status::Failed => "post-tool failed",
            Status::Unknown => "post-tool unknown",
        },
        EventKind::SessionStart(source) => {
            out.insert("source".into(), format!("{source:?}").to_lowercase().into());
            "session-start"
        }
        EventKind::SessionEnd(_) => "session-end",
        EventKind::Prompt { text, files } => {
            out.insert("text".into(), text.as_str().into());
            if !files.is_empty() {
                out.insert("files".into(), files.clone().into());
            }
            "prompt"
        }
        EventKind::Stop(stop) => {
            for (name, set) in
                [("hook_active", stop.hook_active), ("subagent", stop.subagent), ("aborted", stop.aborted)]
            {
                if set {
                    out.insert(name.into(), true.into());
                }
            }
            if let Some(last) = &stop.last_message {
                out.insert("last".into(), last.as_str().into());
            }
            if !stop.background.is_empty() {
                out.insert("background".into(), stop.background.clone().into());
            }
            "stop"
        }
        EventKind::SubagentStart { child, .. } => {
            out.insert("child".into(), child.to_string().into());
            "subagent-start"
        }
        EventKind::Compaction => "compaction",
        EventKind::Other => "other",
    };
    out.insert("is".into(), kind.into());
    if let Some(action) = event.action() {
        out.insert("action".into(), action.kind.as_str().into());
        out.insert("tool".into(), action.tool.as_str().into());
        out.insert("payload".into(), Value::Object(action.payload.clone()));
        assert_eq!(action.session, event.session);
        assert_eq!(action.validate(), Ok(()), "{action:?}");
        if action.cwd != event.cwd {
            out.insert("in".into(), action.cwd.as_str().into());
        }
        if let Some(id) = &action.tool_use_id {
            out.insert("id".into(), id.as_str().into());
        }
    }
    if let Some(session) = &event.session {
        out.insert("session".into(), session.to_string().into());
    }
    if let Some(parent) = &event.parent_session {
        out.insert("parent".into(), parent.to_string().into());
    }
    if !event.actor.chain.is_empty() {
        out.insert("chain".into(), event.actor.chain.clone().into());
    }
    if event.slot.can_ask() {
        out.insert("can_ask".into(), true.into());
    }
    if event.cwd != "/home/dev/acme-api" {
        out.insert("cwd".into(), event.cwd.as_str().into());
    }
    Value::Object(out)
}

#[test]
fn every_payload_means_what_the_table_says() {
    let table = fs::read_to_string(here("cases/payloads.yaml")).unwrap();
    let mut table: BTreeMap<String, Value> = serde_saphyr::from_str(&table).unwrap();
    let mut wrong = Vec::new();
    for (name, agent, event, bytes) in payloads() {
        let got = match parse(agent, event.as_deref(), &bytes, &HookEnv::default()) {
            Ok(event) => {
                assert_eq!(event.slot.agent(), agent, "{name}");
                described(&event)
            }
            Err(error) => json!({"is": "not understood", "why": error.to_string()}),
        };
        if table.remove(&name).as_ref() != Some(&got) {
            wrong.push(format!("{name}: {got}"));
        }
    }
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(table.is_empty(), "rows without a payload: {:?}", table.keys());
}
