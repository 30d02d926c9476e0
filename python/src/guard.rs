//! Guards, conditions and callbacks that are written in Python.

use lictor::policy::Call;
use lictor::{Action, CallbackResult, Context, Guard, GuardMemory, Layer, Outcome, Verdict};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::context::RawContext;
use crate::forks;
use crate::frame::{self, Frame};
use crate::json;
use crate::memory::RawMemory;

/// What an operator does about a guard that failed.
const OPERATOR: &str = "mend the guard; the error is in `result.faults` and in the log of `lictor`";

const NO_EVALUATION: &str = "no evaluation is under way";
const ENDING: &str = "the interpreter is ending";

/// A guard whose check is a Python callable of the action, or of the action and the context.
pub(crate) struct PyGuard {
    pub(crate) name: String,
    pub(crate) layer: Layer,
    pub(crate) check: Py<PyAny>,
    /// Whether it takes the context.
    pub(crate) sees_context: bool,
    /// Makes the context that users see from the raw one.
    pub(crate) context: Py<PyAny>,
    /// Called with the action, the outcome and the memory after an action.
    pub(crate) on_result: Option<Py<PyAny>>,
}

impl Guard for PyGuard {
    fn name(&self) -> &str {
        &self.name
    }

    fn layer(&self) -> Layer {
        self.layer
    }

    fn check(&self, _: &Action, context: &mut Context<'_>) -> Verdict {
        let Some(frame) = Frame::of(context.companion()) else {
            return Verdict::error(NO_EVALUATION, OPERATOR);
        };
        let called = attached(|py| {
            let action = frame.action(py);
            if !self.sees_context {
                return verdict(&self.check.bind(py).call1((action,))?);
            }
            let raw = Bound::new(py, RawContext::of(&self.name, context.view()))?;
            let seen = self.context.bind(py).call1((&raw, &action))?;
            let given = self.check.bind(py).call1((action, seen));
            raw.get().close(context);
            verdict(&given?)
        });
        match called {
            Some(Ok(verdict)) => verdict,
            Some(Err(error)) => {
                Verdict::error(fault(&format!("the guard `{}`", self.name), error, frame), OPERATOR)
            }
            None => Verdict::error(ENDING, OPERATOR),
        }
    }

    fn happened(&self, _: &Action, outcome: &Outcome, memory: &mut GuardMemory<'_>) {
        let Some(on_result) = &self.on_result else { return };
        let called = attached(|py| {
            let told = frame::told(|told| {
                let kept = told.memory.of(&self.name);
                let kept = kept.map(|(key, value)| (key.to_owned(), value.clone())).collect();
                (told.action.clone_ref(py), RawMemory::new(kept))
            });
            let Some((action, raw)) = told else { return Ok(()) };
            let raw = Bound::new(py, raw)?;
            on_result.bind(py).call1((action, json::plain(py, outcome)?, &raw))?;
            raw.get().close(memory);
            Ok(())
        });
        if let Some(Err(error)) = called {
            // What an ordinary exception was is in the log; only what ends the program comes this far.
            frame::told(|told| {
                told.interruption.get_or_insert(error);
            });
        }
    }
}

/// Calls back into Python, unless the interpreter is ending.
pub(crate) fn attached<T>(call: impl for<'py> FnOnce(Python<'py>) -> T) -> Option<T> {
    forks::outside(|| Python::try_attach(call))
}

/// Asks a Python condition.
pub(crate) fn condition(
    check: &Py<PyAny>,
    make_context: &Py<PyAny>,
    context: &Context<'_>,
) -> Result<bool, String> {
    let frame = Frame::of(context.companion()).ok_or(NO_EVALUATION)?;
    let asked = attached(|py| {
        let action = frame.action(py);
        let raw = Bound::new(py, RawContext::of("", context.view()))?;
        let seen = make_context.bind(py).call1((&raw, &action))?;
        let answer = check.bind(py).call1((action, seen));
        raw.get().end();
        truth(&answer?)
    });
    match asked {
        Some(answer) => answer.map_err(|error| fault("a condition", error, frame)),
        None => Err(ENDING.to_owned()),
    }
}

/// Whether a value counts as true. One that has to be awaited first always would.
pub(crate) fn truth(answer: &Bound<'_, PyAny>) -> PyResult<bool> {
    if answer.hasattr(intern!(answer.py(), "__await__"))? {
        let said = "what was returned has to be awaited; write the function with `async def`";
        return Err(PyTypeError::new_err(said));
    }
    answer.is_truthy()
}

/// Asks a policy's Python callback with the call as plain data.
pub(crate) fn callback(callback: &Py<PyAny>, call: &Call<'_>) -> Result<CallbackResult, String> {
    let frame = Frame::of(call.context.companion).ok_or(NO_EVALUATION)?;
    let asked = attached(|py| {
        let action = frame.action(py);
        let facts = json::plain(py, call.facts)?;
        let session = json::plain(py, call.context.session)?;
        let risk = call.context.risk.as_fraction();
        let deed = json::plain(py, call.deed)?;
        let answer = callback.bind(py).call1((action, facts, session, risk, deed))?;
        if let Ok(passed) = answer.cast::<PyBool>() {
            return Ok(CallbackResult { passed: passed.is_true(), ..CallbackResult::default() });
        }
        let passed = answer.getattr("passed")?.cast::<PyBool>()?.is_true();
        let message = answer.getattr("message")?.extract()?;
        let text = |name: &str| match answer.getattr_opt(name)? {
            Some(given) => given.extract::<Option<String>>(),
            None => Ok(None),
        };
        let decision =
            text("decision")?.map(|word| json::read(serde_json::Value::String(word))).transpose()?;
        let evidence = match answer.getattr_opt("evidence")? {
            Some(given) if !given.is_none() => Some(json::value(&given)?),
            _ => None,
        };
        let mut left = serde_json::Map::new();
        for name in ["risk", "annotations", "tags"] {
            if let Some(given) = answer.getattr_opt(name)?.filter(|given| !given.is_none()) {
                left.insert(name.to_owned(), json::value(&given)?);
            }
        }
        let remarks = json::read(serde_json::Value::Object(left))?;
        Ok(CallbackResult { passed, message, decision, fix: text("fix")?, remarks, evidence })
    });
    match asked {
        Some(answer) => answer.map_err(|error| fault("the callback of a policy", error, frame)),
        None => Err(ENDING.to_owned()),
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
    let py = given.py();
    let no_verdict = |_: PyErr| {
        let name = given.get_type().name().map_or_else(|_| "value".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("a check returned a `{name}`; return a Verdict, True, False or None"))
    };
    let status = given.getattr(intern!(py, "status")).map_err(no_verdict)?;
    let status = status.cast::<PyString>().map_err(|error| no_verdict(error.into()))?;
    let reason: String = given.getattr(intern!(py, "reason"))?.extract()?;
    let fix: String = given.getattr(intern!(py, "fix"))?.extract()?;
    let mut verdict = match status.to_str()? {
        "pass" => Verdict::pass_because(reason),
        "warn" => Verdict::warn(reason).with_fix(fix),
        "ask" => Verdict::ask(reason).with_fix(fix),
        "block" => Verdict::block(reason, fix),
        "error" => Verdict::error(reason, fix),
        other => {
            let said = format!("a verdict has the status `{other}`; use pass, warn, ask, block or error");
            return Err(PyTypeError::new_err(said));
        }
    };
    if let Some(rule) = given.getattr(intern!(py, "rule"))?.extract::<Option<String>>()? {
        verdict = verdict.by_rule(rule);
    }
    let evidence = given.getattr(intern!(py, "evidence"))?;
    if !evidence.is_none() {
        verdict = verdict.with_evidence(json::value(&evidence)?);
    }
    Ok(verdict)
}

/// What went wrong, for the operator. What is no ordinary exception ends the program, so it is raised again after the
/// evaluation.
pub(crate) fn fault(what: &str, error: PyErr, frame: &Frame) -> String {
    match frame::ending(&error) {
        Some(ending) => {
            frame.interrupted(ending);
            said(error)
        }
        None => logged(what, error),
    }
}

/// An exception in words, which the program's log gets with its traceback.
pub(crate) fn logged(what: &str, error: PyErr) -> String {
    Python::try_attach(|py| {
        let log = py.import("lictor._faults").and_then(|faults| faults.getattr("failed_with"));
        // A log that fails itself changes nothing: the words are in the record.
        let given = error.clone_ref(py).into_value(py);
        drop(log.and_then(|log| log.call1((format!("{what} failed"), given))));
    });
    said(error)
}

/// An exception in words.
fn said(error: PyErr) -> String {
    Python::try_attach(|_| error.to_string()).unwrap_or_else(|| ENDING.to_owned())
}
