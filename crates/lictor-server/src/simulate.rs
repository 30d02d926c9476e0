//! Simulates a policy on the record: which decisions would change. Recorded facts are used; nothing is recorded.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lictor::log::{Evaluated, kind};
use lictor::{Runtime, Snapshot};
use lictor_core::{Action, Clock, Decision, Digest, Evaluation, Facts, Outcome, Timestamp};
use lictor_engine::Mode;
use lictor_store::{MemoryStore, Query, Record, Store, StoreExt as _};
use serde_json::Value;

use crate::tenants::CallError;

/// Records that are read at a time.
const PAGE: usize = 500;
/// How long a simulation may take.
const PATIENCE: Duration = Duration::from_secs(8);
/// Verdicts that say what people answered, or that nobody could be asked: not the policy's.
const OF_PEOPLE: [&str; 2] = ["approval", "resolve"];

/// A recorded decision that would be another one.
#[derive(Debug)]
pub struct Changed {
    /// The number of its record.
    pub seq: u64,
    /// What was judged.
    pub action: Action,
    /// What was decided.
    pub was: Decision,
    /// What would be.
    pub now: Decision,
    /// Why.
    pub reason: String,
}

/// What a policy comes to on what happened.
#[derive(Debug)]
pub struct Simulated {
    /// Decisions that were judged again.
    pub judged: usize,
    /// Those that would be others.
    pub changed: Vec<Changed>,
    /// The last record that was looked at, when time ran out before the end.
    pub stopped_at: Option<u64>,
}

/// Where the newest decisions of a record begin, so many of them.
///
/// # Errors
/// When the store cannot be read.
pub fn newest(store: &dyn Store, decisions: usize) -> Result<u64, CallError> {
    let query = Query::all().kind(kind::EVALUATED).newest_first().limit(decisions);
    let oldest = store.view(|view| view.records(&query)).map_err(crate::stores::StoresError::from)?;
    Ok(oldest.last().map_or(0, |record| record.seq.saturating_sub(1)))
}

/// Judges the decisions after a record again, in order and with what became of them, by another policy.
///
/// # Errors
/// When the policy cannot be used, or the store cannot be read.
pub fn run(
    runtime: &Runtime,
    store: &dyn Store,
    candidate: Arc<Snapshot>,
    after: u64,
    most: usize,
) -> Result<Simulated, CallError> {
    let seen: Arc<Mutex<Option<Facts>>> = Arc::default();
    let recorded = Arc::clone(&seen);
    let facts = move || recorded.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let then = Then::default();
    let scratch = Arc::new(MemoryStore::new());
    let candidate = Runtime::replaying(runtime.project(), scratch, candidate, then.clone(), facts)?;
    let mut replay = Replay { candidate, then, seen, actions: HashMap::new() };
    let mut out = Simulated { judged: 0, changed: Vec::new(), stopped_at: None };
    let (begun, mut after) = (Instant::now(), after);
    loop {
        let query = Query::all().after(after).limit(PAGE);
        let page = store.view(|view| view.records(&query)).map_err(crate::stores::StoresError::from)?;
        for record in &page {
            after = record.seq;
            replay.take(record, &mut out)?;
            if out.judged >= most {
                return Ok(out);
            }
            if begun.elapsed() > PATIENCE {
                out.stopped_at = Some(after);
                return Ok(out);
            }
        }
        if page.len() < PAGE {
            return Ok(out);
        }
    }
}

/// The time of the record that is looked at: rates and budgets count as they did.
#[derive(Clone, Default)]
struct Then(Arc<AtomicI64>);

impl Clock for Then {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

/// What the policy says, before people come in: a yes or no of then says nothing about the policy.
fn says(evaluation: &Evaluation) -> Decision {
    let own = evaluation.active().into_iter().filter(|given| !OF_PEOPLE.contains(&given.guard()));
    own.map(|given| given.verdict.value().settle()).max().unwrap_or(Decision::Pass)
}

/// The candidate, and what it was given so far.
struct Replay {
    candidate: Runtime,
    then: Then,
    /// The facts of the decision that is judged again.
    seen: Arc<Mutex<Option<Facts>>>,
    actions: HashMap<Digest, Action>,
}

impl Replay {
    fn take(&mut self, record: &Record, out: &mut Simulated) -> Result<(), CallError> {
        self.then.0.store(record.at.0, Ordering::Relaxed);
        match record.kind.as_str() {
            kind::HAPPENED => self.happened(record),
            kind::EVALUATED => {
                self.judge(record, out);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn happened(&self, record: &Record) -> Result<(), CallError> {
        let body: Value = serde_json::from_str(&record.body).unwrap_or_default();
        let of = |path: &str| body.pointer(path).cloned().unwrap_or_default();
        let action = serde_json::from_value(of("/event/action")).ok();
        let action = action.and_then(|digest: Digest| self.actions.get(&digest));
        if let (Some(action), Ok(outcome)) = (action, serde_json::from_value::<Outcome>(of("/event/outcome")))
        {
            self.candidate.post(action, outcome)?;
        }
        Ok(())
    }

    fn judge(&mut self, record: &Record, out: &mut Simulated) {
        let Ok(told) = serde_json::from_str::<Evaluated<'_>>(&record.body) else { return };
        if told.evaluation.dry {
            return;
        }
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(told.facts.into_owned());
        let evaluation = self.candidate.evaluate_with(&told.action, Mode::default());
        out.judged += 1;
        let (was, now, action) = (says(&told.evaluation), says(&evaluation), told.action.into_owned());
        if now != was {
            let (seq, reason) = (record.seq, evaluation.reason());
            out.changed.push(Changed { seq, action: action.clone(), was, now, reason });
        }
        self.actions.insert(told.evaluation.action, action);
    }
}
