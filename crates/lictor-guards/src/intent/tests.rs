use lictor_core::{Action, Value};

use super::*;
use crate::testing::{bash, judged, reason};

fn guard() -> Intent {
    let ticket = |action: &Action, _: &Context<'_>| {
        action.text("ticket").map(|ticket| ticket.starts_with("OPS-")).ok_or_else(|| "no ticket".to_owned())
    };
    Intent::new(vec![
        IntentRule {
            task_type: "deploy".to_owned(),
            require: Arc::new(ticket),
            reason: "a deploy needs a ticket".to_owned(),
            fix: "add payload.ticket".to_owned(),
        },
        IntentRule {
            task_type: "deploy".to_owned(),
            require: Arc::new(|_: &Action, _: &Context<'_>| Ok(false)),
            reason: "never".to_owned(),
            fix: "wait".to_owned(),
        },
    ])
    .and_known("report")
}

#[test]
fn every_rule_of_the_task_is_asked_and_reported() {
    let mut action = Action::task("deploy");
    action.payload.insert("ticket".to_owned(), "X".into());
    let judged = judged(guard(), &action);
    assert_eq!(judged.value, Value::Block);
    assert_eq!(judged.verdicts.len(), 2);
}

#[test]
fn a_predicate_that_fails_is_an_error_and_an_unknown_task_is_blocked() {
    let judged_task = judged(guard(), &Action::task("deploy"));
    assert!(judged_task.verdicts.iter().any(|given| given.verdict.value() == Value::Error));
    let unknown = judged(guard(), &Action::task("destroy"));
    assert_eq!(unknown.value, Value::Block);
    assert!(reason(&unknown).contains("`destroy`"));
}

#[test]
fn other_actions_and_tasks_without_rules_pass() {
    assert_eq!(judged(guard(), &bash("ls")).value, Value::Pass);
    assert_eq!(judged(guard(), &Action::task("report")).value, Value::Pass);
}
