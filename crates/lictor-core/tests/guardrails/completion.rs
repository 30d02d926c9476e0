use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use lictor_core::completion::{
    Check, CommandCheck, Completion, FileCheck, Found, Gate, Limits, Ran, Situation, Stop, Surveyor,
};
use lictor_core::level::Level;
use lictor_core::session::Todos;
use lictor_core::{Action, ActionKind, Digest, SessionEvent, SessionKey, SessionState, Timestamp};
use serde_json::{Value, json};

use crate::session::{Session, call};

fn key() -> SessionKey {
    SessionKey { agent: String::new(), id: "s".to_owned() }
}

const CASES: &str = include_str!("../cases/guardrails/completion.json");

/// A world of a few files and one program.
#[derive(Default)]
struct World {
    files: RefCell<BTreeMap<String, String>>,
    blind: bool,
    runs: Cell<u64>,
    ends: RefCell<(Value, String)>,
    findings: RefCell<Vec<String>>,
}

impl World {
    fn see(&self) -> Result<(), String> {
        if self.blind { Err("No filesystem".to_owned()) } else { Ok(()) }
    }
}

impl Surveyor for World {
    fn look(&self, pattern: &str) -> Result<Vec<Found>, String> {
        self.see()?;
        let files = self.files.borrow();
        let matching =
            files.iter().filter(|(path, _)| fast_glob::glob_match(pattern, path.trim_end_matches('/')));
        let found = |(path, text): (&String, &String)| Found {
            path: path.clone(),
            is_file: !path.ends_with('/'),
            bytes: text.len() as u64,
        };
        Ok(matching.map(found).collect())
    }

    fn fingerprint(&self, pattern: &str) -> Result<Option<Digest>, String> {
        self.see()?;
        Ok(self.files.borrow().get(pattern).map(|text| Digest::of(text.as_bytes())))
    }

    fn tree(&self) -> Result<Option<Digest>, String> {
        self.see()?;
        Ok(Some(Digest::of(format!("{:?}", self.files.borrow()).as_bytes())))
    }

    fn run(&self, _: &CommandCheck, _: &Situation<'_>) -> Ran {
        self.runs.set(self.runs.get() + 1);
        let (exit, tail) = self.ends.borrow().clone();
        match exit.as_i64() {
            None if exit == "late" => Ran::TimedOut { tail },
            code => Ran::Ended { code: Some(code.unwrap_or(0) as i32), tail },
        }
    }

    fn open_findings(&self, _: Level) -> Result<Vec<String>, String> {
        self.see()?;
        Ok(self.findings.borrow().clone())
    }
}

fn check(value: &Value) -> Check {
    let (kind, inner) = value.as_object().unwrap().iter().next().unwrap();
    let list = || inner.as_array().unwrap().iter();
    let texts = || list().map(|text| text.as_str().unwrap().to_owned());
    match kind.as_str() {
        "all" => Check::All(list().map(check).collect()),
        "any" => Check::Any(list().map(check).collect()),
        "files" => Check::Files(texts().map(FileCheck::new).collect()),
        "changed" => {
            Check::Files(texts().map(|path| FileCheck { changed: true, ..FileCheck::new(path) }).collect())
        }
        "command" => Check::Command(CommandCheck {
            argv: texts().collect(),
            timeout: 60_000,
            remember: true,
            reads: Vec::new(),
        }),
        "findings" => Check::Findings { below: inner.as_str().unwrap().parse().unwrap() },
        _ => Check::Todos,
    }
}

fn gate(case: &Value) -> Option<Gate> {
    let check = case.get("check").filter(|check| !check.is_null()).map(check)?;
    let mut gate = Gate::new(check);
    gate.limits = case
        .get("limits")
        .map_or_else(Limits::default, |limits| serde_json::from_value(limits.clone()).unwrap());
    if let Some(rounds) = case["max_rounds"].as_u64() {
        gate.max_rounds = rounds as u32;
    }
    Some(gate)
}

fn texts(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

fn prepare(step: &Value, world: &World, session: &mut Session) {
    session.now = session.now.plus_millis(step["wait"].as_i64().unwrap_or(0) * 1000);
    for (path, text) in step["write"].as_object().into_iter().flatten() {
        world.files.borrow_mut().insert(path.clone(), text.as_str().unwrap().to_owned());
    }
    let output = step["output"].as_str().unwrap_or_default().to_owned();
    *world.ends.borrow_mut() = (step["exit"].clone(), output);
    if let Some(findings) = step.get("findings") {
        *world.findings.borrow_mut() = texts(findings);
    }
    if let Some(statuses) = step.get("todos") {
        let item = |(at, status): (usize, String)| json!({"content": format!("item {at}"), "status": status});
        let items: Vec<Value> = texts(statuses).into_iter().enumerate().map(item).collect();
        let mut action = Action::new(ActionKind::Tool, serde_json::Map::new());
        action.payload.insert("todos".to_owned(), items.into());
        session.apply(&SessionEvent::Listed { todos: Todos::written_by(&action).unwrap() });
    }
    for _ in 0..step["actions"].as_u64().unwrap_or(0) {
        session.make(&call("x"), true);
    }
    if step["prompt"] == true {
        session.apply(&SessionEvent::Prompted { name: None, text: None });
    }
}

#[test]
fn vectors() {
    for case in crate::cases(CASES) {
        let id = case["id"].as_str().unwrap();
        let gate = gate(&case);
        let refused = gate.as_ref().and_then(|gate| gate.check.validate().err());
        assert_eq!(refused.map(|error| error.to_string()).as_deref(), case["refused"].as_str(), "{id}");
        let world = World { blind: case["blind"] == true, ..World::default() };
        prepare(&json!({"write": case["there"]}), &world, &mut Session::default());
        let mut session = Session::default();
        let watched = gate
            .iter()
            .flat_map(Gate::watched)
            .map(|file| (file.to_owned(), world.fingerprint(file).unwrap()));
        let files = watched.collect();
        session.apply(&SessionEvent::Watched { files });
        for (at, step) in case["steps"].as_array().unwrap().iter().enumerate() {
            prepare(step, &world, &mut session);
            let stop = Stop {
                subagent: step["subagent"] == true,
                hook_active: step["hook_active"] == true,
                background: texts(&step["background"]),
                aborted: step["aborted"] == true,
                ..Stop::default()
            };
            let checked = gate
                .as_ref()
                .and_then(|gate| gate.judge(&stop, &key(), &session.state, &[], session.now, &world));
            let outcome = checked.as_ref().map_or(Value::Null, |checked| json!(checked.outcome));
            assert_eq!(outcome["is"], step["is"], "{id}, step {at}: {outcome}");
            if let Some(checked) = checked {
                let missing = checked.outcome.reasons().join(" ");
                if let Some(text) = step["text"].as_str() {
                    assert_eq!(missing, text, "{id}, step {at}");
                }
                session.apply(&SessionEvent::StopChecked(checked));
            }
            for (key, name) in [("why", "why"), ("why", "cause"), ("round", "round")] {
                if let (Some(wanted), Some(found)) = (step.get(key), outcome.get(name)) {
                    assert_eq!(found, wanted, "{id}, step {at}");
                }
            }
            if let Some(runs) = step["runs"].as_u64() {
                assert_eq!(world.runs.get(), runs, "{id}, step {at}: how often the program ran");
            }
        }
    }
}

#[test]
fn a_pass_on_a_tree_that_changed_meanwhile_is_not_remembered() {
    struct Restless(World);
    impl Surveyor for Restless {
        fn look(&self, pattern: &str) -> Result<Vec<Found>, String> {
            self.0.look(pattern)
        }
        fn fingerprint(&self, pattern: &str) -> Result<Option<Digest>, String> {
            self.0.fingerprint(pattern)
        }
        fn tree(&self) -> Result<Option<Digest>, String> {
            self.0.tree()
        }
        fn run(&self, command: &CommandCheck, situation: &Situation<'_>) -> Ran {
            let run = self.0.runs.get().to_string();
            self.0.files.borrow_mut().insert("written-by-test".to_owned(), run);
            self.0.run(command, situation)
        }
        fn open_findings(&self, level: Level) -> Result<Vec<String>, String> {
            self.0.open_findings(level)
        }
    }
    let gate = Gate::new(check(&json!({"command": ["t"]})));
    let world = Restless(World::default());
    let session = Session::default();
    let checked = gate.judge(&Stop::default(), &key(), &session.state, &[], session.now, &world).unwrap();
    assert_eq!((checked.outcome, checked.passes), (Completion::Complete, vec![]));
}

#[test]
fn what_is_used_up_above_is_used_up_below() {
    let mut gate = Gate::new(check(&json!({"files": ["a"]})));
    gate.subagents = Some(gate.check.clone());
    gate.limits.max_actions = Some(1);
    let mut parent = Session::default();
    parent.make(&call("x"), true);
    let stop = Stop { subagent: true, ..Stop::default() };
    let child = Session::default();
    let world = World::default();
    let judged =
        |above: &[_]| gate.judge(&stop, &key(), &child.state, above, child.now, &world).unwrap().outcome;
    assert!(judged(&[]).blocks());
    assert!(matches!(judged(&[parent.state]), Completion::Bypassed { .. }));
}

/// An account began with the first action of a person, so its age is irrelevant for this work.
#[test]
fn the_age_of_an_account_opens_no_gate() {
    let mut gate = Gate::new(check(&json!({"files": ["a"]})));
    (gate.limits.max_millis, gate.limits.deadline) = (Some(60_000), Some(60_000));
    let mut session = Session::default();
    session.state.started = Some(session.now);
    let above = [SessionState { started: Some(Timestamp(session.now.0 - 86_400_000)), ..Default::default() }];
    let world = World::default();
    let judged = |state: &SessionState| {
        gate.judge(&Stop::default(), &key(), state, &above, session.now, &world).unwrap().outcome
    };
    let below = |parent: SessionKey| SessionState { parent: Some(parent), ..session.state.clone() };
    assert!(matches!(judged(&below(key())), Completion::Bypassed { .. }), "an agent's own time counts");
    assert!(judged(&below(SessionKey::account("bob"))).blocks());
}

#[test]
fn checks_may_not_be_nested_without_end() {
    let deep = |levels: usize| (0..levels).fold(Check::Todos, |inner, _| Check::All(vec![inner]));
    assert!(deep(16).validate().is_ok());
    assert_eq!(deep(17).validate(), Err(lictor_core::completion::CheckError::TooDeep));
}
