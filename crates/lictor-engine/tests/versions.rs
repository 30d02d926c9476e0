//! Sessions that see their policy change: the versions are kept in the store and read once into the engine.

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use lictor_engine::history::History;
    use lictor_engine::{
        Action, Decision, Digest, Evaluation, Facts, FixedClock, MemoryStore, Outcome, PolicyCodec,
        PolicyEngine, PolicyVersion, Quorum, Secrets, SessionKey, Store, Timestamp, Tracer, Verdict,
        guard_fn, is_of_earlier_version,
    };
    use lictor_store::{Durability, Keys, Space, StoreExt as _};

    const DAY: i64 = 24 * 60 * 60 * 1_000;

    /// A policy that forbids one word.
    fn version(word: &str) -> PolicyVersion {
        let forbidden = word.to_owned();
        let guard = guard_fn("words", move |action, _| match action.task_type.as_deref() {
            Some(said) if said == forbidden => Verdict::block("forbidden", "say something else"),
            _ => Verdict::pass(),
        });
        PolicyVersion {
            digest: Digest::of(word.as_bytes()),
            rules: Digest::of(word.as_bytes()),
            observes: false,
            tree: guard.into(),
            history: History::default(),
            gate: None,
            quorum: Quorum::default(),
            redactor: Arc::new(Secrets),
            view: lictor_observe::PolicyView::default(),
            trusted: Vec::new(),
        }
    }

    struct Words {
        current: String,
        read: Arc<AtomicUsize>,
    }

    impl PolicyCodec for Words {
        fn encode(&self) -> Result<Vec<u8>, String> {
            Ok(self.current.clone().into_bytes())
        }

        fn decode(&self, digest: Digest, kept: &[u8]) -> Result<PolicyVersion, String> {
            self.read.fetch_add(1, Ordering::Relaxed);
            let version = version(std::str::from_utf8(kept).unwrap());
            if version.digest == digest { Ok(version) } else { Err("it is another one".to_owned()) }
        }
    }

    #[derive(Clone, Default)]
    struct Told(Arc<AtomicUsize>);

    impl Tracer for Told {
        fn trace(&self, _: &Action, _: &Evaluation) -> std::io::Result<()> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }

    struct Process {
        engine: PolicyEngine,
        read: Arc<AtomicUsize>,
        told: Told,
    }

    fn process(store: &Arc<dyn Store>, word: &str, now: i64) -> Process {
        let (read, told) = (Arc::default(), Told::default());
        let codec = Words { current: word.to_owned(), read: Arc::clone(&read) };
        let engine = PolicyEngine::of_policy(version(word))
            .shared_store(Arc::clone(store))
            .clock(FixedClock(Timestamp(now)))
            .facts(|_: &Action| Facts::none())
            .versions(codec)
            .tracer(told.clone())
            .build()
            .unwrap();
        Process { engine, read, told }
    }

    fn store() -> Arc<dyn Store> {
        Arc::new(MemoryStore::new())
    }

    fn say(word: &str) -> Action {
        Action::task(word).in_session("s")
    }

    fn key(id: &str) -> SessionKey {
        SessionKey { agent: String::new(), id: id.to_owned() }
    }

    fn kept(store: &Arc<dyn Store>) -> usize {
        store.view(|view| view.scan(Space::Policy, &Keys::prefix("text "))).unwrap().len()
    }

    #[test]
    fn an_earlier_version_is_read_once_and_judges_beside_the_current_one() {
        let store = store();
        assert!(process(&store, "one", 1).engine.evaluate(&say("hello")).passed());
        let Process { engine, read, told } = process(&store, "two", 2);
        for _ in 0..3 {
            let before = engine.evaluate(&say("one"));
            assert_eq!(before.decision, Decision::Block);
            assert!(before.active().iter().any(|given| is_of_earlier_version(given.guard())));
            let now = engine.evaluate(&say("two"));
            assert_eq!(now.decision, Decision::Block);
            assert!(!now.active().iter().any(|given| is_of_earlier_version(given.guard())));
            assert!(engine.evaluate(&say("three")).passed());
        }
        engine.post_action(&say("three"), Outcome::success()).unwrap();
        assert!(engine.evaluate(&Action::task("one").in_session("another")).passed());
        assert_eq!(read.load(Ordering::Relaxed), 1);
        assert_eq!(told.0.load(Ordering::Relaxed), 10, "tracers are told whichever versions judge");
        assert_eq!(kept(&store), 2);
    }

    #[test]
    fn a_session_that_has_seen_one_version_reads_none() {
        let store = store();
        let Process { engine, read, .. } = process(&store, "one", 1);
        assert!(engine.evaluate(&say("hello")).passed());
        assert!(process(&store, "one", 2).engine.evaluate(&say("hello")).passed());
        assert_eq!(read.load(Ordering::Relaxed), 0);
        assert_eq!(kept(&store), 1);
    }

    #[test]
    fn a_version_that_is_lost_or_changed_blocks_until_a_person_refreshes() {
        for changed in [None, Some(b"nothing".as_slice())] {
            let store = store();
            assert!(process(&store, "one", 1).engine.evaluate(&say("hello")).passed());
            let damage = store.update(Durability::Process, |tx| {
                for (name, _) in tx.scan(Space::Policy, &Keys::prefix("text "))? {
                    match changed {
                        None => tx.delete(Space::Policy, &name)?,
                        Some(bytes) => tx.put(Space::Policy, &name, bytes)?,
                    }
                }
                Ok(())
            });
            damage.unwrap();
            let engine = process(&store, "two", 2).engine;
            let refused = engine.evaluate(&say("hello"));
            assert_eq!(refused.decision, Decision::Block);
            assert!(refused.reason().contains("cannot be read"), "{}", refused.reason());
            engine.refresh(&key("s")).unwrap();
            assert!(engine.evaluate(&say("hello")).passed());
        }
    }

    #[test]
    fn a_version_is_forgotten_ninety_days_after_a_session_last_began_under_it() {
        let store = store();
        let old = process(&store, "one", 1).engine;
        assert!(old.evaluate(&say("hello")).passed());
        let began = process(&store, "one", 30 * DAY).engine;
        assert!(began.evaluate(&Action::task("hello").in_session("later")).passed());
        for (day, left) in [(100, 2), (119, 2), (121, 1)] {
            let engine = process(&store, "two", day * DAY).engine;
            assert!(engine.evaluate(&Action::task("hello").in_session("new")).passed());
            engine.end(&key("new")).unwrap();
            assert_eq!(kept(&store), left, "day {day}");
        }
    }
}
