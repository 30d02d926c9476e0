//! Drives the real engine through every interleaving of two agents that want the same thing and one person who
//! answers, with the store's transactions as the atomic steps.

use std::sync::{Arc, Mutex};

use lictor_engine::log::{self, Approving, Evaluated, kind};
use lictor_engine::{
    Action, Decision, Facts, FixedClock, Lifetime, MemoryStore, Outcome, PolicyEngine, SessionEvent, Store,
    StoreError, Timestamp, Verdict, Who, guard_fn,
};
use lictor_store::{Draft, Durability, Entry, Head, Keys, Query, Record, Space, StoreExt, Transaction, View};

use crate::schedule::{Turns, orders};

/// Judge, record, do it, report it.
const AGENT_STEPS: usize = 4;
const AGENTS: usize = 2;
const PERSON: usize = AGENTS;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Approve,
    Deny,
}

/// The observed effects, in order, with the length of the log at that time.
#[derive(Default)]
struct World {
    /// The agent, and the records that were there when it acted.
    effects: Vec<(usize, Vec<Record>)>,
    /// Records that were acknowledged.
    acknowledged: Vec<u64>,
}

fn action(actor: usize) -> Action {
    let mut action = Action::task("payment").in_session("s");
    // Not part of the digest: both agents want exactly the same thing.
    action.tool_use_id = Some(format!("call-{actor}"));
    action
}

fn records(store: &Arc<dyn Store>) -> Vec<Record> {
    store.view(|view| view.records(&Query::all().limit(10_000))).unwrap()
}

/// Runs one schedule and returns the observed effects.
fn run(store: &Arc<dyn Store>, answer: Answer, order: Vec<usize>) -> World {
    let turns = Arc::new(Turns::new(order));
    let at_guard = Arc::clone(&turns);
    // Judging ends one step and recording begins the next: steps of others may come in between.
    let asks = guard_fn("payments", move |action, _| {
        if let Some(actor) = actor_of(action) {
            at_guard.end();
            at_guard.begin(actor);
        }
        Verdict::ask("pay?")
    });
    let engine = PolicyEngine::builder(asks)
        .shared_store(Arc::clone(store))
        .clock(FixedClock(Timestamp(1000)))
        .facts(|_: &Action| Facts::none())
        .build()
        .unwrap();
    let mut first = action(0);
    first.tool_use_id = None;
    assert_eq!(engine.evaluate(&first).decision, Decision::Ask);
    let id = engine.approvals().pending(Timestamp(1000)).unwrap()[0].id.clone();

    let world = Mutex::new(World::default());
    std::thread::scope(|scope| {
        for actor in 0..AGENTS {
            let (engine, turns, world) = (&engine, &turns, &world);
            scope.spawn(move || {
                turns.begin(actor);
                let evaluation = engine.evaluate(&action(actor));
                world.lock().unwrap().acknowledged.extend(evaluation.id);
                turns.end();
                if evaluation.passed() {
                    turns.begin(actor);
                    world.lock().unwrap().effects.push((actor, records(engine.store())));
                    turns.end();
                    turns.begin(actor);
                    engine.post_action(&action(actor), Outcome::success()).unwrap();
                    turns.end();
                }
                turns.retire(actor);
            });
        }
        turns.begin(PERSON);
        let who = Who { by: "ada".to_owned(), at: Timestamp(1000), from: "model".to_owned() };
        // A late answer is refused, which is correct: the question was asked again or answered otherwise.
        match answer {
            Answer::Approve => drop(engine.approvals().approve(&id, who, Lifetime::Once, 60_000)),
            Answer::Deny => drop(engine.approvals().deny(&id, who, None)),
        }
        turns.end();
    });
    world.into_inner().unwrap()
}

fn actor_of(action: &Action) -> Option<usize> {
    action.tool_use_id.as_deref()?.strip_prefix("call-")?.parse().ok()
}

/// The invariants, for any order.
fn check(store: &Arc<dyn Store>, world: &World) -> Result<(), String> {
    let records = records(store);
    let of = |wanted: &str| records.iter().filter(|record| record.kind == wanted).count();
    if world.effects.len() > of(kind::APPROVAL_GRANTED) {
        return Err(format!("{} effects by {} grants", world.effects.len(), of(kind::APPROVAL_GRANTED)));
    }
    let mut used: Vec<String> = Vec::new();
    for record in records.iter().filter(|record| record.kind == kind::GRANT_USED) {
        let Approving { id, .. } = serde_json::from_str(&record.body).unwrap();
        if used.contains(&id.to_string()) {
            return Err(format!("the grant {id} was used twice"));
        }
        used.push(id.to_string());
    }
    for (actor, seen) in &world.effects {
        if !seen.iter().any(|record| is_pass_of(record, *actor)) {
            return Err(format!("agent {actor} acted without a recorded pass"));
        }
    }
    for seq in &world.acknowledged {
        if !records.iter().any(|record| record.seq == *seq) {
            return Err(format!("record {seq} was acknowledged and is not there"));
        }
    }
    let mut head = Head::START;
    for record in &records {
        if record.prev != head.hash || record.computed_hash() != record.hash {
            return Err(format!("the chain breaks at record {}", record.seq));
        }
        head = record.head();
    }
    for (session, state) in log::sessions(&records) {
        let key = format!("{}:{}{}", session.agent.len(), session.agent, session.id);
        let kept = store.view(|view| view.get(Space::Session, key.as_bytes())).unwrap().unwrap();
        if state.to_bytes().unwrap() != kept {
            return Err(format!("the state of session {session} is not the fold of the log"));
        }
        if state.bypass_count + state.ungoverned_count > 0 {
            return Err("an allowed action counts as a bypass".to_owned());
        }
    }
    Ok(())
}

fn is_pass_of(record: &Record, actor: usize) -> bool {
    record.kind == kind::EVALUATED
        && serde_json::from_str::<Evaluated<'_>>(&record.body).is_ok_and(|evaluated| {
            matches!(&*evaluated.event, SessionEvent::Judged(judgement) if judgement.decision.allows())
                && actor_of(&evaluated.action) == Some(actor)
        })
}

/// The first schedule that breaks the protocol, and how often things happened in all.
fn explore(store: impl Fn() -> Arc<dyn Store>, answer: Answer) -> Result<(usize, usize), String> {
    let (mut schedules, mut effects) = (0, 0);
    for order in orders(&[AGENT_STEPS, AGENT_STEPS, 1]) {
        let store = store();
        let world = run(&store, answer, order.clone());
        check(&store, &world).map_err(|broken| format!("{broken} in {order:?}"))?;
        schedules += 1;
        effects += world.effects.len();
    }
    Ok((schedules, effects))
}

#[test]
fn in_every_order_a_grant_is_used_at_most_once_and_nothing_happens_unrecorded() {
    let (schedules, effects) = explore(|| Arc::new(MemoryStore::new()), Answer::Approve).unwrap();
    assert_eq!(schedules, 630);
    assert!(
        effects > 0 && effects < schedules,
        "some orders let it happen, none lets it happen twice: {effects}"
    );
}

#[test]
fn in_every_order_a_no_lets_nothing_happen() {
    let (_, effects) = explore(|| Arc::new(MemoryStore::new()), Answer::Deny).unwrap();
    assert_eq!(effects, 0);
}

/// A faulty store: the operation that it omits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Used grants stay, and their use is not logged.
    KeepsGrants,
    /// Used grants stay.
    RestoresGrants,
    /// Evaluations are acknowledged and not kept.
    LosesEvaluations,
    /// Session states are not written.
    ForgetsSessions,
}

struct Faulty {
    inner: MemoryStore,
    fault: Fault,
}

struct FaultyTransaction<'a> {
    inner: &'a mut dyn Transaction,
    fault: Fault,
}

impl Store for Faulty {
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.inner.read(f)
    }

    fn write(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.inner.write(durability, &mut |inner| f(&mut FaultyTransaction { inner, fault: self.fault }))
    }
}

impl View for FaultyTransaction<'_> {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.get(space, key)
    }

    fn scan(&self, space: Space, keys: &Keys) -> Result<Vec<Entry>, StoreError> {
        self.inner.scan(space, keys)
    }

    fn records(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        self.inner.records(query)
    }

    fn head(&self) -> Result<Head, StoreError> {
        self.inner.head()
    }

    fn base(&self) -> Result<Head, StoreError> {
        self.inner.base()
    }
}

impl Transaction for FaultyTransaction<'_> {
    fn append(&mut self, draft: Draft) -> Result<Record, StoreError> {
        let lost = match self.fault {
            Fault::LosesEvaluations => draft.kind == kind::EVALUATED,
            Fault::KeepsGrants => draft.kind == kind::GRANT_USED,
            Fault::RestoresGrants | Fault::ForgetsSessions => false,
        };
        if lost {
            return Ok(Record::after(self.inner.head()?, draft));
        }
        self.inner.append(draft)
    }

    fn put(&mut self, space: Space, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        if self.fault == Fault::ForgetsSessions && space == Space::Session {
            return Ok(());
        }
        self.inner.put(space, key, value)
    }

    fn delete(&mut self, space: Space, key: &[u8]) -> Result<(), StoreError> {
        let keeps = matches!(self.fault, Fault::KeepsGrants | Fault::RestoresGrants);
        if keeps && space == Space::Grant {
            return Ok(());
        }
        self.inner.delete(space, key)
    }

    fn prune(&mut self, through: u64) -> Result<(), StoreError> {
        self.inner.prune(through)
    }
}

#[test]
fn planted_faults_break_the_protocol() {
    for fault in [Fault::KeepsGrants, Fault::LosesEvaluations, Fault::ForgetsSessions] {
        let found = std::panic::catch_unwind(|| {
            explore(|| Arc::new(Faulty { inner: MemoryStore::new(), fault }), Answer::Approve)
        });
        assert!(!matches!(found, Ok(Ok(_))), "a planted fault goes unnoticed");
    }
}

/// A used grant that is restored is invalid: its use is in the log.
#[test]
fn a_grant_that_is_put_back_changes_nothing() {
    let fault = Fault::RestoresGrants;
    explore(|| Arc::new(Faulty { inner: MemoryStore::new(), fault }), Answer::Approve).unwrap();
}
