//! Enforcement in code: as an error value, and as a wrapper around a function.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{ExitStatus, Output};

use lictor_core::resolve::Approver;
use lictor_core::{Action, Answer, Decision, Evaluation, Outcome, Question};

use crate::PolicyEngine;

/// An action that is not allowed, with its evaluation.
#[derive(Debug, Clone)]
pub struct Blocked {
    /// Why, and what else was found.
    pub evaluation: Box<Evaluation>,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.evaluation.decision, self.evaluation.reason())
    }
}

impl std::error::Error for Blocked {}

/// Turns an evaluation that does not allow the action, including an unanswered `ask`, into an error.
///
/// # Errors
/// When the evaluation does not allow the action.
pub fn enforce(evaluation: Evaluation) -> Result<Evaluation, Blocked> {
    if evaluation.passed() { Ok(evaluation) } else { Err(Blocked { evaluation: Box::new(evaluation) }) }
}

/// A return value that tells the outcome of the call.
pub trait Report {
    /// The outcome of the call.
    fn outcome(&self) -> Outcome;
}

/// An error is a failure, and so is a value that reports one.
impl<T: Report, E: fmt::Display> Report for Result<T, E> {
    fn outcome(&self) -> Outcome {
        match self {
            Ok(value) => value.outcome(),
            Err(error) => Outcome::failure(error.to_string()),
        }
    }
}

impl Report for Outcome {
    fn outcome(&self) -> Outcome {
        self.clone()
    }
}

/// An exit code other than 0 is a failure.
impl Report for ExitStatus {
    fn outcome(&self) -> Outcome {
        Outcome {
            success: self.success(),
            exit_code: self.code(),
            error: (!self.success()).then(|| self.to_string()),
            ..Outcome::default()
        }
    }
}

impl Report for Output {
    fn outcome(&self) -> Outcome {
        self.status.outcome()
    }
}

macro_rules! plain_values {
    ($($type:ty)*) => {$(
        /// A plain value: it worked.
        impl Report for $type {
            fn outcome(&self) -> Outcome {
                Outcome::success()
            }
        }
    )*};
}

plain_values!(() bool char String &str u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64);

impl<T> Report for Vec<T> {
    fn outcome(&self) -> Outcome {
        Outcome::success()
    }
}

impl<T> Report for Option<T> {
    fn outcome(&self) -> Outcome {
        Outcome::success()
    }
}

/// Calls `deed` only if the engine allows the action, and records the outcome: an `Err` or a child's exit code
/// other than 0 is a failure. On a block `deed` is never called. For an approver, or a value that is not a
/// [`Report`], see [`Governed`].
///
/// ```
/// use lictor_engine::{governed, guard_fn, Action, PolicyEngine, Verdict};
///
/// let engine = PolicyEngine::new(guard_fn("no", |_, _| Verdict::block("not today", "come back tomorrow")))?;
/// let mut entered = false;
/// let result = governed(&engine, &Action::bash("make"), || entered = true);
/// assert_eq!(result.unwrap_err().to_string(), "block: not today");
/// assert!(!entered);
/// # Ok::<(), lictor_engine::GraphError>(())
/// ```
///
/// # Errors
/// When the engine does not allow the action.
pub fn governed<T: Report>(
    engine: &PolicyEngine,
    action: &Action,
    deed: impl FnOnce() -> T,
) -> Result<T, Blocked> {
    Governed::new(engine, action).run(deed)
}

/// A governed call with an optional approver.
///
/// ```
/// use lictor_engine::{Action, Answer, Governed, PolicyEngine, Verdict, action_guard};
///
/// let engine = PolicyEngine::new(action_guard("careful", |_| Verdict::ask("really?")))?;
/// let action = Action::bash("make deploy").in_session("s");
/// let result = Governed::new(&engine, &action)
///     .on_policy(|questions| questions.iter().map(|_| Answer::yes()).collect())
///     .run(|| Err::<(), _>("the network is down"))?;
/// assert!(result.is_err());
/// assert_eq!(engine.session(action.session.as_ref().unwrap())?.failure_count, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Governed<'a> {
    engine: &'a PolicyEngine,
    action: &'a Action,
    approver: Option<Box<OnPolicy<'a>>>,
}

type OnPolicy<'a> = dyn FnMut(&[Question<'_>]) -> Vec<Answer> + 'a;

impl<'a> Governed<'a> {
    /// A call that performs this action.
    #[must_use]
    pub fn new(engine: &'a PolicyEngine, action: &'a Action) -> Self {
        Self { engine, action, approver: None }
    }

    /// The approver for an `ask`: called once with all points, returns one answer for each. Without it, an `ask`
    /// stops the call and stays pending in [`PolicyEngine::approvals`].
    #[must_use]
    pub fn on_policy(mut self, approver: impl FnMut(&[Question<'_>]) -> Vec<Answer> + 'a) -> Self {
        self.approver = Some(Box::new(approver));
        self
    }

    /// Runs the call if it is allowed, and records the outcome.
    ///
    /// # Errors
    /// When it is not allowed.
    pub fn run<T: Report>(self, deed: impl FnOnce() -> T) -> Result<T, Blocked> {
        self.run_reporting(deed, T::outcome)
    }

    /// As [`run`](Self::run), for a value that does not tell its outcome.
    ///
    /// # Errors
    /// When it is not allowed.
    pub fn run_reporting<T>(
        mut self,
        deed: impl FnOnce() -> T,
        outcome: impl FnOnce(&T) -> Outcome,
    ) -> Result<T, Blocked> {
        let mut evaluation = self.engine.evaluate(self.action);
        if evaluation.decision == Decision::Ask
            && !evaluation.observed
            && let Some(approver) = &mut self.approver
        {
            let approver: Approver<'_> = &mut **approver;
            evaluation = self.engine.resolve(self.action, evaluation, Some(approver));
        }
        enforce(evaluation)?;
        let done = catch_unwind(AssertUnwindSafe(deed));
        let came = match &done {
            Ok(value) => outcome(value),
            Err(_) => Outcome::failure("it panicked"),
        };
        // The call has happened; a failure to record it cannot undo it, and the next evaluation will report the
        // store's error.
        let _ = self.engine.post_action(self.action, came);
        Ok(done.unwrap_or_else(|panic| resume_unwind(panic)))
    }
}
