//! Policies without a graph: collect, ask, decide.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};

use super::{CallContext, PolicySet, Violation};
use crate::approval::{Answer, all_yes};
use crate::decision::{Decision, Value};
use crate::facts::{Cardinality, Facts};

/// The plainest kind of handler.
pub type OnPolicy = fn(&[Violation]) -> Vec<Answer>;

/// No person can be asked.
pub const NOBODY: Option<OnPolicy> = None;

/// The result of policies before a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyEvaluation {
    /// The strictest of them.
    pub decision: Decision,
    /// All violations, including those that their callback resolved.
    pub violations: Vec<Violation>,
}

/// The result of policies after the person's answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyResult {
    /// `pass`, `warn` or `block`; never `ask`.
    pub action: Decision,
    /// Why, when it is not a plain pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// All violations, with callback results and answers.
    pub violations: Vec<Violation>,
}

/// One line: the decision and the violations that caused it.
impl fmt::Display for PolicyResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.action)?;
        for (index, violation) in self.violations.iter().enumerate() {
            write!(f, "{} {violation}", if index == 0 { ":" } else { ";" })?;
        }
        Ok(())
    }
}

impl PolicySet {
    /// Evaluates the policies on these facts. Never prompts.
    ///
    /// `cardinality` overrides the cardinality of each deed. Facts without any deed are ungrounded.
    #[must_use]
    pub fn evaluate(
        &self,
        facts: &Facts,
        cardinality: Option<Cardinality>,
        call_context: Option<&CallContext<'_>>,
    ) -> PolicyEvaluation {
        let violations = if facts.deeds().is_empty() {
            vec![self.unknown_call()]
        } else {
            self.violations(facts, cardinality, call_context)
        };
        let strictest = violations.iter().map(|violation| violation.value).max().unwrap_or(Value::Pass);
        PolicyEvaluation { decision: strictest.settle(), violations }
    }

    /// Collects all violations and settles them. `on_policy` is called at most once, with all of them, and only
    /// when an approval can change the decision: never for a pass, never for a block.
    #[must_use]
    pub fn check_policy<F>(
        &self,
        facts: &Facts,
        cardinality: Option<Cardinality>,
        call_context: Option<&CallContext<'_>>,
        on_policy: Option<F>,
    ) -> PolicyResult
    where
        F: FnOnce(&[Violation]) -> Vec<Answer>,
    {
        let PolicyEvaluation { decision, mut violations } = self.evaluate(facts, cardinality, call_context);
        if decision != Decision::Ask {
            let reason = (decision > Decision::Pass).then(|| reasons(&violations, decision));
            return PolicyResult { action: decision, reason, violations };
        }
        let answered = match on_policy {
            None => Err("confirmation is required, and there is nobody to ask".to_owned()),
            Some(on_policy) => catch_unwind(AssertUnwindSafe(|| on_policy(&violations)))
                .map_err(|_| "confirmation is required, and whoever was to ask for it panicked".to_owned()),
        };
        let settled = answered.and_then(|answers| {
            let settled = all_yes(&answers, violations.len());
            for (violation, answer) in violations.iter_mut().zip(answers) {
                violation.answer = Some(answer);
            }
            settled
        });
        let informs = violations.iter().any(|violation| violation.value == Value::Warn);
        let (action, reason) = match settled {
            Err(why) => (Decision::Block, Some(why)),
            Ok(()) if informs => (Decision::Warn, Some(reasons(&violations, Decision::Warn))),
            Ok(()) => (Decision::Pass, None),
        };
        PolicyResult { action, reason, violations }
    }
}

/// The reasons of the deciding violations.
fn reasons(violations: &[Violation], decision: Decision) -> String {
    let of = |violation: &&Violation| violation.value.settle() == decision;
    violations.iter().filter(of).map(Violation::reason).collect::<Vec<_>>().join("\n")
}
