//! Observers of evaluations. A tracer never changes a decision and never writes to stdout, which belongs to the
//! hook protocol.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use lictor_core::{Action, Companion, Evaluation, Outcome, Standing, Trace};

/// Gets every evaluation after it was recorded.
pub trait Tracer: Send + Sync {
    /// One evaluation.
    ///
    /// # Errors
    /// A failure; it is reported on stderr and changes nothing.
    fn trace(&self, action: &Action, evaluation: &Evaluation) -> io::Result<()>;

    /// As [`trace`](Self::trace), with the caller's value.
    ///
    /// # Errors
    /// As [`trace`](Self::trace).
    fn trace_with(
        &self,
        action: &Action,
        evaluation: &Evaluation,
        companion: Option<&Companion>,
    ) -> io::Result<()> {
        let _ = companion;
        self.trace(action, evaluation)
    }

    /// The outcome of an action, after it was recorded.
    ///
    /// # Errors
    /// As [`trace`](Self::trace).
    fn happened(&self, action: &Action, outcome: &Outcome, standing: Standing) -> io::Result<()> {
        let _ = (action, outcome, standing);
        Ok(())
    }
}

/// Prints the trace of every evaluation to stderr, one line per node, with durations.
#[derive(Debug, Clone, Copy, Default)]
pub struct StderrTracer;

impl Tracer for StderrTracer {
    fn trace(&self, action: &Action, evaluation: &Evaluation) -> io::Result<()> {
        write_trace(&mut io::stderr().lock(), action, evaluation)
    }

    fn happened(&self, action: &Action, outcome: &Outcome, standing: Standing) -> io::Result<()> {
        write_outcome(&mut io::stderr().lock(), action, outcome, standing)
    }
}

fn write_outcome(
    out: &mut impl Write,
    action: &Action,
    outcome: &Outcome,
    standing: Standing,
) -> io::Result<()> {
    let came = if outcome.success { "succeeded" } else { "failed" };
    let governed = match standing {
        Standing::Governed => "",
        Standing::Ungoverned => ", never judged",
        Standing::Bypass => ", although blocked",
    };
    writeln!(out, "{} {} {came}{governed}", action.kind, action.digest().short())
}

fn write_trace(out: &mut impl Write, action: &Action, evaluation: &Evaluation) -> io::Result<()> {
    writeln!(out, "{} {} → {}", action.kind, evaluation.action.short(), evaluation.decision)?;
    for entry in evaluation.trace.iter() {
        let value = entry.value.map_or("skipped", |value| value.as_str());
        let took = entry.took.map_or_else(String::new, |took| format!(" {} µs", took.as_micros()));
        writeln!(out, "  {} {} {value}{took}", entry.path, entry.name)?;
    }
    Ok(())
}

/// Keeps every evaluation, for tests and for programs that inspect traces.
#[derive(Debug, Default)]
pub struct CollectingTracer {
    traces: Mutex<Vec<(Action, Trace)>>,
    outcomes: Mutex<Vec<(Action, Outcome)>>,
}

impl CollectingTracer {
    /// One that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All actions so far, each with the trace of its evaluation.
    #[must_use]
    pub fn traces(&self) -> Vec<(Action, Trace)> {
        self.traces.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All outcomes so far.
    #[must_use]
    pub fn outcomes(&self) -> Vec<(Action, Outcome)> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Tracer for CollectingTracer {
    fn trace(&self, action: &Action, evaluation: &Evaluation) -> io::Result<()> {
        let entry = (action.clone(), evaluation.trace.clone());
        self.traces.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        Ok(())
    }

    fn happened(&self, action: &Action, outcome: &Outcome, _: Standing) -> io::Result<()> {
        let entry = (action.clone(), outcome.clone());
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        Ok(())
    }
}

/// A tracer that the engine and a reader share.
impl<T: Tracer + ?Sized> Tracer for std::sync::Arc<T> {
    fn trace(&self, action: &Action, evaluation: &Evaluation) -> io::Result<()> {
        (**self).trace(action, evaluation)
    }

    fn trace_with(
        &self,
        action: &Action,
        evaluation: &Evaluation,
        companion: Option<&Companion>,
    ) -> io::Result<()> {
        (**self).trace_with(action, evaluation, companion)
    }

    fn happened(&self, action: &Action, outcome: &Outcome, standing: Standing) -> io::Result<()> {
        (**self).happened(action, outcome, standing)
    }
}

#[cfg(test)]
mod tests;
