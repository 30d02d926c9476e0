use serde::{Deserialize, Serialize};

use super::CallbackResult;
use crate::approval::Answer;
use crate::decision::Value;
use crate::facts::Cardinality;
use crate::redact::{self, Redact};
use crate::verdict::Verdict;

/// A policy that was triggered, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The policy's name.
    pub policy: String,
    /// Its place in the list of policies: two of the same name stay apart. `None`: the deed is not in the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// What is done.
    pub verb: String,
    /// To what.
    pub object: String,
    /// To how many.
    pub cardinality: Cardinality,
    /// What is said.
    pub message: String,
    /// A person must say yes, whatever the callback says.
    pub requires_confirmation: bool,
    /// What the callback found. `None`: there is none, or it failed to answer (see `fault`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback_result: Option<CallbackResult>,
    /// Why the callback has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// What follows from all that.
    pub value: Value,
    /// What to do instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// What a person said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

impl Violation {
    /// Whether a yes is needed.
    #[must_use]
    pub fn needs_approval(&self) -> bool {
        self.value == Value::Ask
    }

    /// What is said about it, the callback's words first when it objects.
    #[must_use]
    pub fn reason(&self) -> String {
        if let Some(fault) = &self.fault {
            return format!("{} (the check of policy `{}` failed: {fault})", self.message, self.policy);
        }
        match &self.callback_result {
            Some(CallbackResult { passed: false, message: Some(why) }) => format!("{why}: {}", self.message),
            Some(CallbackResult { passed: true, message: Some(why) }) => format!("{} ({why})", self.message),
            _ => self.message.clone(),
        }
    }

    /// Takes what must not be written down out of what is said.
    pub(crate) fn redact(&mut self, redactor: &dyn Redact) {
        let found = self.callback_result.as_mut().and_then(|result| result.message.as_mut());
        for text in
            [Some(&mut self.message), found, self.fault.as_mut(), self.fix.as_mut()].into_iter().flatten()
        {
            redact::text(text, redactor);
        }
    }

    /// The verdict that it amounts to in the graph.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let fix = self.fix.as_deref().unwrap_or(match self.value {
            Value::Error => "mend the check; nothing was done meanwhile",
            _ => "reach the goal without this, or satisfy the check",
        });
        Verdict::of(self.value, self.reason(), fix).by_rule(self.policy.clone())
    }
}
