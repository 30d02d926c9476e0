//! Statistics of rules: folded from the record incrementally.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lictor::log::{Approving, kind};
use lictor::past::decided;
use lictor_core::{Decision, Timestamp};
use lictor_store::{Query, Record, Store, StoreError, StoreExt as _};
use serde_json::Value;

use super::words;

/// Records that are read at a time.
const PAGE: usize = 500;
/// So many questions are remembered until their answer is seen.
const OPEN: usize = 10_000;

/// The interval at which waiting views get partial results.
const SHOWN_EVERY: Duration = Duration::from_millis(100);

/// The statistics of one rule.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rule {
    /// Pass, warn, ask, block: decisions in which it fired.
    pub(crate) counts: [u64; 4],
    /// By day.
    pub(crate) days: BTreeMap<String, u64>,
    /// A person approved, and the agent used it.
    pub(crate) overridden: u64,
    /// A person said no.
    pub(crate) denied: u64,
    /// A person marked the decision as wrong.
    pub(crate) wrong: u64,
    /// When it last fired.
    pub(crate) last: Option<Timestamp>,
}

/// The statistics of a record so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// The last record that is in it.
    pub(crate) through: u64,
    /// The head of the record when it was read.
    pub(crate) head: u64,
    pub(crate) rules: BTreeMap<String, Rule>,
    /// Pass, warn, ask, block, by day.
    pub(crate) days: BTreeMap<String, [u64; 4]>,
    asked: HashMap<String, Vec<String>>,
}

/// The tallies of all records that were asked about.
#[derive(Debug, Default)]
pub(crate) struct Tallies(Mutex<HashMap<String, Arc<Counting>>>);

/// One tally. One thread counts at a time, on a copy: other views do not wait for it.
#[derive(Debug, Default)]
struct Counting {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// As far as it got.
    shown: Arc<Tally>,
    /// Somebody counts.
    taken: bool,
}

/// The right to count.
struct Job(Arc<Counting>);

impl Drop for Job {
    fn drop(&mut self) {
        self.0.state().taken = false;
        self.0.ended.notify_all();
    }
}

impl Counting {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half done under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(self: &Arc<Self>) -> Option<Job> {
        let mut state = self.state();
        (!std::mem::replace(&mut state.taken, true)).then(|| Job(Arc::clone(self)))
    }

    /// The partial result of another thread, or the full result if it finishes in time.
    fn wait(&self, patience: Duration) -> Arc<Tally> {
        let waited = self.ended.wait_timeout_while(self.state(), patience, |state| state.taken);
        Arc::clone(&waited.unwrap_or_else(PoisonError::into_inner).0.shown)
    }
}

impl Job {
    fn show(&self, tally: &Arc<Tally>) {
        self.0.state().shown = Arc::clone(tally);
    }

    /// Counts to the end.
    fn finish(&self, mut tally: Arc<Tally>, store: &dyn Store) {
        let mut shown = Instant::now();
        while let Ok(true) = Arc::make_mut(&mut tally).more(store) {
            if shown.elapsed() > SHOWN_EVERY {
                self.show(&tally);
                shown = Instant::now();
            }
        }
        self.show(&tally);
    }
}

impl Tallies {
    /// The statistics of the record, as far as they can be computed in this time. The rest is counted in the
    /// background.
    pub(crate) fn of(
        &self,
        name: &str,
        store: &Arc<dyn Store>,
        patience: Duration,
    ) -> Result<Arc<Tally>, StoreError> {
        let counting = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(name.to_owned()).or_default())
        };
        let begun = Instant::now();
        let Some(job) = counting.take() else { return Ok(counting.wait(patience)) };
        let mut tally = Arc::clone(&counting.state().shown);
        while Arc::make_mut(&mut tally).more(&**store)? {
            if begun.elapsed() > patience {
                job.show(&tally);
                let (rest, store) = (Arc::clone(&tally), Arc::clone(store));
                std::thread::spawn(move || job.finish(rest, &*store));
                return Ok(tally);
            }
        }
        job.show(&tally);
        Ok(tally)
    }
}

impl Tally {
    /// Adds the next records; whether there are more.
    fn more(&mut self, store: &dyn Store) -> Result<bool, StoreError> {
        let query = Query::all().after(self.through).limit(PAGE);
        let (head, page) = store.view(|view| Ok((view.head()?.seq, view.records(&query)?)))?;
        self.head = head;
        for record in &page {
            self.through = record.seq;
            self.add(store, record)?;
        }
        Ok(page.len() == PAGE)
    }

    fn add(&mut self, store: &dyn Store, record: &Record) -> Result<(), StoreError> {
        match record.kind.as_str() {
            kind::EVALUATED => self.decided(record),
            kind::APPROVAL_REQUESTED => {
                if let Ok(told) = serde_json::from_str::<Approving<'_>>(&record.body)
                    && let Some(approval) = told.approval
                    && self.asked.len() < OPEN
                {
                    let rules = approval.asked.iter();
                    let rules = rules.map(|point| point.rule.clone().unwrap_or_else(|| point.guard.clone()));
                    self.asked.insert(told.id.into_owned(), rules.collect());
                }
            }
            kind::GRANT_USED | kind::APPROVAL_DENIED => {
                let Ok(told) = serde_json::from_str::<Approving<'_>>(&record.body) else { return Ok(()) };
                for name in self.asked.get(&*told.id).cloned().unwrap_or_default() {
                    let rule = self.rules.entry(name).or_default();
                    match record.kind.as_str() {
                        kind::GRANT_USED => rule.overridden += 1,
                        _ => rule.denied += 1,
                    }
                }
            }
            "decision.wrong" => {
                let body: Value = serde_json::from_str(&record.body).unwrap_or_default();
                let Some(id) = body.get("id").and_then(Value::as_u64) else { return Ok(()) };
                let query = Query::all().after(id.saturating_sub(1)).before(id.saturating_add(1)).limit(1);
                let found = store.view(|view| view.records(&query))?;
                for name in found.first().and_then(decided).map(|found| found.rules).unwrap_or_default() {
                    self.rules.entry(name).or_default().wrong += 1;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn decided(&mut self, record: &Record) {
        let Some(found) = decided(record).filter(|found| !found.dry) else { return };
        let day = words::day(record.at);
        if let Some(count) = self.days.entry(day.clone()).or_default().get_mut(place(found.decision)) {
            *count += 1;
        }
        // A rule that asked counts as asking, even if the call was blocked because nobody could be asked.
        for (name, said) in found.rules.into_iter().zip(found.said) {
            let rule = self.rules.entry(name).or_default();
            if let Some(count) = rule.counts.get_mut(place(said)) {
                *count += 1;
            }
            *rule.days.entry(day.clone()).or_default() += 1;
            rule.last = Some(record.at);
        }
    }
}

/// The index of the counter of a decision.
fn place(decision: Decision) -> usize {
    match decision {
        Decision::Pass => 0,
        Decision::Warn => 1,
        Decision::Ask => 2,
        Decision::Block => 3,
    }
}

#[cfg(test)]
mod tests;
