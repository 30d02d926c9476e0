use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;

use lictor_core::feedback::{Advice, Consulted, Moment, Provider, Said, Source, Trigger, render, run};
use lictor_core::history::History;
use lictor_core::{Decision, Digest, Facts, SessionEvent};
use serde_json::Value;

use crate::session::{Session, call};

const CASES: &str = include_str!("../cases/guardrails/feedback.json");

fn provider(value: &Value) -> Option<Provider> {
    let name = value["name"].as_str().unwrap().to_owned();
    let number = |key: &str| value.get(key).map(|number| NonZeroU64::new(number.as_u64().unwrap()));
    let every_n_calls = number("every_n_calls").map_or(Some(None), |number| number.map(Some))?;
    let seconds = number("every_n_seconds").flatten();
    let source = if value["fails"] == true {
        Source::Command { argv: vec!["x".into()], timeout: 1, reads: Vec::new() }
    } else if let Some(failures) = number("failures").flatten() {
        Source::Stall { failures }
    } else {
        Source::Static { say: format!("{name} speaks") }
    };
    let trigger = Trigger {
        every_n_calls,
        every_n_millis: seconds.map(|n| n.saturating_mul(NonZeroU64::new(1000).unwrap())),
        on_file_created: value["on_file_created"].as_str().map(str::to_owned),
    };
    Some(Provider { name, trigger, source, audience: lictor_core::Audience::default() })
}

fn providers(value: &Value) -> Vec<Provider> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|one| provider(one).unwrap()).collect()
}

/// A session's first look at the files that providers watch.
fn begin(session: &mut Session, providers: &[Provider], files: &BTreeSet<String>) {
    let watched = providers.iter().filter_map(|provider| provider.trigger.on_file_created.clone());
    let look = |file: String| {
        let content = files.contains(&file).then(|| Digest::of(file.as_bytes()));
        (file, content)
    };
    session.apply(&SessionEvent::Watched { files: watched.map(look).collect::<BTreeMap<_, _>>() });
}

fn ask(session: &mut Session, providers: &[Provider], files: &BTreeSet<String>, blind: bool) -> Vec<Advice> {
    let state = session.state.clone();
    let exists = |file: &str| !blind && files.contains(file);
    let moment = Moment { session: &state, now: session.now, exists: &exists };
    let asked = RefCell::new(Vec::new());
    let other = |provider: &Provider| -> Result<Consulted, String> {
        asked.borrow_mut().push(provider.name.clone());
        Err("it does not work".to_owned())
    };
    let advice = run(providers, &moment, &other);
    session.apply(&SessionEvent::Advised { advice: advice.clone() });
    advice
}

#[test]
fn vectors() {
    for case in crate::cases(CASES) {
        let id = case["id"].as_str().unwrap();
        if let Some(refused) = case.get("refused") {
            assert!(provider(refused).is_none(), "{id}");
            continue;
        }
        let strings =
            |value: &Value| -> Vec<String> { serde_json::from_value(value.clone()).unwrap_or_default() };
        let all: Vec<Provider> =
            providers(&case["providers"]).into_iter().chain(providers(&case["later"])).collect();
        let blind = case["blind"] == true;
        let mut files: BTreeSet<String> = strings(&case["there"]).into_iter().collect();
        let mut session = Session::default();
        begin(&mut session, &all, &files);
        for (at, step) in case["steps"].as_array().unwrap().iter().enumerate() {
            if step.is_string() {
                session = Session::default();
                begin(&mut session, &all, &files);
                continue;
            }
            session.now = session.now.plus_millis(step["wait"].as_i64().unwrap_or(0) * 1000);
            files.extend(step["create"].as_str().map(str::to_owned));
            files.retain(|file| step["remove"] != **file);
            // The clock stands still during calls, so that only `wait` makes time pass.
            let now = session.now;
            for _ in 0..step["calls"].as_u64().unwrap_or(0) {
                session.make(&call("x"), true);
            }
            for _ in 0..step["failures"].as_u64().unwrap_or(0) {
                session.make(&call("x"), false);
            }
            for _ in 0..step["blocked"].as_u64().unwrap_or(0) {
                session.judge(&call("x"), &Facts::none(), &History::default(), Decision::Block);
            }
            session.now = now;
            let advice = ask(&mut session, &all, &files, blind);
            let by = |wanted: fn(&Said) -> bool| -> Vec<String> {
                advice.iter().filter(|one| wanted(&one.said)).map(|one| one.provider.clone()).collect()
            };
            let spoke = by(|said| matches!(said, Said::Feedback(_)));
            assert_eq!(spoke, strings(&step["says"]), "{id}, step {at}");
            if let Some(faults) = step.get("faults") {
                assert_eq!(by(|said| matches!(said, Said::Fault(_))), strings(faults), "{id}, step {at}");
            }
            if let Some(text) = step["text"].as_str() {
                assert_eq!(render(&advice), text, "{id}, step {at}");
            }
            if let Some(calls) = step["at_call"].as_u64() {
                assert_eq!(session.state.feedback.spoken(&spoke[0]).calls, calls, "{id}, step {at}");
            }
        }
    }
}

#[test]
fn what_was_said_is_only_said_once_however_often_it_is_asked() {
    let all = providers(&serde_json::json!([{"name": "a", "every_n_calls": 2}]));
    let mut session = Session::default();
    session.make(&call("x"), true);
    session.make(&call("x"), true);
    assert_eq!(ask(&mut session, &all, &BTreeSet::new(), false).len(), 1);
    assert_eq!(ask(&mut session, &all, &BTreeSet::new(), false).len(), 0);
}
