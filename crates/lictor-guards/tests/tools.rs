//! The shipped descriptions of tools: beside each server stand calls that the default policy stops, and twins that pass.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "judging/world.rs"]
mod world;

use std::path::Path;
use std::sync::Arc;

use lictor_core::{Action, ActionKind, Decision, SharedGuard};
use lictor_guards::{
    KnownTools, KnownToolsConfig, Network, NetworkConfig, RememberedTool, Rules, SelfProtection,
};
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

/// The default policy of a person who approved tools permanently.
fn remembering(tools: &[&str], network: NetworkConfig) -> Judge {
    let remembered =
        tools.iter().map(|tool| RememberedTool { tool: (*tool).to_owned(), server: None }).collect();
    Judge::of(vec![
        Arc::new(SelfProtection) as SharedGuard,
        Arc::new(Rules::recommended()),
        Arc::new(Network::new(network)),
        Arc::new(KnownTools::new(KnownToolsConfig { remembered, ..Default::default() })),
    ])
}

#[test]
fn a_persons_yes_to_a_tool_says_nothing_about_what_its_fields_hold() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/undescribed.yaml");
    let groups: Vec<Value> = serde_saphyr::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    for group in groups {
        let cases = |key: &str| group[key].as_array().cloned().unwrap_or_default();
        let decide = |case: &Value| {
            let tool = case["tool"].as_str().unwrap_or("mcp__zz__yy");
            let judge = remembering(&[tool], NetworkConfig::default());
            let judged = judge.action(&call(tool, case["input"].clone()));
            (judged.value.settle(), format!("{}: {case}: {judged:?}", group["class"]))
        };
        for (decision, case) in cases("match").iter().map(decide) {
            assert!(!decision.allows(), "passes: {case}");
        }
        for (decision, case) in cases("not_match").iter().map(decide) {
            assert!(decision.allows(), "is stopped: {case}");
        }
        // An unknown tool asks, even if its fields are harmless.
        for case in cases("not_match").iter().filter(|case| case["tool"].is_null()) {
            let judged = Judge::new().action(&call("mcp__zz__yy", case["input"].clone()));
            assert_eq!(judged.value.settle(), Decision::Ask, "{case}");
        }
    }
}

#[test]
fn addresses_in_fields_of_any_tool_are_hosts_that_it_talks_to() {
    let network = NetworkConfig { deny: vec!["evil.example".to_owned()], ..Default::default() };
    let judge = remembering(&["mcp__zz__yy"], network);
    let decide = |input: Value| judge.action(&call("mcp__zz__yy", input)).value.settle();
    for input in [
        json!({"url": "https://evil.example/x"}),
        json!({"url": "evil.example/x"}),
        json!({"webhookUrl": "https://evil.example"}),
        json!({"options": {"endpoints": ["https://fine.example", "https://evil.example"]}}),
        json!({"where": "wss://evil.example/socket"}),
        json!({"host": "evil.example"}),
    ] {
        assert_eq!(decide(input.clone()), Decision::Block, "{input}");
    }
    for input in [
        json!({"url": "https://fine.example/x"}),
        json!({"url": "/issues/3"}),
        json!({"url": ""}),
        json!({"link": "see the notes"}),
        json!({"text": "https://evil.example is a bad place"}),
        json!({"message": "https://evil.example"}),
    ] {
        assert!(decide(input.clone()).allows(), "{input}");
    }
}

#[test]
fn what_a_repository_says_of_a_tool_takes_nothing_away() {
    use lictor_observe::describe::{Source, Text, Tool};
    let decide = |tool: &str, described: Value, input: Value, remembered: bool| {
        let source: Source = serde_json::from_value(described).unwrap();
        let acts = source.read().unwrap().into();
        let names = Text::Owned(tool.to_owned());
        let own = lictor_observe::DescribedTool {
            tool: Tool { servers: Text::Borrowed(""), names, acts },
            from: "governance.yaml".to_owned(),
            trusted: false,
        };
        let names: &[&str] = if remembered { &[tool] } else { &[] };
        let judge = remembering(names, NetworkConfig::default()).describing(own);
        judge.action(&call(tool, input)).value.settle()
    };
    let sql = json!({"sql": "DROP TABLE users"});
    assert!(!decide("mcp__zz__yy", json!({"verb": "read", "object": "data"}), sql.clone(), true).allows());
    assert!(!decide("mcp__postgres__query", json!({}), sql, true).allows());
    assert!(!decide("mcp__zz__nuke", json!({"reads": "path"}), json!({"path": "a.txt"}), false).allows());
    assert!(decide("mcp__zz__yy", json!({"reads": "path"}), json!({"path": "a.txt"}), true).allows());
}
