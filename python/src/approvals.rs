//! Questions that wait for a person, and the answers to them.

use lictor::{Approvals, Clock as _, Lifetime, SystemClock, Who};
use pyo3::prelude::*;

use crate::errors::{self, Class};
use crate::{forks, json};

/// How answers from Python are marked in the record.
const FROM: &str = "python";

pub(crate) fn pending<'py>(py: Python<'py>, approvals: &Approvals) -> PyResult<Bound<'py, PyAny>> {
    let pending = forks::detached(py, || approvals.pending(SystemClock.now()));
    json::plain(py, &pending.map_err(|error| errors::raised(Class::Store, &error))?)
}

/// Says yes for so many minutes, or no. Gives the question.
pub(crate) fn answer<'py>(
    py: Python<'py>,
    approvals: &Approvals,
    id: &str,
    by: &str,
    minutes: Option<i64>,
    reason: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let who = Who { by: by.to_owned(), at: SystemClock.now(), from: FROM.to_owned() };
    let answer = || match minutes {
        Some(minutes) => {
            let question = approvals.find(id)?;
            let lasts = minutes.saturating_mul(60_000);
            approvals.approve_seen(&question, who, Lifetime::Once, lasts).map(|_| question)
        }
        None => approvals.deny(id, who, reason),
    };
    let answered = forks::detached(py, answer);
    json::plain(py, &answered.map_err(|error| errors::raised(Class::Approval, &error))?)
}
