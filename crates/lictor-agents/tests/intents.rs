//! One intent, every agent: the actions must be the same but for the agents' own names.

#![expect(clippy::panic, reason = "a broken fixture should stop the test")]

use std::collections::BTreeSet;

use lictor_agents::conformance::{Conformance, Expect, Intent};
use lictor_agents::{Agent, EventKind, HookEnv, parse};
use lictor_core::Action;
use serde_json::{Map, Value};

fn action(agent: Agent, intent: &Intent, all: &Conformance) -> Option<Action> {
    let sent = all.send(agent, intent, "/work/app", "/home/dev")?;
    let bytes = Value::Object(sent.payload).to_string();
    let event = parse(agent, Some(&sent.event), bytes.as_bytes(), &HookEnv::new("/work/app", |_| None));
    let event = event.unwrap_or_else(|error| panic!("{agent} {}: {error}\n{bytes}", intent.id));
    assert_eq!(event.slot.agent(), agent);
    assert!(event.slot.can_block(), "{agent} {}", intent.id);
    match event.kind {
        EventKind::PreTool(action) => Some(action),
        other => panic!("{agent} {}: {other:?}", intent.id),
    }
}

/// What a policy looks at. A whole file is written or a part of it, a search has more or less to say.
fn essence(action: &Action) -> Map<String, Value> {
    const NAMES: [&str; 10] =
        ["command", "path", "paths", "patch", "url", "query", "agent", "prompt", "shell", "pattern"];
    // What to do with a page once it is there is nobody's concern.
    let page = action.kind.as_str() == "fetch";
    let names = NAMES.into_iter().filter(|name| !(page && *name == "prompt"));
    names.filter_map(|name| Some((name.to_owned(), action.payload.get(name)?.clone()))).collect()
}

#[test]
fn every_agent_means_the_same() {
    let all = Conformance::load().unwrap();
    let mut pairs = 0;
    for intent in &all.intents {
        let mut meanings = BTreeSet::new();
        for agent in Agent::ALL {
            let Some(action) = action(agent, intent, &all) else { continue };
            assert_eq!(action.cwd, "/work/app", "{agent} {}", intent.id);
            assert_eq!(action.validate(), Ok(()), "{agent} {}", intent.id);
            assert_eq!(action.session.as_ref().unwrap().id, "conformance");
            let mut essence = essence(&action);
            if action.tool.starts_with("mcp__") {
                essence.insert("tool".to_owned(), action.tool.clone().into());
            }
            meanings.insert(format!("{} {}", action.kind, Value::Object(essence)));
            pairs += 1;
        }
        assert_eq!(meanings.len(), 1, "{}: {meanings:#?}", intent.id);
    }
    assert!(pairs >= 400, "{pairs}");
}

#[test]
fn the_matrix_is_worth_running() {
    let all = Conformance::load().unwrap();
    let count = |expect| all.intents.iter().filter(|intent| intent.expect == expect).count();
    assert!(count(Expect::Block) >= 25 && count(Expect::Pass) >= 15);
    let ids: BTreeSet<_> = all.intents.iter().map(|intent| &intent.id).collect();
    assert_eq!(ids.len(), all.intents.len());
    for agent in Agent::ALL {
        let said = all.intents.iter().filter(|intent| all.send(agent, intent, "/w", "/h").is_some()).count();
        assert!(said >= 40, "{agent}: {said}");
    }
}
