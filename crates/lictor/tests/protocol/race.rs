//! Real threads that want the same grant at the same moment.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use lictor::{
    Action, Decision, Facts, FixedClock, Lifetime, MemoryStore, PolicyEngine, Request, SqliteStore, Store,
    Timestamp, Verdict, Who, guard_fn,
};

fn engine(store: &Arc<dyn Store>, now: Timestamp) -> PolicyEngine {
    PolicyEngine::builder(guard_fn("payments", |_, _| Verdict::ask("pay?")))
        .shared_store(Arc::clone(store))
        .clock(FixedClock(now))
        .facts(|_: &Action| Facts::none())
        .build()
        .unwrap()
}

/// Gives one grant and lets two agents go for it at once. A day passes between rounds, so that nothing piles up.
fn round(stores: &[Arc<dyn Store>; 2], number: u32) {
    let now = Timestamp(i64::from(number) * 24 * 60 * 60 * 1000);
    let engines = stores.each_ref().map(|store| engine(store, now));
    let action = Action::task("payment").in_session(format!("s{number}"));
    let asked = engines[0].evaluate(&action);
    assert_eq!(asked.decision, Decision::Ask);
    let id = Request { action: asked.action, session: action.session.clone(), policy: asked.policy }.id();
    let who = Who { by: "ada".to_owned(), at: now, from: "race".to_owned() };
    engines[0].approvals().approve(&id, who, Lifetime::Once, 60_000).unwrap();
    let (start, passed) = (Barrier::new(2), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for engine in &engines {
            let (start, passed, action) = (&start, &passed, &action);
            scope.spawn(move || {
                start.wait();
                passed.fetch_add(usize::from(engine.evaluate(action).passed()), Ordering::Relaxed);
            });
        }
    });
    assert_eq!(passed.load(Ordering::Relaxed), 1, "round {number}");
}

#[test]
fn of_two_threads_exactly_one_gets_the_grant() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let stores = [Arc::clone(&store), store];
    (0..1000).for_each(|number| round(&stores, number));
}

/// Two connections to one file are what two processes are: nothing is shared but the file.
#[test]
fn of_two_connections_exactly_one_gets_the_grant() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lictor.db");
    let stores = [(); 2].map(|()| -> Arc<dyn Store> { Arc::new(SqliteStore::open(&file).unwrap()) });
    (0..200).for_each(|number| round(&stores, number));
}
