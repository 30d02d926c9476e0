use lictor_core::{Action, SessionState, Value};
use lictor_observe::FakeObserver;

use super::*;
use crate::testing::judged_in;

fn value(config: BudgetConfig, action: &Action, session: &SessionState, now: i64) -> Value {
    judged_in(Budget::new(config), action, &FakeObserver::empty(), session, now).value
}

fn after(actions: u64, blocked: u64) -> SessionState {
    SessionState { action_count: actions, block_count: blocked, ..SessionState::default() }
}

#[test]
fn exactly_the_limit_is_allowed_and_blocked_attempts_use_nothing_up() {
    let config = BudgetConfig { max_actions: Some(10), ..BudgetConfig::default() };
    let action = Action::read("x").in_session("s");
    assert_eq!(value(config.clone(), &action, &after(3, 0), 0), Value::Pass);
    assert_eq!(value(config.clone(), &action, &after(9, 0), 0), Value::Warn);
    assert_eq!(value(config.clone(), &action, &after(10, 0), 0), Value::Block);
    assert_eq!(value(config, &action, &after(10, 8), 0), Value::Pass);
}

#[test]
fn zero_allows_nothing_and_absent_everything() {
    let action = Action::read("x").in_session("s");
    for config in [
        BudgetConfig { max_actions: Some(0), ..BudgetConfig::default() },
        BudgetConfig { max_minutes: Some(0), ..BudgetConfig::default() },
    ] {
        assert_eq!(value(config, &action, &SessionState::default(), 0), Value::Block);
    }
    assert_eq!(value(BudgetConfig::default(), &action, &after(1_000_000, 0), 0), Value::Pass);
}

#[test]
fn tasks_and_minutes_have_their_own_limits() {
    let task = Action::task("deploy").in_session("s");
    let config = BudgetConfig { max_tasks: Some(2), ..BudgetConfig::default() };
    let two = SessionState { task_count: 2, ..SessionState::default() };
    assert_eq!(value(config.clone(), &task, &two, 0), Value::Block);
    assert_eq!(value(config, &Action::read("x").in_session("s"), &two, 0), Value::Pass);
    let config = BudgetConfig { max_minutes: Some(5), ..BudgetConfig::default() };
    let begun = SessionState { started: Some(Timestamp(0)), ..SessionState::default() };
    assert_eq!(value(config.clone(), &task, &begun, 60_000), Value::Pass);
    assert_eq!(value(config, &task, &begun, 5 * 60_000), Value::Block);
}

#[test]
fn without_a_session_or_with_a_clock_that_went_back_it_is_an_error() {
    let config = BudgetConfig { max_actions: Some(10), ..BudgetConfig::default() };
    assert_eq!(value(config.clone(), &Action::read("x"), &SessionState::default(), 0), Value::Error);
    let later = SessionState { latest: Some(Timestamp(10_000_000)), ..SessionState::default() };
    assert_eq!(value(config, &Action::read("x").in_session("s"), &later, 0), Value::Error);
}
