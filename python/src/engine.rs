//! The engine behind Python's `PolicyEngine`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lictor::completion::{Completion, Stop, StopCheck};
use lictor::config::Redactor;
use lictor::event::Continuation;
use lictor::{
    Action, Answer, Decision, Digest, Facts, Memory, MemoryStore, Mode, Outcome, PolicyEngine, Prompt,
    SessionKey, SessionState, SqliteStore, Store, StoreError,
};
use lictor_observe::{Project, RealObserver};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::action::RawAction;
use crate::clock::RawClock;
use crate::errors::{self, Class};
use crate::evaluation::{self, RawEvaluation};
use crate::frame::{self, Frame, Told};
use crate::graph::Factory;
use crate::{approvals, extend, forks, json};

/// A graph with its store.
#[pyclass(frozen, module = "lictor._lictor")]
pub(crate) struct RawEngine(PolicyEngine);

fn store_failed(error: StoreError) -> PyErr {
    errors::raised(Class::Store, &error)
}

fn key(id: &str, agent: &str) -> SessionKey {
    SessionKey { agent: agent.to_owned(), id: id.to_owned() }
}

/// Does something to a session and gives its counters.
fn shown<'py>(
    py: Python<'py>,
    act: impl FnOnce() -> Result<SessionState, StoreError> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    evaluation::session(py, &forks::detached(py, act).map_err(store_failed)?)
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
        deadline: Option<f64>,
        redact: Vec<String>,
        clock: Option<&Bound<'_, RawClock>>,
    ) -> PyResult<Self> {
        let mut factory = Factory::new(context);
        let node = factory.node(root)?;
        let observers = observers.iter().map(|guard| factory.python(guard)).collect::<PyResult<Vec<_>>>()?;
        let store: Arc<dyn Store> = match store {
            Some(file) => Arc::new(forks::detached(py, || SqliteStore::open(file)).map_err(store_failed)?),
            None => Arc::new(MemoryStore::keeping(keep)),
        };
        let mut builder =
            PolicyEngine::builder(node).shared_store(store).policy_digest(Digest::of(fingerprint.as_bytes()));
        builder = match project {
            Some(directory) => {
                let known = Project::discover(directory, &RealObserver);
                builder.facts(move |action: &Action| lictor_observe::facts(action, &known, &RealObserver))
            }
            None => builder.facts(|_: &Action| Facts::none()),
        };
        for guard in observers {
            builder = builder.observe(guard);
        }
        if let Some(seconds) = deadline {
            let deadline = Duration::try_from_secs_f64(seconds);
            builder = builder.deadline(deadline.map_err(|error| PyValueError::new_err(error.to_string()))?);
        }
        if !redact.is_empty() {
            let redactor = Redactor::new(redact.iter().map(String::as_str));
            builder = builder.redact(redactor.map_err(|error| {
                let text = format!("`redact` has a pattern that cannot be used: {error}");
                errors::told(Class::Policy, &text, "correct the pattern", "redact", Vec::new())
            })?);
        }
        if let Some(clock) = clock {
            builder = builder.clock(clock.get().shared());
        }
        builder = builder.history(factory.history());
        builder = extend::extend(builder, feedback, checkers, directory)?;
        builder.build().map(Self).map_err(|error| errors::raised(Class::Graph, &error))
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
        let evaluation = forks::detached(py, || self.0.evaluate_with(action, mode));
        Frame::of(Some(&companion)).map_or(Ok(()), Frame::finish)?;
        Ok(RawEvaluation(evaluation))
    }

    /// The recorded decision of this very call, if there is one.
    fn judged(&self, py: Python<'_>, action: &Bound<'_, RawAction>) -> PyResult<Option<RawEvaluation>> {
        let action = &action.get().0;
        let known = forks::detached(py, || self.0.judged(action)).map_err(store_failed)?;
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
        if asked.decision != Decision::Ask {
            return Ok(RawEvaluation(asked));
        }
        let resolved = forks::detached(py, || self.0.resolve_waiting(action, asked, answers));
        resolved.map(RawEvaluation).ok_or_else(|| {
            let (reason, fix) =
                ("the question does not wait for an answer any more", "evaluate the action again");
            errors::told(Class::Approval, reason, fix, "not_asked", Vec::new())
        })
    }

    /// The newest calls of a session, the newest last.
    fn recent<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        agent: &str,
        most: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let calls = forks::detached(py, || self.0.recent_calls(&key(id, agent), most));
        json::plain(py, &calls)
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
        forks::detached(py, || {
            let memory = match &action.session {
                Some(session) if listen => self.0.session(session).map_err(store_failed)?.memory,
                _ => Memory::default(),
            };
            let told = Told { action: seen, memory, interruption: None };
            let (standing, told) = frame::telling(told, || {
                let standing = self.0.post_action(action, outcome)?;
                let told = match (&action.session, advise) {
                    (Some(session), true) => self.0.advise(session)?,
                    _ => Vec::new(),
                };
                Ok((standing, told))
            })?
            .map_err(store_failed)?;
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
        let told = Told { action: py.None(), memory: Memory::default(), interruption: None };
        let checked =
            forks::detached(py, || frame::telling(told, || self.0.check_stop(&key(id, agent), None, &stop)))?;
        let checked = checked.map_err(store_failed)?;
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
    fn prompted(
        &self,
        py: Python<'_>,
        id: &str,
        agent: &str,
        text: String,
        name: Option<String>,
    ) -> PyResult<()> {
        let prompt = Prompt { name, text };
        forks::detached(py, || self.0.prompted(&key(id, agent), &prompt)).map(drop).map_err(store_failed)
    }

    fn session<'py>(&self, py: Python<'py>, id: &str, agent: &str) -> PyResult<Bound<'py, PyAny>> {
        shown(py, || self.0.session(&key(id, agent)))
    }

    /// What the agent is told now, for programs that report outcomes without asking for it.
    fn advise(&self, py: Python<'_>, id: &str, agent: &str) -> PyResult<String> {
        let told = Told { action: py.None(), memory: Memory::default(), interruption: None };
        let said = forks::detached(py, || frame::telling(told, || self.0.advise(&key(id, agent))))?;
        Ok(lictor::feedback::render(&said.map_err(store_failed)?))
    }

    fn begin<'py>(&self, py: Python<'py>, id: &str, agent: &str) -> PyResult<Bound<'py, PyAny>> {
        shown(py, || self.0.begin(&key(id, agent)))
    }

    /// Starts the session of a subagent below another, narrowed by the limit.
    fn delegate<'py>(
        &self,
        py: Python<'py>,
        parent: &str,
        child: &str,
        agent: &str,
        limit: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let limit = json::read(json::value(limit)?)?;
        shown(py, || self.0.delegate(&key(parent, agent), &key(child, agent), limit))
    }

    /// Starts a session that goes on from where another is.
    fn fork<'py>(&self, py: Python<'py>, from_: &str, to: &str, agent: &str) -> PyResult<Bound<'py, PyAny>> {
        shown(py, || self.0.fork(&key(from_, agent), &key(to, agent)))
    }

    /// The session was taken up again: `resume`, `compact` or `clear`.
    fn continued<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        agent: &str,
        how: String,
    ) -> PyResult<Bound<'py, PyAny>> {
        let how: Continuation = json::read(serde_json::Value::String(how))?;
        shown(py, || self.0.continued(&key(id, agent), how))
    }

    fn reset<'py>(&self, py: Python<'py>, id: &str, agent: &str) -> PyResult<Bound<'py, PyAny>> {
        shown(py, || self.0.reset(&key(id, agent)))
    }

    fn end<'py>(&self, py: Python<'py>, id: &str, agent: &str) -> PyResult<Bound<'py, PyAny>> {
        shown(py, || self.0.end(&key(id, agent)))
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
