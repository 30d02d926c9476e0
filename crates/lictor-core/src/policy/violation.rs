use std::fmt;

use serde::{Deserialize, Serialize};

use super::{CallbackResult, Policy};
use crate::approval::Answer;
use crate::decision::Value;
use crate::facts::Cardinality;
use crate::redact::{self, Redact};
use crate::verdict::Verdict;

/// A policy that was triggered, and the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The policy's name.
    pub policy: String,
    /// The policy as it is written, with its metadata. `None`: the deed is not in the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Box<Policy>>,
    /// Its index in the list of policies, which distinguishes two of the same name. `None`: the deed is not in
    /// the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The verb.
    pub verb: String,
    /// The object.
    pub object: String,
    /// To how many.
    pub cardinality: Cardinality,
    /// The message.
    pub message: String,
    /// A person must approve, whatever the callback returns.
    pub requires_confirmation: bool,
    /// The callback's result. `None`: there is no callback, or it failed (see `fault`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback_result: Option<CallbackResult>,
    /// Why the callback has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The resulting value.
    pub value: Value,
    /// The fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The person's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

impl Violation {
    /// Whether a yes is needed.
    #[must_use]
    pub fn needs_approval(&self) -> bool {
        self.value == Value::Ask
    }

    /// The reason, with the callback's message first if it objects.
    #[must_use]
    pub fn reason(&self) -> String {
        if let Some(fault) = &self.fault {
            return format!("{} (the check of policy `{}` failed: {fault})", self.message, self.policy);
        }
        match &self.callback_result {
            Some(CallbackResult { passed: false, message: Some(why), .. }) => {
                format!("{why}: {}", self.message)
            }
            Some(CallbackResult { passed: true, message: Some(why), .. }) => {
                format!("{} ({why})", self.message)
            }
            _ => self.message.clone(),
        }
    }

    /// Redacts the texts of the violation.
    pub(crate) fn redact(&mut self, redactor: &dyn Redact) {
        for text in [Some(&mut self.message), self.fault.as_mut(), self.fix.as_mut()].into_iter().flatten() {
            redact::text(text, redactor);
        }
        let Some(result) = &mut self.callback_result else { return };
        for text in [&mut result.message, &mut result.fix].into_iter().flatten() {
            redact::text(text, redactor);
        }
        for value in result.remarks.annotations.values_mut().chain(&mut result.evidence) {
            redact::json(value, redactor);
        }
    }

    /// The verdict that it amounts to in the graph.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let said = self.callback_result.as_ref();
        let own = said.and_then(|result| result.fix.as_deref()).or(self.fix.as_deref());
        let fix = own.unwrap_or(match self.value {
            Value::Error => "mend the check; nothing was done meanwhile",
            _ => "reach the goal without this, or satisfy the check",
        });
        let verdict = Verdict::of(self.value, self.reason(), fix).by_rule(self.policy.clone());
        match said.and_then(|result| result.evidence.clone()) {
            Some(evidence) => verdict.with_evidence(evidence),
            None => verdict,
        }
    }
}

/// One line: the policy, the value and the reason.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({}): {}",
            self.policy,
            self.value.as_str(),
            crate::text::visible_line(&self.reason())
        )?;
        match &self.answer {
            Some(answer) if answer.approved => f.write_str("; approved"),
            Some(_) => f.write_str("; rejected"),
            None => Ok(()),
        }
    }
}
