//! Guards, conditions and callbacks that are written in Python.

use lictor::policy::Call;
use lictor::{Action, CallbackResult, Context, Guard, Layer, Verdict};
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::context::RawContext;
use crate::{frame, json};

/// What an operator does about a guard that failed.
const OPERATOR: &str = "mend the guard; the error is in `result.faults` and in the log of `lictor`";

/// A guard whose check is a Python callable of the action, or of the action and the context.
pub(crate) struct PyGuard {
    pub(crate) name: String,
    pub(crate) layer: Layer,
    pub(crate) check: Py<PyAny>,
    /// Whether it takes the context.
    pub(crate) sees_context: bool,
    /// Makes the context that users see from the raw one.
    pub(crate) context: Py<PyAny>,
}

impl Guard for PyGuard {
    fn name(&self) -> &str {
        &self.name
    }

    fn layer(&self) -> Layer {
        self.layer
    }

    fn check(&self, _: &Action, context: &mut Context<'_>) -> Verdict {
        let called = Python::try_attach(|py| {
            let action =
                frame::action(py).ok_or_else(|| PyTypeError::new_err("no evaluation is under way"))?;
            if !self.sees_context {
                return verdict(&self.check.bind(py).call1((action,))?);
            }
            let raw = Bound::new(py, RawContext::snapshot(&self.name, context))?;
            let seen = self.context.bind(py).call1((&raw, &action))?;
            let given = self.check.bind(py).call1((action, seen));
            raw.get().close(context);
            verdict(&given?)
        });
        match called {
            Some(Ok(verdict)) => verdict,
            Some(Err(error)) => Verdict::error(fault(error), OPERATOR),
            None => Verdict::error("the interpreter is ending", OPERATOR),
        }
    }
}

/// Asks a Python condition.
pub(crate) fn condition(
    check: &Py<PyAny>,
    make_context: &Py<PyAny>,
    context: &Context<'_>,
) -> Result<bool, String> {
    let asked = Python::try_attach(|py| {
        let action = frame::action(py).ok_or_else(|| PyTypeError::new_err("no evaluation is under way"))?;
        let raw = Bound::new(py, RawContext::snapshot("", context))?;
        let seen = make_context.bind(py).call1((&raw, &action))?;
        let answer = check.bind(py).call1((action, seen));
        raw.get().end();
        answer?.is_truthy()
    });
    match asked {
        Some(answer) => answer.map_err(fault),
        None => Err("the interpreter is ending".to_owned()),
    }
}

/// Asks a policy's Python callback with the call as plain data.
pub(crate) fn callback(callback: &Py<PyAny>, call: &Call<'_>) -> Result<CallbackResult, String> {
    let asked = Python::try_attach(|py| {
        let action = frame::action(py).ok_or_else(|| PyTypeError::new_err("no evaluation is under way"))?;
        let facts = json::plain(py, call.facts)?;
        let session = json::plain(py, call.context.session)?;
        let risk = call.context.risk.as_fraction();
        let answer = callback.bind(py).call1((action, facts, session, risk, call.policy))?;
        if let Ok(passed) = answer.cast::<PyBool>() {
            return Ok(CallbackResult { passed: passed.is_true(), ..CallbackResult::default() });
        }
        let passed = answer.getattr("passed")?.cast::<PyBool>()?.is_true();
        let message = answer.getattr("message")?.extract()?;
        Ok(CallbackResult { passed, message, ..CallbackResult::default() })
    });
    match asked {
        Some(answer) => answer.map_err(fault),
        None => Err("the interpreter is ending".to_owned()),
    }
}

/// What a Python check returned: a verdict, true or nothing for a pass, false for a block.
pub(crate) fn verdict(given: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    if given.is_none() {
        return Ok(Verdict::pass());
    }
    if let Ok(flag) = given.cast::<PyBool>() {
        return Ok(if flag.is_true() { Verdict::pass() } else { Verdict::block("", "") });
    }
    let text = |name: &str| given.getattr(name)?.extract::<String>();
    let status = text("status").map_err(|_| {
        let name = given.get_type().name().map_or_else(|_| "value".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("a check returned a `{name}`; return a Verdict, True, False or None"))
    })?;
    let (reason, fix) = (text("reason")?, text("fix")?);
    let mut verdict = match status.as_str() {
        "pass" => Verdict::pass_because(reason),
        "warn" => Verdict::warn(reason).with_fix(fix),
        "ask" => Verdict::ask(reason).with_fix(fix),
        "block" => Verdict::block(reason, fix),
        _ => Verdict::error(reason, fix),
    };
    if let Some(rule) = given.getattr("rule")?.extract::<Option<String>>()? {
        verdict = verdict.by_rule(rule);
    }
    let evidence = given.getattr("evidence")?;
    if !evidence.is_none() {
        verdict = verdict.with_evidence(json::value(&evidence)?);
    }
    Ok(verdict)
}

/// What went wrong, for the operator. What is no ordinary exception ends the program, so it is raised again after the
/// evaluation.
fn fault(error: PyErr) -> String {
    let said = Python::try_attach(|py| {
        if !error.is_instance_of::<PyException>(py) {
            frame::interrupted(error.clone_ref(py));
        }
        error.to_string()
    });
    said.unwrap_or_else(|| "the interpreter is ending".to_owned())
}
