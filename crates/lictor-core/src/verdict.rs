//! The verdict of one guard.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::decision::Value;
use crate::redact::{self, Redact};

/// The result of one guard for one action. Built only through the constructors, so that a block always has a
/// reason and a fix, and a warning or question always has a reason.
///
/// Most verdicts are passes without text, so the text is boxed and a pass does not allocate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    value: Value,
    said: Option<Box<Said>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Said {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    reason: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    fix: String,
    /// Name of the rule inside the guard that decided, when it has several (`git.reset-hard`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<Json>,
}

/// The reason when a guard blocks without one.
const NO_REASON: &str = "the guard gave no reason";
/// The fix when a guard blocks without one.
const NO_FIX: &str = "choose another way to reach the goal, or ask a person";

impl Verdict {
    /// Redacts the texts of the verdict.
    pub(crate) fn redact(&mut self, redactor: &dyn Redact) {
        let Some(said) = &mut self.said else { return };
        for text in [&mut said.reason, &mut said.fix] {
            redact::text(text, redactor);
        }
        if let Some(evidence) = &mut said.evidence {
            redact::json(evidence, redactor);
        }
    }

    /// No objection.
    #[must_use]
    pub fn pass() -> Self {
        Self { value: Value::Pass, said: None }
    }

    /// No objection, with a remark for the trace.
    #[must_use]
    pub fn pass_because(note: impl Into<String>) -> Self {
        Self::saying(Value::Pass, note.into(), String::new())
    }

    /// Allowed; the agent and the log get the remark.
    #[must_use]
    pub fn warn(reason: impl Into<String>) -> Self {
        Self::saying(Value::Warn, filled(reason.into(), NO_REASON), String::new())
    }

    /// A person has to approve.
    #[must_use]
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::saying(Value::Ask, filled(reason.into(), NO_REASON), String::new())
    }

    /// Refused, with a reason and a fix.
    #[must_use]
    pub fn block(reason: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::saying(Value::Block, filled(reason.into(), NO_REASON), filled(fix.into(), NO_FIX))
    }

    /// The guard failed. `fix` is for the operator.
    #[must_use]
    pub fn error(reason: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { value: Value::Error, ..Self::block(reason, fix) }
    }

    /// The verdict with this value, for configured decisions.
    #[must_use]
    pub fn of(value: Value, reason: impl Into<String>, fix: impl Into<String>) -> Self {
        match value {
            Value::Pass => Self::pass_because(reason),
            value => Self { value, ..Self::block(reason, fix) },
        }
    }

    fn saying(value: Value, reason: String, fix: String) -> Self {
        if reason.is_empty() && fix.is_empty() {
            return Self { value, said: None };
        }
        Self { value, said: Some(Box::new(Said { reason, fix, rule: None, evidence: None })) }
    }

    /// The same with a fix. No effect on a pass.
    #[must_use]
    pub fn with_fix(mut self, fix: impl Into<String>) -> Self {
        let fix = fix.into();
        if self.value > Value::Pass && !fix.trim().is_empty() {
            self.said.get_or_insert_default().fix = fix;
        }
        self
    }

    /// The same, naming the rule that decided.
    #[must_use]
    pub fn by_rule(mut self, rule: impl Into<String>) -> Self {
        self.said.get_or_insert_default().rule = Some(rule.into());
        self
    }

    /// The same with evidence: what matched, counts, callback results.
    #[must_use]
    pub fn with_evidence(mut self, evidence: Json) -> Self {
        self.said.get_or_insert_default().evidence = Some(evidence);
        self
    }

    /// Its value.
    #[must_use]
    pub fn value(&self) -> Value {
        self.value
    }

    /// Whether this guard allows the action.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.value <= Value::Warn
    }

    /// Why. Empty only for a pass without a remark.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.said.as_ref().map_or("", |said| &said.reason)
    }

    /// The fix. Never empty for a block or an error.
    #[must_use]
    pub fn fix(&self) -> &str {
        self.said.as_ref().map_or("", |said| &said.fix)
    }

    /// The rule inside the guard that decided.
    #[must_use]
    pub fn rule(&self) -> Option<&str> {
        self.said.as_ref().and_then(|said| said.rule.as_deref())
    }

    /// The evidence.
    #[must_use]
    pub fn evidence(&self) -> Option<&Json> {
        self.said.as_ref().and_then(|said| said.evidence.as_ref())
    }
}

fn filled(text: String, otherwise: &str) -> String {
    if text.trim().is_empty() { otherwise.to_owned() } else { text }
}

#[derive(Serialize, Deserialize)]
struct Flat<S> {
    value: Value,
    #[serde(flatten)]
    said: S,
}

impl Serialize for Verdict {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Flat { value: self.value, said: self.said.as_deref() }.serialize(serializer)
    }
}

/// Deserialisation goes through the constructors too: a stored block without reason or fix cannot be read.
impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Flat { value, said: Said { reason, fix, rule, evidence } } =
            Flat::<Said>::deserialize(deserializer)?;
        let mut verdict = match value {
            Value::Warn => Self::warn(reason).with_fix(fix),
            Value::Ask => Self::ask(reason).with_fix(fix),
            value => Self::of(value, reason, fix),
        };
        if rule.is_some() || evidence.is_some() {
            let said = verdict.said.get_or_insert_default();
            said.rule = rule;
            said.evidence = evidence;
        }
        Ok(verdict)
    }
}

#[cfg(test)]
mod tests;
