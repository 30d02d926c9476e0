use std::sync::atomic::{AtomicUsize, Ordering};

use lictor_core::{Facts, Graph, SessionState, Timestamp, Value, guard_fn};

use super::*;

#[test]
fn it_records_blocked_actions_too_and_decides_nothing() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let audit = Audit::new(move |_: &Action, _: &Context<'_>| {
        counted.fetch_add(1, Ordering::Relaxed);
        Err("disk full".to_owned())
    });
    assert_eq!(audit.layer(), Layer::Observe);
    let graph =
        Graph::new(guard_fn("no", |_, _| Verdict::block("no", "stop"))).unwrap().observe(Arc::new(audit));
    let judged = graph.judge(&Action::read("x"), &Facts::none(), &SessionState::default(), Timestamp(0));
    assert_eq!(judged.value, Value::Block);
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[test]
fn a_required_one_blocks_what_it_cannot_record() {
    let audit = Audit::new(|_: &Action, _: &Context<'_>| Err("disk full".to_owned())).required();
    let judged = crate::testing::judged(audit, &Action::read("x"));
    assert_eq!(judged.value, Value::Block);
}
