//! The shipped descriptions of tools: beside each server stand calls that the default policy stops, and twins that pass.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "judging/world.rs"]
mod world;

use std::path::Path;

use lictor_core::{Action, ActionKind, Decision};
use serde_json::{Value, json};
use world::Judge;

fn files() -> Vec<(String, Vec<Value>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lictor-observe/tools");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            (path.display().to_string(), serde_saphyr::from_str(&text).unwrap())
        })
        .collect()
}

fn call(tool: &str, input: Value) -> Action {
    let mut action = Action::new(ActionKind::Tool, input.as_object().unwrap().clone());
    action.tool = tool.to_owned();
    action.in_dir("/home/user/project")
}

fn decision(judge: &Judge, case: &Value) -> Decision {
    let action = call(case["tool"].as_str().unwrap(), case["input"].clone());
    judge.action(&action).value.settle()
}

#[test]
fn calls_that_do_harm_are_stopped_and_their_twins_pass() {
    let judge = Judge::new();
    for (file, servers) in files() {
        for server in servers {
            let cases = |key: &str| server[key].as_array().cloned().unwrap_or_default();
            for case in cases("match") {
                assert!(!decision(&judge, &case).allows(), "{file}: {case} passes");
            }
            for case in cases("not_match") {
                assert!(decision(&judge, &case).allows(), "{file}: {case} is stopped");
            }
        }
    }
}

#[test]
fn at_least_twenty_five_servers_are_described_and_each_has_a_case() {
    let servers: Vec<Value> = files()
        .into_iter()
        .flat_map(|(_, servers)| servers)
        .filter(|server| server["server"].is_string())
        .collect();
    assert!(servers.len() >= 25, "{}", servers.len());
    for server in servers {
        assert!(server["not_match"].is_array(), "{} has no case", server["server"]);
    }
}

#[test]
fn what_nobody_described_is_asked_about_and_its_fields_are_judged_all_the_same() {
    let judge = Judge::new();
    let decide = |tool: &str, input: Value| judge.action(&call(tool, input)).value.settle();
    assert_eq!(decide("mcp__acme__frobnicate", json!({"x": 1})), Decision::Ask);
    assert_eq!(decide("mcp__exampleserver__anything", json!({"x": 1})), Decision::Ask);
    assert!(decide("TodoWrite", json!({"todos": []})).allows());
    // A path that the description does not mention.
    assert!(!decide("mcp__memory__create_entities", json!({"path": "/home/user/.ssh/id_rsa"})).allows());
    // Every way to name the field, and lists.
    for field in ["sql", "query", "statement"] {
        assert!(
            !decide("mcp__my-postgres__execute_sql", json!({field: "drop database app"})).allows(),
            "{field}"
        );
        assert!(decide("mcp__my-postgres__execute_sql", json!({field: "select 1"})).allows(), "{field}");
    }
    assert!(!decide("mcp__kubernetes__pods_exec", json!({"command": ["rm", "-rf", "/"]})).allows());
    assert!(decide("mcp__kubernetes__pods_exec", json!({"command": ["ls"]})).allows());
}

#[test]
fn what_goes_out_in_a_persons_name_is_asked_about() {
    let judge = Judge::new();
    let decide = |tool: &str, input: Value| judge.action(&call(tool, input)).value.settle();
    for tool in ["mcp__slack__slack_post_message", "mcp__gmail__send_email", "mcp__stripe__create_refund"] {
        assert_eq!(decide(tool, json!({"text": "x"})), Decision::Ask, "{tool}");
    }
    assert!(decide("mcp__gmail__create_draft", json!({"text": "x"})).allows());
}
