//! Business rules on the payload of submitted tasks.

use std::sync::Arc;

use lictor_core::{Action, ActionKind, Context, Guard, Verdict};

/// A question about an action that a rule asks.
pub trait Predicate: Send + Sync {
    /// Whether the condition holds.
    ///
    /// # Errors
    /// The condition cannot be evaluated for this action (missing field, wrong type, limit reached).
    fn holds(&self, action: &Action, context: &Context<'_>) -> Result<bool, String>;
}

impl<F> Predicate for F
where
    F: Fn(&Action, &Context<'_>) -> Result<bool, String> + Send + Sync,
{
    fn holds(&self, action: &Action, context: &Context<'_>) -> Result<bool, String> {
        self(action, context)
    }
}

/// One rule: tasks of a type have to meet a condition.
#[derive(Clone)]
pub struct IntentRule {
    /// The type of task it is for.
    pub task_type: String,
    /// The condition that must hold.
    pub require: Arc<dyn Predicate>,
    /// Why not, when it does not.
    pub reason: String,
    /// The fix.
    pub fix: String,
}

/// Judges submitted tasks by rules. Every rule for the task's type is evaluated and every objection is reported.
#[derive(Clone)]
pub struct Intent {
    rules: Vec<IntentRule>,
    also_known: Vec<String>,
}

impl Intent {
    /// A guard with these rules.
    #[must_use]
    pub fn new(rules: Vec<IntentRule>) -> Self {
        Self { rules, also_known: Vec::new() }
    }

    /// The same with one more known task type that has no requirements.
    #[must_use]
    pub fn and_known(mut self, task_type: impl Into<String>) -> Self {
        self.also_known.push(task_type.into());
        self
    }

    fn known(&self) -> String {
        let mut names: Vec<&str> = self.rules.iter().map(|rule| rule.task_type.as_str()).collect();
        names.extend(self.also_known.iter().map(String::as_str));
        names.sort_unstable();
        names.dedup();
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }
}

impl Guard for Intent {
    fn name(&self) -> &str {
        "intent"
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        if action.kind != ActionKind::SubmitTask {
            return Verdict::pass();
        }
        let task = action.task_type.as_deref().unwrap_or_default();
        if !self.also_known.iter().any(|known| known == task)
            && !self.rules.iter().any(|rule| rule.task_type == task)
        {
            return Verdict::block(
                format!("`{task}` is not a type of task this policy knows"),
                format!("submit one of these: {}", self.known()),
            );
        }
        let mut found = Vec::new();
        for rule in self.rules.iter().filter(|rule| rule.task_type == task) {
            match rule.require.holds(action, context) {
                Ok(true) => {}
                Ok(false) => found.push(Verdict::block(rule.reason.as_str(), rule.fix.as_str())),
                Err(problem) => found.push(Verdict::error(
                    format!("the rule `{}` could not be checked: {problem}", rule.reason),
                    rule.fix.as_str(),
                )),
            }
        }
        context.report(found)
    }
}

#[cfg(test)]
mod tests;
