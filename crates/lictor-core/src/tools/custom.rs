use serde_json::{Map, Value as Json};

use crate::action::Action;
use crate::context::Context;
use crate::event::Outcome;
use crate::guard::{Guard, Layer};
use crate::guard_memory::GuardMemory;
use crate::session::SessionState;
use crate::verdict::Verdict;

/// A tool rule in code: it judges a call, and may store values from the result.
///
/// It becomes a guard by [`ToolGuard`]. A panic blocks. State belongs in the memory, not in `self`: there it is
/// recorded, belongs to one session and outlives the process.
///
/// ```
/// use lictor_core::tools::{ToolCall, ToolDecision, ToolGuard, ToolPolicy};
/// use lictor_core::{GuardMemory, Outcome};
///
/// struct TestsFirst;
///
/// impl ToolPolicy for TestsFirst {
///     fn name(&self) -> &str {
///         "tests_first"
///     }
///
///     fn check(&self, call: &ToolCall<'_>) -> ToolDecision {
///         if call.tool() == "deploy" && call.recall("tested").is_none() {
///             return ToolDecision::deny("`deploy` requires `test` first");
///         }
///         ToolDecision::Allow
///     }
///
///     fn on_result(&self, call: &ToolCall<'_>, outcome: &Outcome, memory: &mut GuardMemory<'_>) {
///         if call.tool() == "test" && outcome.success {
///             memory.remember("tested", true);
///         }
///     }
/// }
///
/// let guard = ToolGuard::new(TestsFirst);
/// ```
pub trait ToolPolicy: Send + Sync {
    /// Unique within one policy graph.
    fn name(&self) -> &str;

    /// Whether it applies to a tool. By default to all.
    fn applies_to(&self, tool: &str) -> bool {
        let _ = tool;
        true
    }

    /// Judges one call before it is made.
    fn check(&self, call: &ToolCall<'_>) -> ToolDecision;

    /// Called with the outcome of a call.
    fn on_result(&self, call: &ToolCall<'_>, outcome: &Outcome, memory: &mut GuardMemory<'_>) {
        let _ = (call, outcome, memory);
    }
}

/// The decision of a tool policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolDecision {
    /// The call may be made.
    Allow,
    /// It may not.
    Deny {
        /// The reason.
        reason: String,
        /// The fix.
        fix: Option<String>,
    },
}

impl ToolDecision {
    /// The call may not be made.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into(), fix: None }
    }

    /// The same with a fix.
    #[must_use]
    pub fn with_fix(self, way_out: impl Into<String>) -> Self {
        match self {
            Self::Allow => Self::Allow,
            Self::Deny { reason, .. } => Self::Deny { reason, fix: Some(way_out.into()) },
        }
    }
}

/// A call, as tool policies see it.
pub struct ToolCall<'a> {
    action: &'a Action,
    session: Option<&'a SessionState>,
    recall: &'a dyn Fn(&str) -> Option<Json>,
}

impl<'a> ToolCall<'a> {
    /// The tool, or the kind of action where the agent names no tool.
    #[must_use]
    pub fn tool(&self) -> &'a str {
        tool_of(self.action)
    }

    /// Its parameters.
    #[must_use]
    pub fn params(&self) -> &'a Map<String, Json> {
        &self.action.payload
    }

    /// The whole action.
    #[must_use]
    pub fn action(&self) -> &'a Action {
        self.action
    }

    /// The session before the call; `None` while a result is handled.
    #[must_use]
    pub fn session(&self) -> Option<&'a SessionState> {
        self.session
    }

    /// The value that this policy stored under this key.
    #[must_use]
    pub fn recall(&self, key: &str) -> Option<Json> {
        (self.recall)(key)
    }
}

fn tool_of(action: &Action) -> &str {
    if action.tool.is_empty() { action.kind.as_str() } else { &action.tool }
}

/// A tool policy as a guard.
pub struct ToolGuard<P> {
    policy: P,
}

impl<P: ToolPolicy> ToolGuard<P> {
    /// That policy as a guard.
    #[must_use]
    pub fn new(policy: P) -> Self {
        Self { policy }
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &P {
        &self.policy
    }
}

impl<P: ToolPolicy> Guard for ToolGuard<P> {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        if !self.policy.applies_to(tool_of(action)) {
            return Verdict::pass();
        }
        let recall = |key: &str| context.recall(key).cloned();
        let call = ToolCall { action, session: Some(context.session()), recall: &recall };
        match self.policy.check(&call) {
            ToolDecision::Allow => Verdict::pass(),
            ToolDecision::Deny { reason, fix } => {
                let fix = fix.unwrap_or_else(|| "do first what the policy asks for".to_owned());
                Verdict::block(reason, fix)
            }
        }
    }

    fn layer(&self) -> Layer {
        Layer::Intent
    }

    fn happened(&self, action: &Action, outcome: &Outcome, memory: &mut GuardMemory<'_>) {
        if !self.policy.applies_to(tool_of(action)) {
            return;
        }
        let before = memory.before();
        let recall = |key: &str| before(key);
        let call = ToolCall { action, session: None, recall: &recall };
        self.policy.on_result(&call, outcome, memory);
    }
}
