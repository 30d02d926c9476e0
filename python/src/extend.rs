//! Feedback providers and checks before stopping that are written in Python, and the files that both may look at.

use std::fs;
use std::path::PathBuf;

use lictor::completion::{Checked, CommandCheck, Found, Ran, Situation, Surveyor};
use lictor::feedback::{Consulted, Feedback, Provider, Trigger};
use lictor::level::Level;
use lictor::{
    Builder, Checker, CompletionContext, Digest, FeedbackContext, FeedbackProvider, Probe, SessionState,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde_json::{Value, json};

use crate::{evaluation, frame, guard, json};

/// How many calls a provider or a check can look back at.
const RECENT: usize = 50;

/// Adds providers and checks to an engine: `("native", provider)` or `("python", name, trigger, should_run, provide)`,
/// and `(name, check)`.
pub(crate) fn extend(
    mut builder: Builder,
    providers: Vec<Bound<'_, PyTuple>>,
    checkers: Vec<(String, Py<PyAny>)>,
    root: Option<PathBuf>,
) -> PyResult<Builder> {
    let mut native: Vec<Provider> = Vec::new();
    for provider in &providers {
        let kind: String = provider.get_item(0)?.extract()?;
        if kind == "native" {
            native.push(json::read(json::value(&provider.get_item(1)?)?)?);
        }
    }
    builder = builder.feedback(native);
    for provider in &providers {
        let kind: String = provider.get_item(0)?.extract()?;
        if kind == "python" {
            let trigger: Trigger = json::read(json::value(&provider.get_item(2)?)?)?;
            let provider = PyProvider {
                name: provider.get_item(1)?.extract()?,
                should_run: provider.get_item(3)?.unbind(),
                provide: provider.get_item(4)?.unbind(),
            };
            builder = builder.provider(trigger, provider);
        }
    }
    for (name, check) in checkers {
        builder = builder.checker(PyChecker { name, check });
    }
    Ok(match root {
        Some(root) => builder.probe(Files(root)),
        None => builder,
    })
}

struct PyProvider {
    name: String,
    should_run: Py<PyAny>,
    provide: Py<PyAny>,
}

impl FeedbackProvider for PyProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn should_run(&self, context: &FeedbackContext<'_>) -> bool {
        let asked = guard::attached(|py| {
            self.should_run.bind(py).call1((feedback_context(py, context)?,))?.is_truthy()
        });
        match asked {
            Some(Ok(run)) => run,
            Some(Err(error)) => {
                self.failed(error);
                false
            }
            None => false,
        }
    }

    fn provide(&self, context: &FeedbackContext<'_>) -> Result<Option<Feedback>, String> {
        let said = guard::attached(|py| -> PyResult<Option<Feedback>> {
            let said = self.provide.bind(py).call1((feedback_context(py, context)?,))?;
            if said.is_none() { Ok(None) } else { json::read(json::value(&said)?).map(Some) }
        });
        said.unwrap_or_else(|| Ok(None)).map_err(|error| self.failed(error))
    }
}

impl PyProvider {
    fn failed(&self, error: PyErr) -> String {
        failed(&format!("the feedback provider `{}`", self.name), error)
    }
}

/// What went wrong, in words. An interruption is raised again when the outcome is on record.
fn failed(what: &str, error: PyErr) -> String {
    frame::interrupts(&error);
    guard::logged(what, error)
}

fn feedback_context<'py>(py: Python<'py>, context: &FeedbackContext<'_>) -> PyResult<Bound<'py, PyDict>> {
    let fields = common(py, context.session(), &context.recent_calls(RECENT), context.prompt())?;
    let more = json!({
        "now": context.now().0,
        "session_id": context.key().id,
        "agent": context.key().agent,
        "provider": context.provider(),
        "left": context.left(),
        "calls": context.calls(),
        "calls_since_own": context.calls_since_own(),
        "calls_since_any": context.calls_since_any(),
        "last_feedback": context.last_feedback(),
        "last_own_feedback": context.last_feedback_of(context.provider()),
        "providers": providers(context),
    });
    fields.update(json::to_python(py, &more)?.cast::<PyDict>()?.as_mapping())?;
    Ok(fields)
}

/// What is known of every provider that has spoken: the calls since then, and what it said.
fn providers(context: &FeedbackContext<'_>) -> Value {
    let spoken = context.session().feedback.spoken_by();
    let about = |name: &str| {
        let known = json!({"calls_since": context.calls_since(name), "last": context.last_feedback_of(name)});
        (name.to_owned(), known)
    };
    Value::Object(spoken.map(about).collect())
}

struct PyChecker {
    name: String,
    check: Py<PyAny>,
}

impl Checker for PyChecker {
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, context: &CompletionContext<'_>) -> Result<Checked, String> {
        let checked = guard::attached(|py| {
            let (complete, feedback): (bool, Option<String>) =
                self.check.bind(py).call1((completion_context(py, context)?,))?.extract()?;
            Ok::<_, PyErr>(match complete {
                true => Checked::Complete,
                false => {
                    Checked::Incomplete(feedback.unwrap_or_else(|| format!("`{}` is not met", self.name)))
                }
            })
        });
        match checked {
            Some(checked) => {
                checked.map_err(|error| failed(&format!("the completion check `{}`", self.name), error))
            }
            None => Err("the interpreter is ending".to_owned()),
        }
    }
}

fn completion_context<'py>(py: Python<'py>, context: &CompletionContext<'_>) -> PyResult<Bound<'py, PyDict>> {
    let fields = common(py, context.session(), &context.recent_calls(RECENT), context.prompt())?;
    let situation = context.situation();
    let more = json!({
        "now": situation.now.0,
        "session_id": context.key().id,
        "agent": context.key().agent,
        "output": context.output(),
        "reason": context.reason(),
        "round": situation.round,
        "of": situation.of,
        "left": situation.left,
        "subagent": situation.stop.subagent,
    });
    fields.update(json::to_python(py, &more)?.cast::<PyDict>()?.as_mapping())?;
    Ok(fields)
}

fn common<'py>(
    py: Python<'py>,
    session: &SessionState,
    recent: &[lictor::RecentCall],
    prompt: Option<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("session", evaluation::session(py, session)?)?;
    fields.set_item("recent_calls", json::plain(py, &recent)?)?;
    fields.set_item("prompt", prompt)?;
    Ok(fields)
}

/// Files below a directory, for triggers that wait for one. Programs and findings belong to a project.
struct Files(PathBuf);

const NOBODY: &str = "an engine without a project runs no programs and has no findings";

impl Surveyor for Files {
    fn look(&self, pattern: &str) -> Result<Vec<Found>, String> {
        match fs::metadata(self.0.join(pattern)) {
            Ok(found) => {
                let found = Found { path: pattern.to_owned(), is_file: found.is_file(), bytes: found.len() };
                Ok(vec![found])
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn fingerprint(&self, pattern: &str) -> Result<Option<Digest>, String> {
        match fs::read(self.0.join(pattern)) {
            Ok(bytes) => Ok(Some(Digest::of(&bytes))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn tree(&self) -> Result<Option<Digest>, String> {
        Ok(None)
    }

    fn run(&self, _: &CommandCheck, _: &Situation<'_>) -> Ran {
        Ran::NotRun(NOBODY.to_owned())
    }

    fn open_findings(&self, _: Level) -> Result<Vec<String>, String> {
        Err(NOBODY.to_owned())
    }
}

impl Probe for Files {
    fn consult(&self, _: &Provider, _: &FeedbackContext<'_>) -> Result<Consulted, String> {
        Err(NOBODY.to_owned())
    }
}
