//! Simulates a policy on the record: which decisions would change. Recorded facts are used; nothing is recorded.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lictor::log::{Evaluated, kind};
use lictor::{Runtime, Snapshot};
use lictor_core::{
    Action, Clock, Decision, Digest, Evaluation, Facts, Limit, Outcome, SessionKey, Timestamp,
};
use lictor_engine::Mode;
use lictor_store::{MemoryStore, Query, Record, Store, StoreExt as _};
use serde_json::{Value, json};

use crate::tenants::CallError;

/// Records that are read at a time.
const PAGE: usize = 500;
/// How long a simulation may take.
const PATIENCE: Duration = Duration::from_secs(8);
/// Verdicts about people's answers, which are not the policy's own.
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

/// The result of a simulation.
#[derive(Debug)]
pub struct Simulated {
    /// Decisions that were judged again.
    pub judged: usize,
    /// Those that would be others.
    pub changed: Vec<Changed>,
    /// The last record that was looked at, when there are more: time ran out, or so many were asked for.
    pub stopped_at: Option<u64>,
}

/// The start of this many latest decisions of a record.
///
/// # Errors
/// When the store cannot be read.
pub fn newest(store: &dyn Store, decisions: usize) -> Result<u64, CallError> {
    let query = Query::all().kind(kind::EVALUATED).newest_first().limit(decisions);
    let oldest = store.view(|view| view.records(&query)).map_err(crate::stores::StoresError::from)?;
    Ok(oldest.last().map_or(0, |record| record.seq.saturating_sub(1)))
}

/// Judges the decisions after a record again with another policy, in order and with their outcomes.
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
    let (actions, placed) = (HashMap::new(), HashSet::new());
    let mut replay = Replay { runtime, candidate, then, seen, actions, placed };
    let mut out = Simulated { judged: 0, changed: Vec::new(), stopped_at: None };
    let (begun, mut after) = (Instant::now(), after);
    loop {
        let query = Query::all().after(after).limit(PAGE);
        let page = store.view(|view| view.records(&query)).map_err(crate::stores::StoresError::from)?;
        for record in &page {
            after = record.seq;
            replay.take(record, &mut out)?;
            if out.judged >= most {
                let more = Query::all().kind(kind::EVALUATED).after(after).limit(1);
                let more =
                    store.view(|view| view.records(&more)).map_err(crate::stores::StoresError::from)?;
                out.stopped_at = more.first().map(|_| after);
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

/// A clock with the time of the current record: rates and budgets count as they did.
#[derive(Clone, Default)]
struct Then(Arc<AtomicI64>);

impl Clock for Then {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

/// The policy's own decision, without people's answers.
fn says(evaluation: &Evaluation) -> Decision {
    let own = evaluation.active().into_iter().filter(|given| !OF_PEOPLE.contains(&given.guard()));
    own.map(|given| given.verdict.value().settle()).max().unwrap_or(Decision::Pass)
}

/// The candidate policy, and its state so far.
struct Replay<'a> {
    /// The current runtime, which knows the sessions.
    runtime: &'a Runtime,
    candidate: Runtime,
    then: Then,
    /// The facts of the decision that is judged again.
    seen: Arc<Mutex<Option<Facts>>>,
    actions: HashMap<Digest, Action>,
    /// Sessions that were started already.
    placed: HashSet<SessionKey>,
}

impl Replay<'_> {
    fn take(&mut self, record: &Record, out: &mut Simulated) -> Result<(), CallError> {
        self.then.0.store(record.at.0, Ordering::Relaxed);
        match record.kind.as_str() {
            kind::HAPPENED => self.happened(record),
            kind::EVALUATED => self.judge(record, out),
            _ => Ok(()),
        }
    }

    /// Starts a session below its parent with the limit of its delegation. Delegations do not depend on the policy, and may
    /// be older than the simulated records.
    fn place(&mut self, key: &SessionKey) -> Result<(), CallError> {
        if !self.placed.insert(key.clone()) {
            return Ok(());
        }
        let state = self.runtime.session(key)?;
        let Some(parent) = state.parent else { return Ok(()) };
        self.place(&parent)?;
        let above = self.runtime.session(&parent)?.scope;
        let limits: Vec<Limit> = serde_json::from_value(json!(state.scope)).unwrap_or_default();
        let own = limits.into_iter().rev().find(|limit| !above.holds(limit));
        self.candidate.delegate(&parent, key, own.unwrap_or_default())?;
        Ok(())
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

    fn judge(&mut self, record: &Record, out: &mut Simulated) -> Result<(), CallError> {
        let Ok(told) = serde_json::from_str::<Evaluated<'_>>(&record.body) else { return Ok(()) };
        if told.evaluation.dry {
            return Ok(());
        }
        if let Some(key) = &told.action.session {
            self.place(key)?;
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
        Ok(())
    }
}
