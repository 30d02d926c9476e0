//! How much one session may do.

use lictor_core::{Action, ActionKind, Claim, Context, Guard, Layer, SessionState, Timestamp, Verdict};
use serde::{Deserialize, Serialize};

/// What `budget:` may say. What is absent is unlimited; 0 allows nothing.
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetConfig {
    /// Actions that are not blocked.
    pub max_actions: Option<u64>,
    /// Submitted tasks.
    pub max_tasks: Option<u64>,
    /// Minutes since the session's first event.
    pub max_minutes: Option<u64>,
    /// The fraction from which on the agent is told. 0.8 when it is not said.
    pub warn_at: Option<f64>,
}

/// Blocks what goes over the limits of the session or of a session above it: what a subagent does counts for its
/// root. A blocked attempt uses nothing up.
#[derive(Debug, Clone)]
pub struct Budget {
    config: BudgetConfig,
}

impl Budget {
    /// A guard with these limits.
    #[must_use]
    pub fn new(config: BudgetConfig) -> Self {
        Self { config }
    }

    /// Has the limits checked again when the judgement is recorded: two actions at once cannot both be the last.
    fn claim(&self, action: &Action, context: &mut Context<'_>) {
        let tasks = self.config.max_tasks.filter(|_| action.kind == ActionKind::SubmitTask);
        let claims = [
            self.config.max_actions.map(|at_most| Claim::Actions { at_most }),
            tasks.map(|at_most| Claim::Tasks { at_most }),
        ];
        for claim in claims.into_iter().flatten() {
            context.claim(claim);
        }
    }

    /// Every limit with how much of it is used.
    fn spent(
        &self,
        action: &Action,
        session: &SessionState,
        now: Timestamp,
    ) -> Vec<(u64, u64, &'static str)> {
        let mut spent = Vec::new();
        if let Some(max) = self.config.max_actions {
            spent.push((session.unblocked_count(), max, "actions"));
        }
        if let Some(max) = self.config.max_tasks.filter(|_| action.kind == ActionKind::SubmitTask) {
            spent.push((session.task_count, max, "tasks"));
        }
        if let (Some(max), Some(started)) = (self.config.max_minutes, session.started) {
            let minutes = now.millis_since(started).max(0) / 60_000;
            spent.push((minutes.unsigned_abs(), max, "minutes"));
        } else if self.config.max_minutes == Some(0) {
            spent.push((0, 0, "minutes"));
        }
        spent
    }
}

impl Guard for Budget {
    fn name(&self) -> &str {
        "budget"
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        let session = context.session();
        if action.session.is_none() {
            return Verdict::error(
                "a budget counts per session, and the action has none",
                "set `session_id`",
            );
        }
        if session.latest.is_some_and(|latest| context.now().millis_since(latest) < -60_000) {
            return Verdict::error(
                "the clock went back since the session's last event",
                "set the machine's clock",
            );
        }
        let now = context.now();
        let spent: Vec<_> = context.lineage().flat_map(|session| self.spent(action, session, now)).collect();
        if let Some((used, max, what)) = spent.iter().find(|(used, max, _)| used >= max) {
            return Verdict::block(
                format!("this session has used its budget of {max} {what} ({used} used)"),
                "finish with what is there and report it; a person can start a new session",
            );
        }
        self.claim(action, context);
        let warn_at = self.config.warn_at.unwrap_or(0.8);
        #[expect(clippy::cast_precision_loss, reason = "a warning may be one action early or late")]
        let near = spent.iter().find(|(used, max, _)| (*used as f64 + 1.0) >= (*max as f64) * warn_at);
        match near {
            Some((used, max, what)) => {
                Verdict::warn(format!("{used} of {max} {what} of this session's budget are used"))
            }
            None => Verdict::pass(),
        }
    }

    fn layer(&self) -> Layer {
        Layer::Resource
    }
}

#[cfg(test)]
mod tests;
