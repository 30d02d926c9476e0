use lictor_core::{Action, All, Facts, Graph, SessionState, Timestamp, Value, guard_fn};

use super::*;

fn value(added: f64) -> Value {
    let raise = guard_fn("raise", move |_, context: &mut Context<'_>| {
        context.add_risk(added);
        Verdict::pass()
    });
    let limit = RiskLimit::new(RiskConfig { ask_at: Some(0.3), block_at: Some(0.7) }).unwrap();
    let graph = Graph::new(All::new((raise, limit))).unwrap();
    graph.judge(&Action::read("x"), &Facts::none(), &SessionState::default(), Timestamp(0)).value
}

#[test]
fn it_asks_and_blocks_at_its_thresholds() {
    assert_eq!(value(0.299), Value::Pass);
    assert_eq!(value(0.3), Value::Ask);
    assert_eq!(value(0.7), Value::Block);
}

#[test]
fn thresholds_are_risks() {
    for bad in [-0.1, 1.5, f64::NAN] {
        assert!(RiskLimit::new(RiskConfig { ask_at: Some(bad), block_at: None }).is_err(), "{bad}");
    }
}
