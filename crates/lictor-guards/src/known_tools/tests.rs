use lictor_core::ActionKind;
use serde_json::json;

use super::*;
use crate::testing::{ROOT, bash, judged};

fn tool(name: &str, payload: serde_json::Value) -> Action {
    let mut action = Action::new(ActionKind::Tool, payload.as_object().unwrap().clone()).in_dir(ROOT);
    action.tool = name.to_owned();
    action
}

#[test]
fn tools_nobody_described_are_asked_about() {
    let value = |name: &str| judged(KnownTools::default(), &tool(name, json!({"to": "x"}))).value;
    assert_eq!(value("mcp__acme__send"), Value::Ask);
    assert_eq!(value("SomethingNew"), Value::Ask);
    assert_eq!(value("TodoWrite"), Value::Pass);
    assert_eq!(judged(KnownTools::default(), &bash("ls")).value, Value::Pass);
}

#[test]
fn a_tool_that_is_all_files_is_described_by_them() {
    let value = |name: &str| judged(KnownTools::default(), &tool(name, json!({"path": "a.txt"}))).value;
    assert_eq!(value("mcp__fs__read_file"), Value::Pass);
    assert_eq!(value("mcp__x__frobnicate"), Value::Ask);
}

#[test]
fn lists_decide_first() {
    let guard = || {
        KnownTools::new(KnownToolsConfig {
            known: vec!["mcp__github__get_*".to_owned()],
            blocked: vec!["mcp__github__delete_*".to_owned()],
            unknown: Some(Decision::Block),
            ..KnownToolsConfig::default()
        })
    };
    assert_eq!(judged(guard(), &tool("mcp__github__get_issue", json!({}))).value, Value::Pass);
    assert_eq!(judged(guard(), &tool("mcp__github__delete_repo", json!({}))).value, Value::Block);
    assert_eq!(judged(guard(), &tool("mcp__acme__send", json!({}))).value, Value::Block);
}

#[test]
fn a_pattern_for_tools_does_not_cover_what_servers_ask_for() {
    let value = |known: &str| {
        let config = KnownToolsConfig { known: vec![known.to_owned()], ..KnownToolsConfig::default() };
        judged(KnownTools::new(config), &tool("mcp__acme__sampling:createMessage", json!({}))).value
    };
    assert_eq!(value("mcp__acme__*"), Value::Ask);
    assert_eq!(value("*"), Value::Ask);
    assert_eq!(value("mcp__acme__sampling:*"), Value::Pass);
}

#[test]
fn a_servers_word_only_raises() {
    let known = |server: &str| Known {
        server: Some("acme"),
        described: server == "described",
        definition: None,
        word: ServersWord { destructive: true, read_only: true },
    };
    let value = |config: KnownToolsConfig, server: &str| {
        let name = "mcp__acme__wipe";
        KnownTools::new(config).judge(&tool(name, json!({})), name, &known(server), false).value()
    };
    let known_as =
        |known: &str| KnownToolsConfig { known: vec![known.to_owned()], ..KnownToolsConfig::default() };
    let unknown = |unknown| KnownToolsConfig { unknown: Some(unknown), ..KnownToolsConfig::default() };
    assert_eq!(value(known_as("mcp__acme__*"), ""), Value::Ask);
    assert_eq!(value(known_as("mcp__acme__wipe"), ""), Value::Pass);
    assert_eq!(value(known_as("mcp__acme__*"), "described"), Value::Pass);
    assert_eq!(value(unknown(Decision::Pass), ""), Value::Ask);
    assert_eq!(value(unknown(Decision::Block), ""), Value::Block);
    let trusted = KnownToolsConfig { trusted_servers: vec!["acme".to_owned()], ..unknown(Decision::Block) };
    assert_eq!(value(trusted, ""), Value::Block);
}
