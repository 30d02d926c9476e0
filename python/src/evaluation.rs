//! Evaluations as Python reads them: nothing is converted before somebody looks.

use lictor::{Evaluation, SessionState, Timestamp};
use pyo3::prelude::*;

use crate::json;

/// What the engine answered for one action.
#[pyclass(frozen, module = "lictor._lictor")]
pub(crate) struct RawEvaluation(pub(crate) Evaluation);

#[pymethods]
impl RawEvaluation {
    #[getter]
    fn passed(&self) -> bool {
        self.0.passed()
    }

    #[getter]
    fn decision(&self) -> &'static str {
        self.0.decision.as_str()
    }

    #[getter]
    fn reason(&self) -> String {
        self.0.reason()
    }

    #[getter]
    fn fix(&self) -> String {
        self.0.fix()
    }

    #[getter]
    fn reason_for_agent(&self) -> String {
        self.0.reason_for_agent()
    }

    #[getter]
    fn fix_for_agent(&self) -> String {
        self.0.fix_for_agent()
    }

    #[getter]
    fn risk_score(&self) -> f64 {
        self.0.risk.as_fraction()
    }

    #[getter]
    fn escalated(&self) -> bool {
        self.0.escalated
    }

    #[getter]
    fn id(&self) -> Option<u64> {
        self.0.id
    }

    #[getter]
    fn tags(&self) -> Vec<String> {
        self.0.tags.clone()
    }

    #[getter]
    fn annotations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::plain(py, &self.0.annotations)
    }

    #[getter]
    fn verdicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::plain(py, &self.0.verdicts)
    }

    #[getter]
    fn violations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::plain(py, &self.0.violations)
    }

    #[getter]
    fn trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::plain(py, &self.0.trace)
    }

    #[getter]
    fn session<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        session(py, &self.0.session)
    }

    /// What a person has to answer, in order: `{guard, reason, fix, violation}`.
    #[getter]
    fn questions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let questions = self.0.questions();
        let asked = questions.iter().filter(|question| question.needs_approval).map(|question| {
            serde_json::json!({
                "guard": question.given.guard(),
                "reason": question.given.verdict.reason(),
                "fix": question.given.verdict.fix(),
                "rule": question.given.verdict.rule(),
                "violation": question.violation,
            })
        });
        json::plain(py, &asked.collect::<Vec<_>>())
    }

    /// Everything, as `lictor eval --json` prints it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let dict = json::plain(py, &self.0)?;
        dict.set_item("reason", self.0.reason())?;
        dict.set_item("fix", self.0.fix())?;
        Ok(dict)
    }
}

/// A moment in seconds since 1970, as Python has it.
fn seconds(at: Timestamp) -> f64 {
    at.0 as f64 / 1000.0
}

/// The counters of a session.
pub(crate) fn session<'py>(py: Python<'py>, state: &SessionState) -> PyResult<Bound<'py, PyAny>> {
    json::plain(
        py,
        &serde_json::json!({
            "action_count": state.action_count,
            "pass_count": state.pass_count,
            "warn_count": state.warn_count,
            "ask_count": state.ask_count,
            "block_count": state.block_count,
            "escalation_count": state.escalation_count,
            "task_count": state.task_count,
            "success_count": state.success_count,
            "failure_count": state.failure_count,
            "ungoverned_count": state.ungoverned_count,
            "bypass_count": state.bypass_count,
            "peak_risk": state.peak_risk.as_fraction(),
            "streaks": state.streaks,
            "spent": state.spent,
            "ended": state.ended,
            "usage": {"tokens": state.usage.tokens, "cost": state.usage.cost()},
            "prompt": state.prompt,
            "failures_in_a_row": state.feedback.failures_in_a_row,
            "todos": state.todos.as_ref().map(|todos| serde_json::json!({"open": todos.open, "items": todos.items})),
            "started": state.started.map(seconds),
            "latest": state.latest.map(seconds),
            "parent": state.parent.as_ref().map(|parent| &parent.id),
        }),
    )
}
