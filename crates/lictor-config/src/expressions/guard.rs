//! Expressions as guards, conditions and requirements.

use std::sync::Arc;

use lictor_core::history::History;
use lictor_core::policy::{Call, Callback, CallbackResult};
use lictor_core::{Action, Context, Guard, Layer, Verdict};
use lictor_expr::{CompileError, Program, Type};

use super::env::{ActionEnv, Seen};
use crate::history::{self, Question};
use crate::sections::NamedGuard;

/// A condition on actions, with the keys of the history that it reads.
#[derive(Debug, Clone)]
pub struct Condition {
    program: Arc<Program>,
    questions: Arc<[Question]>,
}

impl Condition {
    /// Compiles a condition in the language of `when:`. Its history patterns are registered in `history`.
    ///
    /// # Errors
    /// All its errors.
    pub fn compile(source: &str, history: &mut History) -> Result<Self, Vec<CompileError>> {
        let program = Program::compile(source, &super::schema(), &Type::Bool)?;
        Ok(Self::new(&Arc::new(program), history))
    }

    /// Registers the condition's history patterns in `history`.
    pub(crate) fn new(program: &Arc<Program>, history: &mut History) -> Self {
        let questions = history::questions(program, history);
        // Most conditions have none, and all empty lists share one allocation.
        let questions = if questions.is_empty() { Arc::default() } else { questions.into() };
        Self { program: Arc::clone(program), questions }
    }

    /// Whether it holds for an action.
    ///
    /// # Errors
    /// Why it could not be evaluated. Must never be treated as `false`.
    pub fn holds(&self, action: &Action, context: &Context<'_>) -> Result<bool, String> {
        self.test(Seen::in_graph(action, context))
    }

    fn test(&self, seen: Seen<'_>) -> Result<bool, String> {
        self.program.test(&ActionEnv::new(&self.questions, seen)).map_err(|error| error.to_string())
    }

    pub(crate) fn source(&self) -> &str {
        self.program.source()
    }
}

/// A guard that passes while its expression is true.
pub(crate) struct ExprGuard {
    /// Its definition in the policy.
    pub(crate) said: Arc<NamedGuard>,
    pub(crate) condition: Condition,
}

impl Guard for ExprGuard {
    fn name(&self) -> &str {
        &self.said.name
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        match self.condition.holds(action, context) {
            Ok(true) => Verdict::pass(),
            Ok(false) => {
                let NamedGuard { decision, reason, fix, remarks, .. } = &*self.said;
                remarks.leave(context);
                Verdict::of((*decision).into(), reason.as_str(), fix.as_str())
            }
            Err(why) => Verdict::error(
                format!("`{}` could not be evaluated: {why}", self.condition.source()),
                "guard the field with `has()`, or correct its name",
            ),
        }
    }

    fn layer(&self) -> Layer {
        self.said.layer
    }
}

/// A callback that passes while its expression is true.
pub(crate) struct ExprCallback {
    pub(crate) condition: Condition,
    /// The message when it is false.
    pub(crate) message: Option<String>,
}

impl Callback for ExprCallback {
    fn call(&self, call: &Call<'_>) -> Result<CallbackResult, String> {
        match self.condition.test(Seen::in_call(call)) {
            Ok(true) => Ok(CallbackResult::passed()),
            Ok(false) => Ok(CallbackResult { message: self.message.clone(), ..CallbackResult::default() }),
            Err(why) => Err(format!("`{}` could not be evaluated: {why}", self.condition.source())),
        }
    }
}
