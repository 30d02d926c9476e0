use lictor_core::event::Judgement;
use lictor_core::{Action, Decision, SessionEvent, SessionState, Timestamp, Value};
use lictor_observe::FakeObserver;

use super::*;
use crate::testing::judged_in;

fn allowed() -> Judgement {
    Judgement::new(&Action::read("x"), Decision::Pass)
}

#[test]
fn the_limit_counts_allowed_actions_of_the_last_minute() {
    let guard = RateLimit::new(RateLimitConfig { max_per_minute: 3 });
    let action = Action::read("x").in_session("s");
    let value = |count, now| {
        let mut session = SessionState::default();
        for _ in 0..count {
            session.apply(&SessionEvent::Judged(allowed()), Timestamp(100_000));
        }
        judged_in(guard, &action, &FakeObserver::empty(), &session, now).value
    };
    assert_eq!(value(2, 101_000), Value::Pass);
    assert_eq!(value(3, 101_000), Value::Block);
    assert_eq!(value(3, 161_000), Value::Pass);
}

#[test]
fn without_a_session_it_is_an_error() {
    let guard = RateLimit::new(RateLimitConfig { max_per_minute: 3 });
    let judged = judged_in(guard, &Action::read("x"), &FakeObserver::empty(), &SessionState::default(), 0);
    assert_eq!(judged.value, Value::Error);
}
