//! What guards see of each other and of the session while one action is judged.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::action::Action;
use crate::clock::Timestamp;
use crate::decision::Value;
use crate::evaluation::Judged;
use crate::facts::Facts;
use crate::risk::Risk;
use crate::session::SessionState;
use crate::trace::{GivenVerdict, TraceEntry};
use crate::verdict::Verdict;

/// The most annotations one evaluation keeps. What is over is refused, not dropped silently.
const MAX_ANNOTATIONS: usize = 256;

/// State that flows through the graph during one evaluation, depth first and left to right.
///
/// Nothing in it is ever rolled back, not even for a losing branch of `Any` or a blocked primary of
/// `Escalate`: evidence of danger does not go away because another path was found.
pub struct Context<'a> {
    action: &'a Action,
    facts: &'a Facts,
    session: &'a SessionState,
    now: Timestamp,
    pub(crate) verdicts: Vec<GivenVerdict>,
    pub(crate) trace: Vec<TraceEntry>,
    annotations: BTreeMap<String, Json>,
    risk: Risk,
    tags: Vec<String>,
    /// Further verdicts of the guard that is being asked now.
    pub(crate) further: Vec<Verdict>,
    /// The guard that is being asked now: the namespace of its annotations.
    pub(crate) current: Arc<str>,
    /// Set when a guard did something it may not, and turned into that guard's error.
    pub(crate) misuse: Option<&'static str>,
}

impl<'a> Context<'a> {
    /// A fresh context for one evaluation.
    #[must_use]
    pub fn new(action: &'a Action, facts: &'a Facts, session: &'a SessionState, now: Timestamp) -> Self {
        Self {
            action,
            facts,
            session,
            now,
            verdicts: Vec::new(),
            trace: Vec::new(),
            annotations: BTreeMap::new(),
            risk: Risk::NONE,
            tags: Vec::new(),
            further: Vec::new(),
            current: Arc::from(""),
            misuse: None,
        }
    }

    /// The action that is judged.
    #[must_use]
    pub fn action(&self) -> &'a Action {
        self.action
    }

    /// What the action would do.
    #[must_use]
    pub fn facts(&self) -> &'a Facts {
        self.facts
    }

    /// The session before this action.
    #[must_use]
    pub fn session(&self) -> &'a SessionState {
        self.session
    }

    /// The time of this evaluation. One value for the whole of it.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// What guards said so far, in the order they were asked.
    #[must_use]
    pub fn verdicts(&self) -> &[GivenVerdict] {
        &self.verdicts
    }

    /// The path of evaluation so far.
    #[must_use]
    pub fn trace(&self) -> &[TraceEntry] {
        &self.trace
    }

    /// The risk so far.
    #[must_use]
    pub fn risk(&self) -> Risk {
        self.risk
    }

    /// Adds risk. A value that is not one (negative, not a number) is the guard's error and counts as full risk.
    pub fn add_risk(&mut self, fraction: f64) {
        match Risk::from_fraction(fraction) {
            Some(risk) => self.risk = self.risk.plus(risk),
            None => {
                self.risk = Risk::MAX;
                self.misuse = Some("it raised the risk by something that is not a risk");
            }
        }
    }

    /// Leaves a note for later guards under this guard's own name (`guard.key`).
    pub fn annotate(&mut self, key: &str, value: impl Into<Json>) {
        let full = format!("{}.{key}", self.current);
        if self.annotations.len() >= MAX_ANNOTATIONS && !self.annotations.contains_key(&full) {
            self.misuse = Some("it left more notes than one evaluation keeps");
            return;
        }
        self.annotations.insert(full, value.into());
    }

    /// A note that an earlier guard left, by its full name (`guard.key`).
    #[must_use]
    pub fn annotation(&self, full_name: &str) -> Option<&Json> {
        self.annotations.get(full_name)
    }

    /// All notes.
    #[must_use]
    pub fn annotations(&self) -> &BTreeMap<String, Json> {
        &self.annotations
    }

    /// Marks the action for streaks in the session (`sensitive-file`): consecutive actions with a tag are counted.
    pub fn tag(&mut self, tag: &str) {
        if !self.tags.iter().any(|known| known == tag) {
            self.tags.push(tag.to_owned());
        }
    }

    /// Files one more verdict of the same guard. A guard with several objections reports all of them; the
    /// strictest counts, each is shown, and a person answers each.
    pub fn also(&mut self, verdict: Verdict) {
        self.further.push(verdict);
    }

    pub(crate) fn finish(self, value: Value) -> Judged {
        Judged {
            value,
            verdicts: self.verdicts,
            trace: self.trace,
            annotations: self.annotations,
            risk: self.risk,
            tags: self.tags,
        }
    }
}
