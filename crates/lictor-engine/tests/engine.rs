//! The engine around the graph: what is recorded, what is counted, and that every fault is a block.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lictor_core::Redact;
use lictor_engine::{
    Action, ActionKind, All, CollectingTracer, Decision, Graph, MemoryStore, Mode, Outcome, PolicyEngine,
    Standing, Store, StoreError, Verdict, guard_fn,
};
use lictor_store::{Durability, Freshness, Query, StoreExt as _, Transaction, View};
use serde_json::json;

fn no_rm() -> impl lictor_engine::Guard {
    guard_fn("no_rm", |action, _| match action.text("command") {
        Some(command) if command.starts_with("rm") => Verdict::block("no rm", "move it to the bin"),
        _ => Verdict::pass(),
    })
}

#[test]
fn a_session_counts_and_shows_the_state_after_the_action() {
    let engine = PolicyEngine::new(All::new([no_rm()])).unwrap();
    let ls = Action::bash("ls").in_session("s1");
    let first = engine.evaluate(&ls);
    assert_eq!((first.decision, first.session.action_count), (Decision::Pass, 1));
    let second = engine.evaluate(&Action::bash("rm x").in_session("s1"));
    assert_eq!(
        (second.decision, second.session.action_count, second.session.block_count),
        (Decision::Block, 2, 1)
    );
    assert_eq!(engine.evaluate(&ls.in_session("s2")).session.action_count, 1);
}

/// The session is read before the graph judges and again when the judgement is recorded.
#[test]
fn what_is_recorded_while_the_graph_judges_counts() {
    let other = PolicyEngine::new(no_rm()).unwrap();
    let store = Arc::clone(other.store());
    let ls = Action::bash("ls").in_session("s");
    assert_eq!(other.evaluate(&ls).session.action_count, 1);
    let slow = guard_fn("slow", move |_, _| match other.evaluate(&ls).passed() {
        true => Verdict::pass(),
        false => Verdict::block("the other one was stopped", "look why"),
    });
    let engine = PolicyEngine::builder(slow).shared_store(store).build().unwrap();
    let slow = engine.evaluate(&Action::bash("pwd").in_session("s"));
    assert_eq!((slow.decision, slow.session.action_count), (Decision::Pass, 3));
    let after = engine.evaluate(&Action::bash("id").in_session("s"));
    assert_eq!((after.decision, after.session.action_count), (Decision::Pass, 5));
}

#[test]
fn what_happened_is_held_against_what_was_decided() {
    let engine = PolicyEngine::new(All::new([no_rm()])).unwrap();
    let (ls, rm) = (Action::bash("ls").in_session("s"), Action::bash("rm x").in_session("s"));
    let _ = (engine.evaluate(&ls), engine.evaluate(&rm));
    assert_eq!(engine.post_action(&ls, Outcome::success()).unwrap(), Standing::Governed);
    assert_eq!(engine.post_action(&rm, Outcome::success()).unwrap(), Standing::Bypass);
    assert_eq!(
        engine.post_action(&Action::bash("id").in_session("s"), Outcome::success()).unwrap(),
        Standing::Ungoverned
    );
}

#[test]
fn a_dry_run_is_recorded_and_counts_for_nothing() {
    let engine = PolicyEngine::new(All::new([no_rm()])).unwrap();
    let ls = Action::bash("ls").in_session("s");
    let dry = engine.evaluate_with(&ls, Mode { dry: true, ..Mode::default() });
    assert_eq!((dry.decision, dry.session.action_count, dry.id), (Decision::Pass, 0, Some(1)));
    assert_eq!(engine.evaluate(&ls).session.action_count, 1);
}

#[test]
fn tracers_get_every_evaluation() {
    let tracer = Arc::new(CollectingTracer::new());
    let engine = PolicyEngine::builder(All::new([no_rm()])).tracer(Arc::clone(&tracer)).build().unwrap();
    let _ = engine.evaluate(&Action::bash("ls"));
    let traces = tracer.traces();
    assert_eq!(traces.len(), 1);
    assert_eq!(traces[0].1.len(), 2);
}

#[test]
fn an_action_without_what_its_kind_needs_is_blocked() {
    let engine = PolicyEngine::new(All::new([no_rm()])).unwrap();
    let result = engine.evaluate(&Action::bash(""));
    assert_eq!(result.decision, Decision::Block);
    assert!(result.reason().contains("needs the text field `command`"), "{}", result.reason());
    for (fields, decision) in [
        (json!({"file_path": "a"}), Decision::Pass),
        (json!({"path": "a"}), Decision::Pass),
        (json!({"file": "a"}), Decision::Block),
    ] {
        let fields = fields.as_object().cloned().unwrap_or_default();
        for kind in [ActionKind::Read, ActionKind::Write] {
            assert_eq!(engine.evaluate(&Action::new(kind, fields.clone())).decision, decision, "{fields:?}");
        }
    }
}

#[test]
fn an_engine_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<PolicyEngine>();
    shared::<Graph>();
}

/// A store that reports while a write is active.
struct Watched {
    store: MemoryStore,
    writing: Arc<AtomicBool>,
}

impl Store for Watched {
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.store.read(f)
    }

    fn write(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.writing.store(true, Ordering::SeqCst);
        let written = self.store.write(durability, f);
        self.writing.store(false, Ordering::SeqCst);
        written
    }
}

/// A store whose cache never contains later writes.
struct Outdated(MemoryStore);

impl Store for Outdated {
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.0.read(f)
    }

    fn write(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.0.write(durability, f)
    }

    fn read_cached(
        &self,
        f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>,
    ) -> Result<Freshness, StoreError> {
        MemoryStore::new().read(f).map(|()| Freshness::Cached)
    }
}

/// A guard must not read a session state that is older than its record.
#[test]
fn what_was_judged_on_an_older_session_is_judged_again() {
    let store: Arc<dyn Store> = Arc::new(Outdated(MemoryStore::new()));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let once = guard_fn("once", move |_, context| {
        count.fetch_add(1, Ordering::SeqCst);
        match context.session().action_count {
            0 => Verdict::pass(),
            _ => Verdict::block("once is enough", "stop here"),
        }
    });
    let engine = PolicyEngine::builder(once).shared_store(Arc::clone(&store)).build().unwrap();
    let decisions = [1, 2, 3].map(|_| engine.evaluate(&Action::bash("ls").in_session("s")).decision);
    assert_eq!(decisions, [Decision::Pass, Decision::Block, Decision::Block]);
    // The first was judged on a session that had not begun, which was correct.
    assert_eq!(asked.load(Ordering::SeqCst), 5);
    let records = store.view(|view| view.records(&Query::all().kind("evaluated"))).unwrap();
    assert_eq!(records.len(), 3);
}

/// Counts redacted texts, separately outside and during a write.
struct Counting {
    writing: Arc<AtomicBool>,
    before: Arc<AtomicUsize>,
    meanwhile: Arc<AtomicUsize>,
}

impl Redact for Counting {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let seen = if self.writing.load(Ordering::SeqCst) { &self.meanwhile } else { &self.before };
        seen.fetch_add(1, Ordering::SeqCst);
        match text.contains("hunter2") {
            true => Cow::Owned(text.replace("hunter2", "[redacted]")),
            false => Cow::Borrowed(text),
        }
    }
}

/// Long payloads and verdicts are redacted before the store is locked.
#[test]
fn an_evaluation_is_redacted_before_the_store_is_held() {
    let writing = Arc::new(AtomicBool::new(false));
    let (before, meanwhile) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let store: Arc<dyn Store> =
        Arc::new(Watched { store: MemoryStore::new(), writing: Arc::clone(&writing) });
    let no_curl = guard_fn("no_curl", |action, _| match action.text("command") {
        Some(command) if command.starts_with("curl") => Verdict::block(format!("not `{command}`"), "do not"),
        _ => Verdict::pass(),
    });
    let engine = PolicyEngine::builder(no_curl)
        .shared_store(Arc::clone(&store))
        .redact(Counting { writing, before: Arc::clone(&before), meanwhile: Arc::clone(&meanwhile) })
        .build()
        .unwrap();
    // The session begins with a record of its own.
    assert!(engine.evaluate(&Action::bash("ls").in_session("s")).passed());
    meanwhile.store(0, Ordering::SeqCst);
    assert!(!engine.evaluate(&Action::bash("curl -u me:hunter2 x.example").in_session("s")).passed());
    assert!(engine.evaluate(&Action::bash("echo hunter2").in_session("s")).passed());
    assert!(before.load(Ordering::SeqCst) > 0);
    assert_eq!(meanwhile.load(Ordering::SeqCst), 0);
    let records = store.view(|view| view.records(&Query::all().kind("evaluated"))).unwrap();
    assert!(records[1].body.contains("not `curl -u me:[redacted] x.example`"), "{}", records[1].body);
    assert!(records.iter().all(|record| !record.body.contains("hunter2")));
    let read: lictor_engine::log::Evaluated<'_> = serde_json::from_str(&records[1].body).unwrap();
    assert_eq!(read.evaluation.decision, Decision::Block);
}

/// The context that marks a word as a secret is in the command, not in the texts about it.
#[test]
fn a_secret_of_the_action_reaches_no_tracer_and_no_record_of_its_outcome() {
    let (tracer, store) = (Arc::new(CollectingTracer::new()), Arc::new(MemoryStore::new()));
    let repeats = guard_fn("repeats", |action, _| match action.text("command") {
        Some(command) => Verdict::warn(command.rsplit(' ').next().unwrap_or_default()),
        None => Verdict::pass(),
    });
    let engine = PolicyEngine::builder(repeats)
        .shared_store(Arc::clone(&store) as Arc<dyn Store>)
        .tracer(Arc::clone(&tracer))
        .build()
        .unwrap();
    let action = Action::bash("mysql --password corner-stone").in_session("s");
    assert_eq!(engine.evaluate(&action).reason(), "corner-stone");
    engine.post_action(&action, Outcome::failure("access denied for corner-stone")).unwrap();
    let told = format!("{:?}", tracer.traces());
    assert!(told.contains("mysql") && !told.contains("corner-stone"), "{told}");
    let records = store.view(|view| view.records(&Query::all())).unwrap();
    assert!(records.iter().any(|record| record.body.contains("access denied for [redacted]")));
    assert!(records.iter().all(|record| !record.body.contains("corner-stone")));
}
