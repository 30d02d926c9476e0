//! What a Python guard sees, and what it leaves for others.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lictor::{Claim, Context, ContextView, Risk, SessionState, Verdict};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::Value;

use crate::{evaluation, guard, json};

/// What the guard saw, and its own writes. Reads stay valid after the call, writes do not.
#[pyclass(frozen, module = "lictor._lictor")]
pub(crate) struct RawContext {
    guard: String,
    view: ContextView,
    state: Mutex<State>,
}

struct State {
    open: bool,
    risk: Risk,
    annotations: BTreeMap<String, Value>,
    notes: BTreeMap<String, Value>,
    writes: Vec<Write>,
}

enum Write {
    Risk(f64),
    Annotation(String, Value),
    Tag(String),
    Also(Verdict),
    Claim(Claim),
    Note(String, Value),
}

impl RawContext {
    pub(crate) fn of(guard: &str, mut view: ContextView) -> Self {
        let (risk, annotations) = (view.risk, std::mem::take(&mut view.annotations));
        let state = State { open: true, risk, annotations, notes: BTreeMap::new(), writes: Vec::new() };
        Self { guard: guard.to_owned(), view, state: Mutex::new(state) }
    }

    /// Hands the guard's writes to the evaluation and takes no more of them.
    pub(crate) fn close(&self, context: &mut Context<'_>) {
        for write in self.take() {
            match write {
                Write::Risk(fraction) => context.add_risk(fraction),
                Write::Annotation(key, value) => context.annotate(&key, value),
                Write::Tag(tag) => context.tag(&tag),
                Write::Also(verdict) => context.also(verdict),
                Write::Claim(claim) => drop(context.claim(claim)),
                Write::Note(key, value) => context.remember(&key, value),
            }
        }
    }

    /// Takes no more writes, and drops those of a condition: it may look, not write.
    pub(crate) fn end(&self) {
        drop(self.take());
    }

    fn take(&self) -> Vec<Write> {
        let mut state = self.lock();
        state.open = false;
        std::mem::take(&mut state.writes)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, write: Write) -> PyResult<MutexGuard<'_, State>> {
        let mut state = self.lock();
        if !state.open {
            return Err(PyRuntimeError::new_err(
                "the evaluation is over; a context takes writes only while its guard runs",
            ));
        }
        state.writes.push(write);
        Ok(state)
    }
}

#[pymethods]
impl RawContext {
    #[getter]
    fn risk_score(&self) -> f64 {
        self.lock().risk.as_fraction()
    }

    #[getter]
    fn now(&self) -> f64 {
        self.view.now.0 as f64 / 1000.0
    }

    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::plain(py, &*self.view.facts)
    }

    #[getter]
    fn session<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.view.lineage.first() {
            Some(state) => evaluation::session(py, state),
            None => evaluation::session(py, &SessionState::default()),
        }
    }

    #[getter]
    fn verdicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::plain(py, &self.view.verdicts)
    }

    #[getter]
    fn violations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::plain(py, &self.view.violations)
    }

    #[getter]
    fn trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::plain(py, &self.view.trace)
    }

    /// All annotations by full name.
    fn annotations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::plain(py, &self.lock().annotations)
    }

    /// An annotation by this guard's own key or by full name.
    fn annotation<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let state = self.lock();
        let own = state.annotations.get(&format!("{}.{key}", self.guard));
        own.or_else(|| state.annotations.get(key)).map(|value| json::to_python(py, value)).transpose()
    }

    fn annotate(&self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = json::value(value)?;
        let mut state = self.write(Write::Annotation(key.to_owned(), value.clone()))?;
        state.annotations.insert(format!("{}.{key}", self.guard), value);
        Ok(())
    }

    fn add_risk(&self, fraction: f64) -> PyResult<()> {
        let mut state = self.write(Write::Risk(fraction))?;
        state.risk = Risk::from_fraction(fraction).map_or(Risk::MAX, |more| state.risk.plus(more));
        Ok(())
    }

    /// What this guard remembers of the session under that key.
    fn recall<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let state = self.lock();
        let session = self.view.lineage.first();
        let kept = || session.and_then(|session| session.memory.get(&self.guard, key));
        state.notes.get(key).or_else(kept).map(|value| json::to_python(py, value)).transpose()
    }

    fn remember(&self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = json::value(value)?;
        let mut state = self.write(Write::Note(key.to_owned(), value.clone()))?;
        state.notes.insert(key.to_owned(), value);
        Ok(())
    }

    fn tag(&self, tag: &str) -> PyResult<()> {
        self.write(Write::Tag(tag.to_owned())).map(drop)
    }

    fn also(&self, verdict: &Bound<'_, PyAny>) -> PyResult<()> {
        let verdict = guard::verdict(verdict)?;
        self.write(Write::Also(verdict)).map(drop)
    }

    /// Whether the claim holds in this session and in every one above it.
    #[pyo3(signature = (*, actions=None, tasks=None, pace=None, spend=None, amount=1, limit=0, streak=None, at_most=0))]
    #[expect(clippy::too_many_arguments, reason = "one method for all claims, told apart by keyword")]
    fn claim(
        &self,
        actions: Option<u64>,
        tasks: Option<u64>,
        pace: Option<u64>,
        spend: Option<String>,
        amount: u64,
        limit: u64,
        streak: Option<String>,
        at_most: u32,
    ) -> PyResult<bool> {
        let claim = match (actions, tasks, pace, spend, streak) {
            (Some(at_most), None, None, None, None) => Claim::Actions { at_most },
            (None, Some(at_most), None, None, None) => Claim::Tasks { at_most },
            (None, None, Some(per_minute), None, None) => Claim::Pace { per_minute },
            (None, None, None, Some(budget), None) => Claim::Spend { budget, amount, limit },
            (None, None, None, None, Some(tag)) => Claim::Streak { tag, at_most },
            _ => {
                return Err(PyValueError::new_err(
                    "one of `actions`, `tasks`, `pace`, `spend` and `streak` has to be given",
                ));
            }
        };
        let holds = self.view.lineage.iter().all(|session| claim.holds(session, self.view.now));
        self.write(Write::Claim(claim)).map(|_| holds)
    }
}
