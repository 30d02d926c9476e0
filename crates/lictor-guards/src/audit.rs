//! Records judged actions. Always runs, last, and by default does not affect the decision.

use std::sync::Arc;

use lictor_core::{Action, Context, Guard, Layer, Verdict};

/// Stores records.
pub trait Recorder: Send + Sync {
    /// Keeps one record. The context holds every verdict given so far.
    ///
    /// # Errors
    /// The record could not be stored.
    fn record(&self, action: &Action, context: &Context<'_>) -> Result<(), String>;
}

impl<F> Recorder for F
where
    F: Fn(&Action, &Context<'_>) -> Result<(), String> + Send + Sync,
{
    fn record(&self, action: &Action, context: &Context<'_>) -> Result<(), String> {
        self(action, context)
    }
}

/// Passes every action with its verdicts to a recorder.
#[derive(Clone)]
pub struct Audit {
    recorder: Arc<dyn Recorder>,
    required: bool,
}

impl Audit {
    /// A guard that records and always passes.
    #[must_use]
    pub fn new(recorder: impl Recorder + 'static) -> Self {
        Self { recorder: Arc::new(recorder), required: false }
    }

    /// The same, blocking actions that could not be recorded. It then belongs in the graph, not among the
    /// observers.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

impl Guard for Audit {
    fn name(&self) -> &str {
        "audit"
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        match self.recorder.record(action, context) {
            Ok(()) => Verdict::pass(),
            Err(problem) if self.required => Verdict::block(
                format!("the action could not be recorded: {problem}"),
                "wait until records can be kept again; `lictor doctor` shows what is wrong",
            ),
            Err(problem) => Verdict::pass_because(format!("not recorded: {problem}")),
        }
    }

    fn layer(&self) -> Layer {
        if self.required { Layer::Intent } else { Layer::Observe }
    }
}

#[cfg(test)]
mod tests;
