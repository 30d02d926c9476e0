//! The engine's answer for one action.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::claim::Claim;
use crate::decision::{Decision, Value};
use crate::digest::Digest;
use crate::guard_memory::Note;
use crate::policy::Violation;
use crate::redact::{self, Redact};
use crate::risk::Risk;
use crate::session::SessionState;
use crate::trace::{GivenVerdict, Trace};

/// How many reasons a message contains.
const TOLD: usize = 2;
/// The prefix of rules about input that could not be parsed.
const UNREAD: &str = "opaque";

/// The result of the graph, before anything is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Value of the root.
    pub value: Value,
    /// All verdicts, in the order they were given.
    pub verdicts: Vec<GivenVerdict>,
    /// All policies that were triggered.
    pub violations: Vec<Violation>,
    /// The trace.
    pub trace: Trace,
    /// Annotations of the guards.
    pub annotations: BTreeMap<String, Json>,
    /// Risk at the end.
    pub risk: Risk,
    /// Tags that guards gave the action.
    pub tags: Vec<String>,
    /// The session conditions that passes depend on, with the guard that relied on each.
    pub claims: Vec<(Arc<str>, Claim)>,
    /// The values that guards store in the session.
    pub notes: Vec<Note>,
    /// An `Escalate` fallback replaced a block, and its result counts.
    pub escalated: bool,
}

impl Judged {
    /// The judgement when the graph could not be evaluated.
    #[must_use]
    pub fn refused(given: GivenVerdict) -> Self {
        Self {
            value: given.verdict.value(),
            verdicts: vec![given],
            violations: Vec::new(),
            trace: Trace::default(),
            annotations: BTreeMap::new(),
            risk: Risk::NONE,
            tags: Vec::new(),
            claims: Vec::new(),
            notes: Vec::new(),
            escalated: false,
        }
    }
}

/// The answer for one action: the decision and everything that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The decision.
    pub decision: Decision,
    /// All verdicts, in the order they were given.
    pub verdicts: Vec<GivenVerdict>,
    /// All policies that were triggered, with the results of their callbacks.
    #[serde(default)]
    pub violations: Vec<Violation>,
    /// Risk at the end.
    pub risk: Risk,
    /// The trace.
    #[serde(default)]
    pub trace: Trace,
    /// Annotations of the guards.
    #[serde(default)]
    pub annotations: BTreeMap<String, Json>,
    /// Tags that guards gave the action.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The session conditions that passes depend on, with the guard that relied on each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<(Arc<str>, Claim)>,
    /// An `Escalate` fallback replaced a block, and its result counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalated: bool,
    /// Digest of the action.
    pub action: Digest,
    /// Digest of the policy.
    pub policy: Digest,
    /// The number of its record in the log; `None` when it could not be recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// A dry run: the decision is only shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry: bool,
    /// Judged and recorded, not enforced: the action proceeds whatever the decision.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observed: bool,
    /// The values that guards store in the session. They are part of the event and not serialised here.
    #[serde(skip)]
    pub notes: Vec<Note>,
    /// The session after this action.
    #[serde(skip)]
    pub session: SessionState,
}

impl Evaluation {
    /// Combines the graph's result with the digests of action and policy.
    #[must_use]
    pub fn new(judged: Judged, action: Digest, policy: Digest) -> Self {
        Self {
            decision: judged.value.settle(),
            verdicts: judged.verdicts,
            risk: judged.risk,
            trace: judged.trace,
            annotations: judged.annotations,
            violations: judged.violations,
            tags: judged.tags,
            claims: judged.claims,
            notes: judged.notes,
            escalated: judged.escalated,
            action,
            policy,
            id: None,
            dry: false,
            observed: false,
            session: SessionState::default(),
        }
    }

    /// The same with secrets redacted from all texts. Fields that affect the decision are unchanged.
    #[must_use]
    pub fn redacted(mut self, redactor: &dyn Redact) -> Self {
        for given in &mut self.verdicts {
            given.verdict.redact(redactor);
        }
        for violation in &mut self.violations {
            violation.redact(redactor);
        }
        for note in self.annotations.values_mut() {
            redact::json(note, redactor);
        }
        self
    }

    /// Whether the action may proceed now: allowed, or only observed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.decision.allows() || self.observed
    }

    /// The verdicts that count, strictest first, then in the order they were given.
    #[must_use]
    pub fn active(&self) -> Vec<&GivenVerdict> {
        let mut active: Vec<_> = self.verdicts.iter().filter(|given| given.counts()).collect();
        active.sort_by_key(|given| std::cmp::Reverse(given.verdict.value()));
        active
    }

    /// Why, one line for each verdict that counts, strictest first.
    #[must_use]
    pub fn reason(&self) -> String {
        join(self.active().into_iter().map(|given| given.verdict.reason()))
    }

    /// The fix: those of the verdicts that stop the action, or of the remarks if none does, without repetition.
    #[must_use]
    pub fn fix(&self) -> String {
        let active = self.active();
        let stopped = active.iter().any(|given| !given.verdict.passed());
        let told = active.into_iter().filter(|given| !given.verdict.passed() || !stopped);
        join(told.map(|given| given.verdict.fix()))
    }

    /// The verdicts that are shown to people and agents: the deciding one first, and at most one more with
    /// another reason. The others are in the record.
    #[must_use]
    pub fn deciding(&self) -> Vec<&GivenVerdict> {
        let mut told: Vec<&GivenVerdict> = Vec::new();
        let stopping = |given: &GivenVerdict| !given.verdict.passed();
        let stopped = self.verdicts.iter().any(|given| given.counts() && stopping(given));
        for given in self.active() {
            let known = told.iter().any(|other| other.verdict.reason() == given.verdict.reason());
            // A remark about an action that is stopped anyway is noise.
            if !known && !given.verdict.reason().is_empty() && stopping(given) == stopped {
                told.push(given);
            }
        }
        // If a person could not be asked, the question explains the block.
        let asks = told.iter().position(|given| given.verdict.value() == Value::Ask);
        if let (Some(given), Some(asks)) = (told.first(), asks)
            && given.guard() == "approval"
            && asks > 1
        {
            told.swap(1, asks);
        }
        // A reason about unparsed input adds nothing to a concrete reason. If it was the question, it explains
        // the answer.
        let unread =
            |given: &&GivenVerdict| given.verdict.rule().is_some_and(|rule| rule.starts_with(UNREAD));
        let plain =
            |first: &&GivenVerdict| first.verdict.value() == Value::Block && first.guard() != "approval";
        if told.first().is_some_and(|first| plain(first) && !unread(first)) {
            told.retain(|given| !unread(given));
        }
        told.truncate(TOLD);
        told
    }

    /// The reason for the agent: at most two, the deciding one first. Internal errors are for the operator and
    /// not spelled out.
    #[must_use]
    pub fn reason_for_agent(&self) -> String {
        let reasons: Vec<String> = self
            .deciding()
            .into_iter()
            .map(|given| match given.verdict.value() {
                Value::Error => format!("the check `{}` could not be carried out", given.guard()),
                _ => given.verdict.reason().to_owned(),
            })
            .collect();
        join(reasons.iter().map(String::as_str))
    }

    /// As [`fix`](Self::fix), for the agent: only for the reasons that it is shown.
    #[must_use]
    pub fn fix_for_agent(&self) -> String {
        join(self.deciding().into_iter().map(|given| match given.verdict.value() {
            Value::Error => "nothing was done; tell the person you work for, and go on with something else",
            _ => given.verdict.fix(),
        }))
    }

    /// Whether the rules ask about it, and it is blocked only because no person could be asked or a person denied
    /// it.
    #[must_use]
    pub fn is_blocked_question(&self) -> bool {
        let rules = self.verdicts.iter().filter(|given| given.counts() && given.guard() != "approval");
        let strictest = rules.map(|given| given.verdict.value()).max();
        self.decision == Decision::Block && strictest == Some(Value::Ask)
    }

    /// The same with an additional block: an action that could not be recorded or fully judged must not pass.
    #[must_use]
    pub fn blocked_by(mut self, given: GivenVerdict) -> Self {
        self.decision = Decision::Block;
        self.verdicts.push(given);
        self
    }
}

fn join<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        if !seen.contains(&line) {
            seen.push(line);
        }
    }
    seen.join("\n")
}

#[cfg(test)]
mod tests;
