//! Policies with callbacks and confirmations: the semantics table, every edge case, and law 11.

mod law;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lictor_core::facts::{Cardinality, Effect as Fact, Facts};
use lictor_core::policy::{
    Call, CallContext, CallbackResult, Callbacks, Catalogue, Effect, PolicyResult, Ungrounded, Violation,
};
use lictor_core::{Action, Answer, Policy, PolicySet, SessionState, Timestamp};
use serde_json::Value as Json;

use crate::trees::cases;

/// Callbacks of every behaviour, and how often they ran.
pub(crate) fn callbacks(ran: &Arc<AtomicUsize>) -> Callbacks {
    let mut callbacks = Callbacks::new();
    let mut add = |name: &str, answer: fn() -> Result<CallbackResult, String>| {
        let ran = Arc::clone(ran);
        let callback = move |_: &Call<'_>| {
            ran.fetch_add(1, Ordering::Relaxed);
            answer()
        };
        callbacks.register(name, callback).unwrap();
    };
    add("passed", || Ok(CallbackResult::passed()));
    add("failed", || Ok(CallbackResult::failed("the machine says no")));
    add("faults", || Err("it ran out of time".to_owned()));
    add("panics", || panic!("callback bug"));
    callbacks
}

/// A policy from words like `confirm+failed multiple`.
pub(crate) fn policy(index: usize, words: &str) -> Policy {
    let mut policy =
        Policy::new(format!("p{index}"), "delete", "file").message(&format!("message {index}")).unwrap();
    let mut words = words.split([' ', '+']);
    while let Some(word) = words.next() {
        policy = match word {
            "confirm" => policy,
            "auto" => policy.unconfirmed(),
            "inform" => policy.effect(Effect::Inform),
            "effect" => policy.effect(Effect::Block),
            "block" => policy,
            "any" => Policy { verb: "*".to_owned(), object: "*".to_owned(), ..policy },
            "named" => Policy { name: words.next().unwrap().to_owned(), ..policy },
            "single" | "multiple" => policy.when(Cardinality::from_name(word)),
            callback => policy.callback(callback),
        };
    }
    policy
}

/// Facts that consist of these deeds.
pub(crate) fn facts(deeds: &[(&str, &str)]) -> Facts {
    let deed = |(verb, object): &(&str, &str)| Fact::Deed {
        verb: (*verb).to_owned(),
        object: (*object).to_owned(),
        cardinality: Cardinality::Single,
        what: None,
    };
    Facts { effects: deeds.iter().map(deed).collect(), opaque: Vec::new() }
}

struct Run {
    result: PolicyResult,
    called: usize,
    callbacks_ran: usize,
}

fn run(case: &Json) -> Result<Run, String> {
    let ran = Arc::new(AtomicUsize::new(0));
    let policies = case["policies"].as_array().unwrap().iter().enumerate();
    let policies = policies.map(|(index, words)| policy(index, words.as_str().unwrap()));
    let mut set = PolicySet::new(policies, &callbacks(&ran), Catalogue::default())
        .map_err(|errors| errors[0].to_string())?;
    if case["ungrounded"] == "ask" {
        set = set.ungrounded(Ungrounded::Ask);
    }
    let deeds: Vec<(String, String)> = match case.get("deeds") {
        Some(deeds) => serde_json::from_value(deeds.clone()).unwrap(),
        None => vec![("delete".to_owned(), "file".to_owned())],
    };
    let deeds: Vec<(&str, &str)> =
        deeds.iter().map(|(verb, object)| (verb.as_str(), object.as_str())).collect();
    let (action, session) = (Action::bash("rm x"), SessionState::default());
    let context = CallContext::new(&action, &session, Timestamp(0));
    let called = Cell::new(0);
    let handler = case["handler"].clone();
    let on_policy = |violations: &[Violation]| -> Vec<Answer> {
        called.set(called.get() + 1);
        match &handler {
            Json::String(word) if word == "panic" => panic!("handler bug"),
            Json::String(word) => vec![Answer::from(word == "yes"); violations.len()],
            answers => serde_json::from_value(answers.clone()).unwrap(),
        }
    };
    let result = set.check_policy(
        &facts(&deeds),
        case["cardinality"].as_str().map(Cardinality::from_name),
        (case["context"] != false).then_some(&context),
        (!case["handler"].is_null()).then_some(on_policy),
    );
    Ok(Run { result, called: called.get(), callbacks_ran: ran.load(Ordering::Relaxed) })
}

#[test]
fn the_semantics_table_and_every_edge_case() {
    for (id, case) in cases(include_str!("../cases/policies.jsonl")) {
        let run = match (run(&case), case["load_error"].as_str()) {
            (Err(error), Some(wanted)) => {
                assert_eq!(error, wanted, "{id}");
                continue;
            }
            (Ok(run), None) => run,
            (Err(error), None) => panic!("{id}: {error}"),
            (Ok(_), Some(wanted)) => panic!("{id}: loaded, wanted `{wanted}`"),
        };
        let PolicyResult { action, reason, violations } = &run.result;
        assert_eq!(action.as_str(), case["action"], "{id}");
        let values: Vec<&str> = violations.iter().map(|violation| violation.value.as_str()).collect();
        assert_eq!(
            serde_json::json!(values),
            case["values"],
            "{id}: all violations are in the result, in order"
        );
        assert_eq!(run.called, case["called"].as_u64().unwrap() as usize, "{id}: handler calls");
        if let Some(wanted) = case["reason"].as_str() {
            assert!(reason.as_deref().unwrap_or_default().contains(wanted), "{id}: {reason:?}");
        }
        let callbacks = violations
            .iter()
            .filter(|violation| violation.callback_result.is_some() || violation.fault.is_some())
            .count();
        if case["context"] != false {
            assert_eq!(
                run.callbacks_ran, callbacks,
                "{id}: each callback runs exactly once, also after approval"
            );
        }
        if run.called == 1 && case["handler"] != "panic" && !action.allows() && case["handler"].is_array() {
            assert!(
                violations.iter().any(|violation| violation.answer.is_some())
                    || case["handler"] == serde_json::json!([]),
                "{id}"
            );
        }
    }
}

/// Answers from a dynamic caller. Only real booleans count: the text `"no"` is not a yes.
#[test]
fn only_booleans_are_answers() {
    let parse = |json: &str| serde_json::from_str::<Vec<Answer>>(json);
    assert_eq!(parse("[true, false]").unwrap(), [Answer::yes(), Answer::no()]);
    let full = parse(r#"[{"approved": false, "reason": "too many"}]"#).unwrap();
    assert_eq!(full, [Answer::no().because("too many")]);
    for wrong in [
        "null",
        "true",
        "{}",
        "\"yes\"",
        "[null]",
        "[1]",
        "[0]",
        "[\"no\"]",
        "[\"true\"]",
        "[[]]",
        "[{}]",
        r#"[{"approved": "yes"}]"#,
        r#"[{"approved": true, "extra": 1}]"#,
        r#"[{"reason": "x"}]"#,
    ] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn violations_come_in_order_of_verb_object_and_place_whatever_the_facts() {
    let policies = [
        Policy::new("late", "write", "file"),
        Policy::new("b", "delete", "secret"),
        Policy::new("a2", "delete", "file"),
        Policy::new("a1", "*", "file"),
    ];
    let set = PolicySet::new(policies, &Callbacks::new(), Catalogue::default()).unwrap();
    let deeds = [("write", "file"), ("delete", "secret"), ("delete", "file")];
    let order = |deeds: &[(&str, &str)]| -> Vec<String> {
        set.evaluate(&facts(deeds), None, None).violations.iter().map(|it| it.policy.clone()).collect()
    };
    assert_eq!(order(&deeds), ["a2", "a1", "b", "late", "a1"]);
    assert_eq!(order(&[deeds[2], deeds[0], deeds[1]]), ["a2", "a1", "b", "late", "a1"]);
}

#[test]
fn a_handler_may_check_another_policy_meanwhile() {
    let set = PolicySet::new([policy(0, "confirm")], &Callbacks::new(), Catalogue::default()).unwrap();
    let facts = facts(&[("delete", "file")]);
    let result = set.check_policy(
        &facts,
        None,
        None,
        Some(|outer: &[Violation]| {
            let inner = set.check_policy(
                &facts,
                None,
                None,
                Some(|inner: &[Violation]| vec![Answer::yes(); inner.len()]),
            );
            vec![Answer::from(inner.action.allows()); outer.len()]
        }),
    );
    assert!(result.action.allows());
}
