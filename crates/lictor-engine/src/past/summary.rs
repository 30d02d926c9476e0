//! Statistics of decisions: counts by decision, day, agent and rule, and how long questions waited for people.

use std::collections::{BTreeMap, BTreeSet};

use lictor_core::{Decision, SessionKey, Timestamp};
use lictor_store::Record;
use serde::Serialize;
use serde_json::Value;

use super::decisions::{Decided, decided, title};
use crate::log::{Approving, kind};

/// How many examples of a rule are kept.
const EXAMPLES: usize = 3;

/// How many calls got which answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All of them.
    pub calls: u64,
    /// Without a word.
    pub pass: u64,
    /// With a remark.
    pub warn: u64,
    /// A person was asked.
    pub ask: u64,
    /// Stopped.
    pub block: u64,
}

impl Counts {
    fn join(&mut self, other: Self) {
        self.calls += other.calls;
        self.pass += other.pass;
        self.warn += other.warn;
        self.ask += other.ask;
        self.block += other.block;
    }

    fn add(&mut self, decision: Decision) {
        self.calls += 1;
        match decision {
            Decision::Pass => self.pass += 1,
            Decision::Warn => self.warn += 1,
            Decision::Ask => self.ask += 1,
            Decision::Block => self.block += 1,
        }
    }
}

/// The use of one rule.
#[derive(Debug, Clone, Serialize)]
pub struct RuleUse {
    /// How often it objected.
    pub count: u64,
    /// The strictest decision to which it contributed.
    pub decision: Decision,
    /// Examples of actions.
    pub examples: Vec<Example>,
}

impl RuleUse {
    fn new(decision: Decision) -> Self {
        Self { count: 0, decision, examples: Vec::new() }
    }

    /// Keeps the first few that differ.
    fn example(&mut self, example: Example) {
        if self.examples.len() < EXAMPLES && !self.examples.iter().any(|known| known.action == example.action)
        {
            self.examples.push(example);
        }
    }
}

/// One decision, for example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Example {
    /// The number of its record; 0 where there is none.
    pub id: u64,
    /// The action.
    pub action: String,
}

/// How questions to people went.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Waits {
    /// Asked.
    pub requested: u64,
    /// Answered with yes.
    pub granted: u64,
    /// Answered with no.
    pub denied: u64,
    /// The waiting times of the answered ones, in milliseconds, shortest first.
    pub waited_ms: Vec<i64>,
}

impl Waits {
    /// The median waiting time of the answered questions.
    #[must_use]
    pub fn median_ms(&self) -> Option<i64> {
        self.waited_ms.get(self.waited_ms.len().checked_sub(1)? / 2).copied()
    }

    /// The longest wait.
    #[must_use]
    pub fn longest_ms(&self) -> Option<i64> {
        self.waited_ms.last().copied()
    }
}

/// The statistics of a part of the record.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    /// All calls.
    pub total: Counts,
    /// Of them, those that were not enforced.
    pub observed: u64,
    /// How many sessions had a call.
    pub sessions: u64,
    /// By day, as the caller names days.
    pub days: BTreeMap<String, Counts>,
    /// By agent.
    pub agents: BTreeMap<String, Counts>,
    /// By rule.
    pub rules: BTreeMap<String, RuleUse>,
    /// Questions to people.
    pub approvals: Waits,
    /// Decisions that a person has marked as wrong.
    pub wrong: u64,
    /// Findings that were recorded, by level.
    pub findings: BTreeMap<String, u64>,
    #[serde(skip)]
    seen: BTreeSet<SessionKey>,
    #[serde(skip)]
    open: BTreeMap<String, Timestamp>,
}

impl Summary {
    /// Adds one decision, on a day of that name.
    pub fn decision(&mut self, decided: &Decided, day: impl FnOnce(Timestamp) -> String) {
        if decided.dry || decided.answered {
            return;
        }
        self.total.add(decided.decision);
        self.observed += u64::from(decided.observed);
        self.days.entry(day(decided.at)).or_default().add(decided.decision);
        let agent = decided.session.as_ref().map_or(&decided.action.actor.agent, |key| &key.agent);
        let agent = if agent.is_empty() { "other" } else { agent };
        self.agents.entry(agent.to_owned()).or_default().add(decided.decision);
        if let Some(key) = &decided.session
            && self.seen.insert(key.clone())
        {
            self.sessions += 1;
        }
        for (rule, said) in decided.rules.iter().zip(&decided.said) {
            let used = self.rules.entry(rule.clone()).or_insert_with(|| RuleUse::new(*said));
            used.count += 1;
            used.decision = used.decision.max(*said);
            if used.examples.len() < EXAMPLES {
                used.example(Example { id: decided.id, action: title(&decided.action) });
            }
        }
    }

    /// Adds a later summary, as if its records had been added here one by one. A question that was asked in one
    /// and answered in the other counts as not answered.
    pub fn join(&mut self, later: Self) {
        self.total.join(later.total);
        self.observed += later.observed;
        for (day, counts) in later.days {
            self.days.entry(day).or_default().join(counts);
        }
        for (agent, counts) in later.agents {
            self.agents.entry(agent).or_default().join(counts);
        }
        for (rule, used) in later.rules {
            let known = self.rules.entry(rule).or_insert_with(|| RuleUse::new(used.decision));
            known.count += used.count;
            known.decision = known.decision.max(used.decision);
            used.examples.into_iter().for_each(|example| known.example(example));
        }
        self.approvals.requested += later.approvals.requested;
        self.approvals.granted += later.approvals.granted;
        self.approvals.denied += later.approvals.denied;
        self.approvals.waited_ms.extend(later.approvals.waited_ms);
        self.approvals.waited_ms.sort_unstable();
        self.wrong += later.wrong;
        for (level, count) in later.findings {
            *self.findings.entry(level).or_default() += count;
        }
        self.seen.extend(later.seen);
        self.sessions = self.seen.len() as u64;
        self.open.extend(later.open);
    }

    /// Adds a record.
    pub fn record(&mut self, record: &Record, day: impl FnOnce(Timestamp) -> String) {
        match record.kind.as_str() {
            kind::EVALUATED => {
                if let Some(decided) = decided(record).filter(|decided| !decided.is_repetition()) {
                    self.decision(&decided, day);
                }
            }
            kind::APPROVAL_REQUESTED => {
                self.approvals.requested += 1;
                if let Some(id) = approval(record) {
                    self.open.entry(id).or_insert(record.at);
                }
            }
            kind::APPROVAL_GRANTED => {
                self.approvals.granted += 1;
                self.answered(record);
            }
            kind::APPROVAL_DENIED => {
                self.approvals.denied += 1;
                self.answered(record);
            }
            "decision.wrong" => self.wrong += 1,
            "finding.recorded" => {
                let body: Value = serde_json::from_str(&record.body).unwrap_or_default();
                let level =
                    body.pointer("/finding/level").or_else(|| body.get("level")).and_then(Value::as_str);
                *self.findings.entry(level.unwrap_or("other").to_owned()).or_default() += 1;
            }
            _ => {}
        }
    }

    fn answered(&mut self, record: &Record) {
        let asked = approval(record).and_then(|id| self.open.remove(&id));
        if let Some(asked) = asked {
            let waited = record.at.millis_since(asked).max(0);
            let place = self.approvals.waited_ms.partition_point(|known| *known <= waited);
            self.approvals.waited_ms.insert(place, waited);
        }
    }

    /// The rules that objected, most frequent first.
    #[must_use]
    pub fn busiest(&self) -> Vec<(&str, &RuleUse)> {
        let mut rules: Vec<(&str, &RuleUse)> =
            self.rules.iter().map(|(rule, used)| (rule.as_str(), used)).collect();
        rules.sort_by_key(|(rule, used)| (std::cmp::Reverse(used.count), *rule));
        rules
    }
}

fn approval(record: &Record) -> Option<String> {
    serde_json::from_str::<Approving<'_>>(&record.body).ok().map(|about| about.id.into_owned())
}

#[cfg(test)]
mod tests;
