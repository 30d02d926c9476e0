//! Forms of text that the engine has already: Python reads and writes them the same way.

use lictor::feedback::{Advice, Feedback, Said};
use lictor::ledger::{Claim, Evidence, Level};
use pyo3::prelude::*;

use crate::errors::{self, Class};
use crate::json;

/// `file`, `file:line` or `file:line:note` as file, line and note.
#[pyfunction]
pub(crate) fn parse_evidence(spec: &str) -> PyResult<(String, Option<u32>, String)> {
    let evidence = Evidence::parse(spec).map_err(|error| unfit(&error))?;
    Ok((evidence.file, evidence.line, evidence.note))
}

/// The id that a finding gets where nobody names one: it stands for who reports it, what it says and in which file.
#[pyfunction]
pub(crate) fn finding_id(agent: &str, title: &str, file: &str) -> PyResult<String> {
    let claim =
        Claim::new(Level::Low, title, agent).and_then(|claim| claim.with_evidence([Evidence::file(file)]));
    Ok(claim.map_err(|error| unfit(&error))?.default_id().to_string())
}

/// Feedback as the agent reads it.
#[pyfunction]
pub(crate) fn render_feedback(provider: &str, feedback: &Bound<'_, PyAny>) -> PyResult<String> {
    let said: Feedback = json::read(json::value(feedback)?)?;
    let advice = Advice { provider: provider.to_owned(), by_file: false, said: Said::Feedback(said) };
    Ok(lictor::feedback::render(&[advice]))
}

fn unfit(error: &impl ToString) -> PyErr {
    let fix = "give a title, and evidence as `file`, `file:line` or `file:line:note`";
    errors::told(Class::Ledger, &error.to_string(), fix, "ledger", Vec::new())
}
