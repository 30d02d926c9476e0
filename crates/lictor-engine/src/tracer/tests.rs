use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lictor_core::{All, Facts, Stopwatch, Verdict, guard_fn};

use super::*;
use crate::PolicyEngine;

const SECRET: &str = "Authorization: Bearer ghp_0123456789abcdefghijklmnopqrstuvwxyz01";

/// Every reading advances by a millisecond.
#[derive(Default)]
struct Ticks(AtomicU64);

impl Stopwatch for Ticks {
    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

fn policy() -> All {
    let pass = guard_fn("fine", |_: &Action, _: &mut lictor_core::Context<'_>| Verdict::pass());
    let block =
        guard_fn("never", |_: &Action, _: &mut lictor_core::Context<'_>| Verdict::block(SECRET, "stop"));
    All::new((pass, block))
}

#[test]
fn a_tracer_sees_how_long_each_step_took_and_the_record_does_not() {
    let tracer = Arc::new(CollectingTracer::new());
    let engine = PolicyEngine::builder(policy())
        .tracer(Arc::clone(&tracer))
        .stopwatch(Ticks::default())
        .facts(|_: &Action| Facts::none())
        .build()
        .unwrap();
    // Because of the secret the tracer gets a redacted copy, which must keep the durations.
    let action = Action::bash("ls");
    let evaluation = engine.evaluate(&action);
    let traces = tracer.traces();
    let [(_, trace)] = traces.as_slice() else { panic!("one evaluation") };
    let took: Vec<_> = trace.iter().map(|entry| entry.took.map(|took| took.as_millis())).collect();
    assert_eq!(took, [Some(1), Some(1), Some(5)], "each guard, then the tree with both in it");
    let mut text = Vec::new();
    write_trace(&mut text, &action, &evaluation).unwrap();
    assert!(String::from_utf8(text).unwrap().contains("never block 1000 µs"));
    assert!(!serde_json::to_string(&evaluation).unwrap().contains("took"), "durations are nobody's evidence");
}

#[test]
fn nobody_is_timed_when_nobody_listens() {
    let watch = Arc::new(Ticks::default());
    struct Held(Arc<Ticks>);
    impl Stopwatch for Held {
        fn elapsed(&self) -> Duration {
            self.0.elapsed()
        }
    }
    let engine = PolicyEngine::builder(policy())
        .stopwatch(Held(Arc::clone(&watch)))
        .facts(|_: &Action| Facts::none())
        .build()
        .unwrap();
    assert!(engine.evaluate(&Action::bash("ls")).trace.iter().all(|entry| entry.took.is_none()));
    assert_eq!(watch.0.load(Ordering::Relaxed), 0);
}
