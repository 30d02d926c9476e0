//! Any failure gives a block that names the failure.

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use lictor_engine::{
        Action, All, CollectingTracer, Decision, Evaluation, Facts, MemoryStore, Outcome, PolicyEngine,
        Store, StoreError, Tracer, Verdict, governed, guard_fn,
    };
    use lictor_store::{Durability, Query, Space, StoreExt, Transaction, View};

    /// A store whose reads or writes can be made to fail.
    #[derive(Default)]
    struct Fragile {
        inner: MemoryStore,
        no_reads: AtomicBool,
        no_writes: AtomicBool,
    }

    fn broken() -> StoreError {
        StoreError::Full { file: "/var/lictor/log.db".into() }
    }

    impl Store for Fragile {
        fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
            if self.no_reads.load(Ordering::Relaxed) { Err(broken()) } else { self.inner.read(f) }
        }

        fn write(
            &self,
            durability: Durability,
            f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
        ) -> Result<(), StoreError> {
            if self.no_writes.load(Ordering::Relaxed) {
                Err(broken())
            } else {
                self.inner.write(durability, f)
            }
        }
    }

    fn pass() -> impl lictor_engine::Guard {
        guard_fn("pass", |_, _| Verdict::pass())
    }

    fn engine(store: &Arc<Fragile>) -> PolicyEngine {
        let store: Arc<dyn Store> = Arc::clone(store) as Arc<dyn Store>;
        PolicyEngine::builder(pass()).shared_store(store).facts(|_: &Action| Facts::none()).build().unwrap()
    }

    #[test]
    fn there_is_no_unrecorded_pass() {
        let store = Arc::new(Fragile::default());
        store.no_writes.store(true, Ordering::Relaxed);
        let result = engine(&store).evaluate(&Action::bash("ls").in_session("s"));
        assert_eq!((result.decision, result.id), (Decision::Block, None));
        assert!(result.reason().contains("could not be recorded"), "{}", result.reason());
        assert!(result.reason().contains("/var/lictor/log.db"), "the file is named: {}", result.reason());
        let mut entered = false;
        assert!(governed(&engine(&store), &Action::bash("ls"), || entered = true).is_err());
        assert!(!entered);
    }

    #[test]
    fn a_session_that_cannot_be_read_blocks() {
        let store = Arc::new(Fragile::default());
        store.no_reads.store(true, Ordering::Relaxed);
        assert_eq!(engine(&store).evaluate(&Action::bash("ls").in_session("s")).decision, Decision::Block);
    }

    #[test]
    fn a_damaged_session_blocks_and_is_left_as_it_is() {
        let store = Arc::new(Fragile::default());
        store.update(Durability::Process, |tx| tx.put(Space::Session, b"0:s", b"\x01broken")).unwrap();
        let result = engine(&store).evaluate(&Action::bash("ls").in_session("s"));
        assert_eq!(result.decision, Decision::Block);
        assert!(result.reason().contains("session `s` is damaged"), "{}", result.reason());
        let kept = store.view(|view| view.get(Space::Session, b"0:s")).unwrap();
        assert_eq!(kept.as_deref(), Some(b"\x01broken".as_slice()));
    }

    #[test]
    fn a_guard_that_hangs_is_named() {
        let (release, hold) = std::sync::mpsc::channel::<()>();
        let hold = std::sync::Mutex::new(hold);
        let hang = guard_fn("sleepy", move |_, _| {
            let _ = hold.lock().unwrap().recv();
            Verdict::pass()
        });
        let engine = PolicyEngine::builder(All::new((pass(), hang)))
            .deadline(Duration::from_millis(40))
            .facts(|_: &Action| Facts::none())
            .build()
            .unwrap();
        let result = engine.evaluate(&Action::bash("ls").in_session("s"));
        assert_eq!(result.decision, Decision::Block);
        assert!(result.reason().contains("`sleepy` had no answer within 40 ms"), "{}", result.reason());
        assert!(result.id.is_some(), "that is recorded too");
        assert_eq!(result.session.block_count, 1);
        drop(release);
    }

    #[test]
    fn facts_that_panic_block() {
        let engine = PolicyEngine::builder(pass())
            .facts(|_: &Action| -> Facts { panic!("parser bug") })
            .build()
            .unwrap();
        let result = engine.evaluate(&Action::bash("ls"));
        assert_eq!(result.decision, Decision::Block);
        assert!(result.reason().contains("could not be worked out"));
    }

    #[test]
    fn a_tracer_that_fails_changes_nothing() {
        struct Failing;
        impl Tracer for Failing {
            fn trace(&self, _: &Action, _: &Evaluation) -> io::Result<()> {
                Err(io::Error::other("the pipe is closed"))
            }
        }
        struct Panicking;
        impl Tracer for Panicking {
            fn trace(&self, _: &Action, _: &Evaluation) -> io::Result<()> {
                panic!("tracer bug")
            }
        }
        let collecting = Arc::new(CollectingTracer::new());
        let engine = PolicyEngine::builder(pass())
            .tracer(Failing)
            .tracer(Panicking)
            .tracer(Arc::clone(&collecting))
            .facts(|_: &Action| Facts::none())
            .build()
            .unwrap();
        assert_eq!(engine.evaluate(&Action::bash("ls")).decision, Decision::Pass);
        assert_eq!(collecting.traces().len(), 1, "the others are still told");
    }

    #[test]
    fn secrets_stay_out_of_the_log_and_of_traces() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let collecting = Arc::new(CollectingTracer::new());
        let quoting = guard_fn("quoting", |action, _| {
            Verdict::warn(format!("ran {}", action.text("command").unwrap()))
        });
        let engine = PolicyEngine::builder(quoting).tracer(Arc::clone(&collecting)).build().unwrap();
        let action = Action::bash(format!("curl -H 'Authorization: {token}' x")).in_session("s");
        let result = engine.evaluate(&action);
        assert!(result.reason().contains(&token), "the caller sees what it sent");
        engine.post_action(&action, Outcome::failure(format!("{token} is not valid"))).unwrap();
        let records = engine.store().view(|view| view.records(&Query::all())).unwrap();
        assert_eq!(records.len(), 3);
        assert!(records.iter().all(|record| !record.body.contains(&token)));
        assert!(records[1].body.contains("[redacted]"));
        let told = format!("{:?}", collecting.traces());
        assert!(!told.contains(&token), "{told}");
        assert_eq!(
            engine.session(action.session.as_ref().unwrap()).unwrap().failure_count,
            1,
            "matched by digest"
        );
    }
}
