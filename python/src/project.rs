//! A governed project: the policy files and the store that hooks use, behind the methods of `lictor rpc`.

use std::path::PathBuf;

use lictor::forms::EvaluationForm;
use lictor::ledger::ledger::Verb;
use lictor::ledger::{LedgerError, Level, render};
use lictor::rpc::{self, Access};
use lictor::{Error, MemoryStore, Options, Runtime, SqliteStore, Timestamp};
use pyo3::prelude::*;

use crate::action::RawAction;
use crate::errors::{self, Class, in_runtime};
use crate::{approvals, forks, json};

/// The runtime of a project.
#[pyclass(frozen, module = "lictor._lictor")]
pub(crate) struct RawProject {
    runtime: Runtime,
    access: Access,
}

/// As `lictor rpc` does it: a program that a governed agent started does not answer for a person.
fn opened(runtime: Runtime) -> RawProject {
    let access = match lictor::governed::above(runtime.project()) {
        None => Access::Full,
        Some(_) => Access::own_sessions(),
    };
    RawProject { runtime, access }
}

fn in_ledger(error: LedgerError) -> PyErr {
    errors::raised(Class::Ledger, &error)
}

#[pymethods]
impl RawProject {
    /// The project around a directory.
    #[staticmethod]
    fn open(py: Python<'_>, directory: PathBuf) -> PyResult<Self> {
        forks::detached(py, || Runtime::open(directory).map(opened)).map_err(|error| in_runtime(&error))
    }

    /// A policy without a project, kept in memory or in that file.
    #[staticmethod]
    fn from_yaml(py: Python<'_>, text: &str, directory: PathBuf, store: Option<PathBuf>) -> PyResult<Self> {
        let made = forks::detached(py, || {
            let options = Options::from_process().cwd(directory);
            let options = match store {
                Some(file) => options.store(SqliteStore::open(file)?),
                None => options.store(MemoryStore::new()),
            };
            Runtime::from_yaml(text, options)
        });
        let runtime = made.map_err(|error| in_runtime(&error))?;
        // Nobody else has its store.
        Ok(Self { runtime, access: Access::Full })
    }

    /// Calls a method. Gives its result, or its error as `(kind, message, fix)`.
    fn call<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        params: &Bound<'py, PyAny>,
    ) -> PyResult<(Option<Bound<'py, PyAny>>, Option<(String, String, String)>)> {
        let params = json::value(params)?;
        match forks::detached(py, || rpc::dispatch_for(&self.runtime, &self.access, method, params)) {
            Ok(result) => Ok((Some(json::to_python(py, &result)?), None)),
            Err(error) => {
                Ok((None, Some((error.kind().to_owned(), error.to_string(), error.fix().to_owned()))))
            }
        }
    }

    /// The recorded decision of this very call, if there is one, as `evaluate` gave it.
    fn judged<'py>(
        &self,
        py: Python<'py>,
        action: &Bound<'py, RawAction>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let action = &action.get().0;
        let known = forks::detached(py, || self.runtime.engine().judged(action));
        let known = known.map_err(|error| errors::raised(Class::Store, &error))?;
        known
            .map(|known| json::plain(py, &EvaluationForm::from(&known.redacted(self.runtime.redactor()))))
            .transpose()
    }

    /// Says yes or no to a question that waits. Gives the question.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        by: &str,
        minutes: Option<i64>,
        reason: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.for_people(Class::Approval, "answer a question")?;
        approvals::answer(py, &self.runtime.approvals(), id, by, minutes, reason)
    }

    /// A plan's verdict, as `lictor verdict show --json` has it.
    fn verdict<'py>(&self, py: Python<'py>, plan: &str) -> PyResult<Bound<'py, PyAny>> {
        let shown = forks::detached(py, || -> Result<String, LedgerError> {
            let ledger = self.runtime.ledger();
            let ledger = ledger.reading();
            let verdict = ledger.verdict(plan)?;
            let mut history = std::collections::HashMap::new();
            for finding in verdict.open.iter().chain(&verdict.closed) {
                history.insert(finding.id.clone(), ledger.history(&verdict.plan, &finding.id)?);
            }
            Ok(render::json::verdict(&verdict, |id| history.get(id).map_or(&[], Vec::as_slice)))
        });
        json::parsed(py, &shown.map_err(in_ledger)?)
    }

    /// A plan's verdict in words.
    fn explain(&self, py: Python<'_>, plan: &str) -> PyResult<String> {
        let shown = forks::detached(py, || {
            let ledger = self.runtime.ledger();
            ledger.reading().verdict(plan).map(|verdict| render::text::explain(&verdict))
        });
        shown.map_err(in_ledger)
    }

    /// The verdicts that changed last.
    fn retro<'py>(&self, py: Python<'py>, limit: usize, at_least: &str) -> PyResult<Bound<'py, PyAny>> {
        let at_least: Level = json::read(serde_json::Value::String(at_least.to_uppercase()))?;
        let recent = forks::detached(py, || self.runtime.ledger().reading().retro(limit, at_least));
        json::parsed(py, &render::json::retro(&recent.map_err(in_ledger)?))
    }

    /// Takes a finding out of its plan's level. Whether there was an open one.
    fn clear(&self, py: Python<'_>, plan: &str, id: &str, by: &str, reason: &str) -> PyResult<bool> {
        self.for_people(Class::Ledger, "clear a finding")?;
        let cleared = forks::detached(py, || -> Result<_, Error> {
            let ledger = self.runtime.ledger();
            Ok(ledger.writing()?.clear(plan, id, by, reason))
        });
        Ok(cleared.map_err(|error| in_runtime(&error))?.map_err(in_ledger)?.is_some())
    }

    /// Lets a finding stand, until that moment in seconds since 1970 or for good.
    fn waive(
        &self,
        py: Python<'_>,
        plan: &str,
        id: &str,
        by: &str,
        reason: &str,
        until: Option<f64>,
    ) -> PyResult<()> {
        self.for_people(Class::Ledger, "waive a finding")?;
        let until = until.map(|seconds| Timestamp((seconds * 1000.0) as i64));
        let waived = forks::detached(py, || -> Result<_, Error> {
            let ledger = self.runtime.ledger();
            Ok(ledger.writing()?.rule(plan, id, Verb::AcceptRisk, by, reason, until))
        });
        waived.map_err(|error| in_runtime(&error))?.map(drop).map_err(in_ledger)
    }
}

impl RawProject {
    fn for_people(&self, class: Class, what: &str) -> PyResult<()> {
        match self.access {
            Access::Full => Ok(()),
            Access::OwnSessions(_) => {
                let text = format!("under a governed agent, nobody may {what}");
                Err(errors::told(
                    class,
                    &text,
                    "let a person do it, outside of the agent",
                    "refused",
                    Vec::new(),
                ))
            }
        }
    }
}
