//! The engine behind Python's `PolicyEngine`.

use std::path::PathBuf;
use std::sync::Arc;

use lictor::completion::{Completion, Stop, StopCheck};
use lictor::{
    Answer, Digest, Memory, MemoryStore, Mode, Outcome, PolicyEngine, Prompt, SessionKey, SqliteStore, Store,
};
use lictor_observe::{Project, RealObserver};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::action::RawAction;
use crate::evaluation::{self, RawEvaluation};
use crate::frame::{self, Frame, Told};
use crate::graph::Factory;
use crate::{approvals, extend, json};

/// A graph with its store.
#[pyclass(frozen, module = "lictor._lictor")]
pub(crate) struct RawEngine(PolicyEngine);

fn store_failed(error: impl std::fmt::Display) -> PyErr {
    PyOSError::new_err(error.to_string())
}

fn key(id: &str, agent: &str) -> SessionKey {
    SessionKey { agent: agent.to_owned(), id: id.to_owned() }
}

#[pymethods]
impl RawEngine {
    /// Builds the graph from its description. `store` is a file for SQLite, or nothing for memory, which keeps that many
    /// records; `project` is the directory whose files facts are worked out from, or nothing for no facts.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "all of an engine's parts")]
    fn new(
        py: Python<'_>,
        root: &Bound<'_, PyAny>,
        observers: Vec<Bound<'_, PyTuple>>,
        context: Bound<'_, PyAny>,
        store: Option<PathBuf>,
        keep: usize,
        project: Option<&str>,
        fingerprint: &str,
        feedback: Vec<Bound<'_, PyTuple>>,
        checkers: Vec<(String, Py<PyAny>)>,
        directory: Option<PathBuf>,
    ) -> PyResult<Self> {
        let mut factory = Factory::new(context);
        let node = factory.node(root)?;
        let observers = observers.iter().map(|guard| factory.python(guard)).collect::<PyResult<Vec<_>>>()?;
        let store: Arc<dyn Store> = match store {
            Some(file) => Arc::new(py.detach(|| SqliteStore::open(file)).map_err(store_failed)?),
            None => Arc::new(MemoryStore::keeping(keep)),
        };
        let mut builder =
            PolicyEngine::builder(node).shared_store(store).policy_digest(Digest::of(fingerprint.as_bytes()));
        if let Some(directory) = project {
            let known = Project::discover(directory, &RealObserver);
            builder = builder
                .facts(move |action: &lictor::Action| lictor_observe::facts(action, &known, &RealObserver));
        }
        for guard in observers {
            builder = builder.observe(guard);
        }
        builder = extend::extend(builder, feedback, checkers, directory)?;
        builder.build().map(Self).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Judges an action. `seen` is the Python object that guards get.
    fn evaluate(
        &self,
        py: Python<'_>,
        action: &Bound<'_, RawAction>,
        seen: Py<PyAny>,
        dry: bool,
        observe: bool,
    ) -> PyResult<RawEvaluation> {
        let action = &action.get().0;
        let companion = Frame::companion(seen);
        let mode = Mode { dry, observe, companion: Some(companion.clone()), ..Mode::default() };
        let evaluation = py.detach(|| self.0.evaluate_with(action, mode));
        Frame::of(Some(&companion)).map_or(Ok(()), Frame::finish)?;
        Ok(RawEvaluation(evaluation))
    }

    /// The recorded decision of this very call, if there is one.
    fn judged(&self, py: Python<'_>, action: &Bound<'_, RawAction>) -> PyResult<Option<RawEvaluation>> {
        let action = &action.get().0;
        let known = py.detach(|| self.0.judged(action)).map_err(store_failed)?;
        Ok(known.map(RawEvaluation))
    }

    /// Answers what was asked, one answer for each question; nothing given is a no.
    fn resolve(
        &self,
        py: Python<'_>,
        action: &Bound<'_, RawAction>,
        evaluation: &Bound<'_, RawEvaluation>,
        answers: &Bound<'_, PyAny>,
    ) -> PyResult<RawEvaluation> {
        let answers: Vec<Answer> = serde_json::from_value(json::value(answers)?)
            .map_err(|_| PyValueError::new_err("an answer is True, False, or an Answer"))?;
        let action = &action.get().0;
        let asked = evaluation.get().0.clone();
        Ok(RawEvaluation(py.detach(|| self.0.resolve(action, asked, Some(&mut |_| answers.clone())))))
    }

    /// Records what came of an action, tells guards that `listen`, and gives its standing and what the agent is told.
    fn post_action(
        &self,
        py: Python<'_>,
        action: &Bound<'_, RawAction>,
        seen: Py<PyAny>,
        outcome: &Bound<'_, PyAny>,
        advise: bool,
        listen: bool,
    ) -> PyResult<(String, String)> {
        let outcome: Outcome = json::read(json::value(outcome)?)?;
        let action = &action.get().0;
        py.detach(|| {
            let memory = match &action.session {
                Some(session) if listen => self.0.session(session).map_err(store_failed)?.memory,
                _ => Memory::default(),
            };
            let told = Told { action: seen, memory, interruption: None };
            let standing =
                frame::telling(told, || self.0.post_action(action, outcome))?.map_err(store_failed)?;
            let told = match (&action.session, advise) {
                (Some(session), true) => self.0.advise(session).map_err(store_failed)?,
                _ => Vec::new(),
            };
            let standing =
                serde_json::to_value(standing).ok().and_then(|value| value.as_str().map(str::to_owned));
            Ok((standing.unwrap_or_default(), lictor::feedback::render(&told)))
        })
    }

    /// Whether an agent may stop: the outcome, what is missing, and the round.
    #[expect(clippy::too_many_arguments, reason = "all that is known of a wish to stop")]
    fn check_stop(
        &self,
        py: Python<'_>,
        id: &str,
        agent: &str,
        output: Option<String>,
        reason: Option<String>,
        subagent: bool,
        aborted: bool,
    ) -> PyResult<(String, Vec<String>, u32)> {
        let stop = Stop { output, reason, subagent, aborted, ..Stop::default() };
        let checked = py.detach(|| self.0.check_stop(&key(id, agent), None, &stop)).map_err(store_failed)?;
        let Some(StopCheck { outcome, .. }) = checked else {
            return Ok(("complete".to_owned(), Vec::new(), 0));
        };
        let (name, round) = match &outcome {
            Completion::Complete => ("complete", 0),
            Completion::Incomplete { round, .. } => ("incomplete", *round),
            Completion::Bypassed { .. } => ("bypassed", 0),
            Completion::ReleasedUnmet { .. } => ("released_unmet", 0),
        };
        Ok((name.to_owned(), outcome.reasons().to_vec(), round))
    }

    /// A person has said something: the rounds of the stop gate begin anew.
    fn prompted(&self, py: Python<'_>, id: &str, agent: &str, text: String) -> PyResult<()> {
        let prompt = Prompt { name: None, text };
        py.detach(|| self.0.prompted(&key(id, agent), &prompt)).map(drop).map_err(store_failed)
    }

    fn session<'py>(&self, py: Python<'py>, id: &str, agent: &str) -> PyResult<Bound<'py, PyAny>> {
        let key = key(id, agent);
        let state = py.detach(|| self.0.session(&key)).map_err(store_failed)?;
        evaluation::session(py, &state)
    }

    fn end(&self, py: Python<'_>, id: &str, agent: &str) -> PyResult<()> {
        let key = key(id, agent);
        py.detach(|| self.0.end(&key)).map(drop).map_err(store_failed)
    }

    /// Questions that wait for a person.
    fn pending<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        approvals::pending(py, &self.0.approvals())
    }

    /// Says yes for so many minutes, or no. Gives the question.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        by: &str,
        minutes: Option<i64>,
        reason: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        approvals::answer(py, &self.0.approvals(), id, by, minutes, reason)
    }

    /// The graph as data.
    #[getter]
    fn outline<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::plain(py, &self.0.graph().outline())
    }

    #[getter]
    fn policy_digest(&self) -> String {
        self.0.policy().to_string()
    }
}
