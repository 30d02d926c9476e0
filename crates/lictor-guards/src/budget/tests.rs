use lictor_core::{Action, SessionKey, SessionState, Value};
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
fn tokens_and_money_count_as_they_are_reported() {
    let action = Action::read("x").in_session("s");
    let used = |tokens, cost_micros| SessionState {
        usage: lictor_core::event::Usage { tokens, cost_micros },
        ..SessionState::default()
    };
    let tokens = BudgetConfig { max_tokens: Some(1_000), ..BudgetConfig::default() };
    assert_eq!(value(tokens.clone(), &action, &used(100, 0), 0), Value::Pass);
    assert_eq!(value(tokens.clone(), &action, &used(900, 0), 0), Value::Warn);
    assert_eq!(value(tokens, &action, &used(1_000, 0), 0), Value::Block);
    let money = BudgetConfig { max_cost: Some(2.5), ..BudgetConfig::default() };
    assert_eq!(value(money.clone(), &action, &used(0, 1_000_000), 0), Value::Pass);
    assert_eq!(value(money.clone(), &action, &used(0, 2_400_000), 0), Value::Warn);
    let judged = judged_in(Budget::new(money), &action, &FakeObserver::empty(), &used(0, 2_505_000), 0);
    let reason = judged.verdicts.first().unwrap().verdict.reason().to_owned();
    assert_eq!(reason, "this session has used its budget of 2.50 in model costs (2.50 used)");
}

#[test]
fn the_first_of_one_is_counted_with_the_action_itself() {
    let config = BudgetConfig { max_actions: Some(1), ..BudgetConfig::default() };
    let action = Action::read("x").in_session("s");
    let judged = judged_in(Budget::new(config), &action, &FakeObserver::empty(), &after(0, 0), 0);
    let reason = judged.verdicts.first().unwrap().verdict.reason().to_owned();
    assert_eq!(reason, "with this one, 1 of 1 actions of this session's budget are used");
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

/// An account begins with a person's first action and never ends: its minutes would lock them out for good.
#[test]
fn minutes_are_a_sessions_and_other_limits_an_accounts_too() {
    let mut action = Action::read("x");
    action.session = Some(SessionKey::account("bob"));
    let long_ago = SessionState { started: Some(Timestamp(0)), ..after(10, 0) };
    let minutes = BudgetConfig { max_minutes: Some(1), ..BudgetConfig::default() };
    assert_eq!(value(minutes, &action, &long_ago, 86_400_000), Value::Pass);
    let nothing = BudgetConfig { max_minutes: Some(0), ..BudgetConfig::default() };
    assert_eq!(value(nothing, &action, &long_ago, 86_400_000), Value::Block);
    let actions = BudgetConfig { max_actions: Some(10), ..BudgetConfig::default() };
    let judged = judged_in(Budget::new(actions), &action, &FakeObserver::empty(), &long_ago, 86_400_000);
    let verdict = judged.verdicts.first().unwrap().verdict.clone();
    assert_eq!(verdict.reason(), "the account of `bob` has used its budget of 10 actions (10 used)");
    assert!(!verdict.fix().contains("session"), "{}", verdict.fix());
}

#[test]
fn without_a_session_or_with_a_clock_that_went_back_it_is_an_error() {
    let config = BudgetConfig { max_actions: Some(10), ..BudgetConfig::default() };
    assert_eq!(value(config.clone(), &Action::read("x"), &SessionState::default(), 0), Value::Error);
    let later = SessionState { latest: Some(Timestamp(10_000_000)), ..SessionState::default() };
    assert_eq!(value(config, &Action::read("x").in_session("s"), &later, 0), Value::Error);
}
