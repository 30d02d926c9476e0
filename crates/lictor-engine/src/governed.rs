//! Two ways to let a decision stop a program: as an error value, and as a wrapper around the deed.

use std::fmt;

use lictor_core::{Action, Evaluation, Outcome};

use crate::PolicyEngine;

/// An action that may not go ahead, with everything that was said about it.
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

/// Turns anything that may not go ahead, a question nobody answered included, into an error.
///
/// # Errors
/// When the evaluation does not allow the action.
pub fn enforce(evaluation: Evaluation) -> Result<Evaluation, Blocked> {
    if evaluation.passed() { Ok(evaluation) } else { Err(Blocked { evaluation: Box::new(evaluation) }) }
}

/// Does `deed` only if the engine allows the action, and reports afterwards that it happened.
/// On a block `deed` is never entered.
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
pub fn governed<T>(engine: &PolicyEngine, action: &Action, deed: impl FnOnce() -> T) -> Result<T, Blocked> {
    enforce(engine.evaluate(action))?;
    let result = deed();
    // The deed is done; a record that fails now cannot undo it, and the next evaluation meets the same store.
    let _ = engine.post_action(action, Outcome::success());
    Ok(result)
}
