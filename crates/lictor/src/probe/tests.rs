use std::num::NonZeroU64;

use lictor_core::feedback::Trigger;
use lictor_core::{Action, Audience, Outcome, SessionKey, Verdict, guard_fn};
use lictor_engine::{PolicyEngine, SystemClock};
use lictor_store::MemoryStore;

use super::*;

#[test]
fn the_time_of_programs_counts_from_each_look_and_not_from_when_the_project_was_opened() {
    let argv = vec!["echo".to_owned(), "look at the plan".to_owned()];
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = std::env::temp_dir();
    let long_ago = Instant::now().checked_sub(2 * BEFORE_A_STOP).unwrap();
    let probe = ProjectProbe {
        opened: long_ago,
        trusted: vec![argv.clone()],
        ..ProjectProbe::new(&root, Arc::clone(&store), SharedClock(Arc::new(SystemClock)))
    };
    let provider = Provider {
        name: "plan".to_owned(),
        trigger: Trigger { every_n_calls: NonZeroU64::new(1), ..Trigger::default() },
        source: Source::Command { argv, timeout: 2_000, reads: Vec::new() },
        audience: Audience::default(),
    };
    let engine = PolicyEngine::builder(guard_fn("nothing", |_, _| Verdict::pass()))
        .shared_store(store)
        .feedback(vec![provider])
        .probe(probe)
        .build()
        .unwrap();
    let call = Action::bash("ls").in_session("s");
    assert!(engine.evaluate(&call).passed());
    engine.post_action(&call, Outcome::success()).unwrap();
    let advice = engine.advise(&SessionKey { agent: String::new(), id: "s".to_owned() }).unwrap();
    assert_eq!(advice.len(), 1);
    assert!(format!("{advice:?}").contains("look at the plan"), "{advice:?}");
}
