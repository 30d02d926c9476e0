//! Every agent × event × reply, rendered and checked against what the agent accepts (`schemas/`).

#![expect(clippy::unwrap_used, reason = "a broken fixture should stop the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use lictor_agents::conformance::{self, Accepts, Obeyed, accepts, obey, valid};
use lictor_agents::{Agent, Ask, Block, HookContext, HookEnv, Moment, Rendered, Reply, parse, render, slots};
use serde_json::Value;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path)
}

fn schema(agent: Agent) -> BTreeMap<String, Accepts> {
    conformance::schema(agent).unwrap()
}

fn block(reason: &str) -> Block {
    Block { reason: reason.into(), fix: "open a pull request".into(), id: Some("0f3a".into()) }
}

fn ask() -> Reply {
    Reply::Ask(Ask {
        messages: vec!["is this meant?".into()],
        otherwise: block("nobody can be asked; approval 77"),
    })
}

fn every_slot() -> impl Iterator<Item = (Agent, HookContext)> {
    Agent::ALL.into_iter().flat_map(|agent| slots(agent).map(move |slot| (agent, slot)))
}

#[test]
fn the_tables_and_the_schemas_name_the_same_events() {
    for agent in Agent::ALL {
        let ours: BTreeSet<String> = slots(agent).map(|slot| slot.event_name().to_owned()).collect();
        let theirs: BTreeSet<String> = schema(agent).into_keys().collect();
        assert_eq!(ours, theirs, "{agent}");
    }
}

#[test]
fn every_answer_is_one_that_the_agent_accepts() {
    for (agent, slot) in every_slot() {
        let schemas = schema(agent);
        let accepted = &schemas[slot.event_name()];
        let check = |what: &str, reply: &Reply, schema: Option<&Value>| {
            let answer = render(&slot, reply);
            let fits = schema.map_or(answer == Rendered::default(), |schema| valid(schema, &answer));
            assert!(fits, "{agent} {} {what}: {answer:?}", slot.event_name());
        };
        check("silence", &Reply::Silence, None);
        check("tell", &Reply::Tell("mind the gap".into()), accepted.tell.as_ref());
        // What cannot be stopped any more is at least said.
        let no = accepted.block.as_ref().or(accepted.tell.as_ref());
        check("block", &Reply::Block(block("rewrites history")), no);
        check("ask", &ask(), accepted.ask.as_ref().or(no));
        check("tell nothing", &Reply::Tell(" \n".into()), None);
        assert_eq!(slot.can_block(), accepted.block.is_some());
        assert_eq!(slot.can_tell(), accepted.tell.is_some());
        assert_eq!(slot.can_ask(), accepted.ask.is_some());
    }
}

/// The same from the other side: what the agent does with the answer.
#[test]
fn every_agent_does_what_the_reply_means() {
    for (agent, slot) in every_slot() {
        let event = slot.event_name();
        let does = |reply: &Reply| obey(agent, event, &render(&slot, reply));
        let told = |text: &str| text.contains("mind the gap");
        assert_eq!(does(&Reply::Silence), Obeyed::Proceeds, "{agent} {event}");
        match does(&Reply::Tell("mind the gap".into())) {
            Obeyed::Told(text) => assert!(slot.can_tell() && told(&text), "{agent} {event}"),
            other => assert!(!slot.can_tell() && other == Obeyed::Proceeds, "{agent} {event} {other:?}"),
        }
        match does(&Reply::Block(block("rewrites history"))) {
            Obeyed::Stopped(text) => {
                assert!(slot.can_block() && text.contains("rewrites history"), "{agent} {event}")
            }
            other => {
                assert!(!slot.can_block() && !matches!(other, Obeyed::Asks(_)), "{agent} {event} {other:?}")
            }
        }
        match does(&ask()) {
            Obeyed::Asks(text) => {
                assert!(slot.can_ask() && text.contains("is this meant?"), "{agent} {event}")
            }
            Obeyed::Stopped(text) => {
                assert!(!slot.can_ask() && text.contains("approval 77"), "{agent} {event}")
            }
            other => assert!(!slot.can_ask() && !slot.can_block(), "{agent} {event} {other:?}"),
        }
    }
}

/// A hook that breaks: exit code 2 with a reason has to stop every agent, and most let anything else through.
#[test]
fn a_refusal_without_a_known_event_stops_every_agent() {
    let refusal = Rendered { stdout: String::new(), stderr: "no".into(), exit: 2 };
    for (agent, slot) in every_slot().filter(|(_, slot)| slot.moment() == Moment::PreTool) {
        assert_eq!(obey(agent, slot.event_name(), &refusal), Obeyed::Stopped("no".into()), "{agent}");
    }
    let crash = Rendered { exit: 101, ..Rendered::default() };
    assert_eq!(obey(Agent::ClaudeCode, "PreToolUse", &crash), Obeyed::Proceeds);
}

#[test]
fn recorded_answers_fit_the_schemas() {
    let mut seen = 0;
    for agent in Agent::ALL {
        for (event, accepted) in schema(agent) {
            for (what, names) in &accepted.samples {
                let schema = match what.as_str() {
                    "block" => &accepted.block,
                    "ask" => &accepted.ask,
                    _ => &accepted.tell,
                };
                for name in names {
                    let path = here(&format!("payloads/{agent}/responses/{name}.json"));
                    let sample: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
                    assert!(accepts(schema.as_ref().unwrap(), &sample), "{agent} {event} {name}");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen >= 30, "{seen}");
}

#[test]
fn a_block_says_why_how_to_go_on_and_where_to_look() {
    for (agent, slot) in every_slot().filter(|(_, slot)| slot.can_block()) {
        let answer = render(&slot, &Reply::Block(block("rewrites history")));
        let said = format!("{}{}", answer.stdout, answer.stderr);
        for part in ["rewrites history", "open a pull request", "lictor explain 0f3a"] {
            assert!(said.contains(part), "{agent} {}: {said}", slot.event_name());
        }
    }
}

#[test]
fn a_block_is_never_blank_and_never_endless() {
    let empty = Block { reason: " ".into(), fix: String::new(), id: None };
    let huge = Block {
        reason: "x\u{1b}[31m\0\u{202e}\u{2066}\u{9b}".repeat(100_000),
        fix: "y".repeat(100_000),
        id: None,
    };
    for (agent, slot) in every_slot().filter(|(_, slot)| slot.can_block()) {
        let accepted = schema(agent).remove(slot.event_name()).unwrap().block.unwrap();
        for refusal in [&empty, &huge] {
            let answer = render(&slot, &Reply::Block(refusal.clone()));
            assert!(valid(&accepted, &answer), "{agent} {}: {answer:?}", slot.event_name());
            assert!(answer.stdout.len() + answer.stderr.len() < 64_000);
            assert!(!answer.stderr.contains(['\u{1b}', '\0', '\u{202e}', '\u{2066}', '\u{9b}']));
        }
    }
}

#[test]
fn nobody_is_asked_where_nobody_is_there() {
    let event = |mode: &str| {
        format!(
            r#"{{"session_id":"s","cwd":"/w","permission_mode":"{mode}","hook_event_name":"PreToolUse",
               "tool_name":"Bash","tool_input":{{"command":"ls"}}}}"#
        )
    };
    let attended = HookEnv::new("/w", |_| None);
    let headless =
        HookEnv::new("/w", |name| (name == "CLAUDE_CODE_ENTRYPOINT").then(|| "sdk-cli".to_owned()));
    let in_ci = HookEnv::new("/w", |name| (name == "CI").then(|| "true".to_owned()));
    let rows = [
        ("default", &attended, true),
        ("plan", &attended, true),
        ("acceptEdits", &attended, true),
        ("auto", &attended, true),
        ("auto", &headless, false),
        ("dontAsk", &attended, false),
        ("bypassPermissions", &attended, false),
        ("brandNewMode", &attended, false),
        ("default", &headless, false),
        ("default", &in_ci, false),
    ];
    for (mode, env, asked) in rows {
        let event = parse(Agent::ClaudeCode, None, event(mode).as_bytes(), env).unwrap();
        assert_eq!(event.slot.can_ask(), asked, "{mode}");
        let answer = render(&event.slot, &ask());
        assert_eq!(answer.stdout.contains(r#""permissionDecision":"ask""#), asked, "{mode}");
        assert_eq!(answer.stderr.contains("approval 77") && answer.exit == 2, !asked, "{mode}");
    }
}
