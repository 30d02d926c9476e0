//! The state that guards share while one action is judged.

mod companion;
mod view;

pub use companion::Companion;
pub use view::ContextView;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use crate::action::Action;
use crate::claim::Claim;
use crate::clock::{Stopwatch, Timestamp};
use crate::decision::Value;
use crate::evaluation::Judged;
use crate::facts::Facts;
use crate::graph::Progress;
use crate::guard_memory::Note;
use crate::policy::Violation;
use crate::risk::Risk;
use crate::session::SessionState;
use crate::trace::{Branch, GivenVerdict, Listed, Site, Status, Step, Trace};
use crate::verdict::Verdict;

/// The most annotations one evaluation keeps. Further ones are refused, not dropped silently.
const MAX_ANNOTATIONS: usize = 256;
/// The most additional verdicts that one guard may give on one action.
const MAX_FURTHER: usize = 1024;

/// State that flows through the graph during one evaluation, depth first and left to right.
///
/// It is never rolled back, not even for a losing branch of `Any` or a blocked primary of `Escalate`: evidence of
/// danger stays valid when another branch passes.
pub struct Context<'a> {
    action: &'a Action,
    facts: &'a Facts,
    session: &'a SessionState,
    ancestors: &'a [SessionState],
    tenant: Option<&'a SessionState>,
    now: Timestamp,
    progress: Option<&'a Progress>,
    stopwatch: Option<&'a dyn Stopwatch>,
    verdicts: Vec<GivenVerdict>,
    trace: Trace,
    violations: Vec<Violation>,
    annotations: BTreeMap<String, Json>,
    risk: Risk,
    tags: Vec<String>,
    claims: Vec<(Arc<str>, Claim)>,
    notes: Vec<Note>,
    companion: Option<&'a Companion>,
    shared: OnceCell<view::Shared>,
    outcome: Option<Value>,
    /// The guard that is running now, and what it has recorded so far.
    pub(crate) asked: Asked,
}

/// What one guard records while it runs, besides its verdict.
#[derive(Default)]
pub(crate) struct Asked {
    /// Its site in the graph; its name is the namespace of its annotations. Shared with the verdict that follows,
    /// so that the reference count changes only once.
    pub(crate) at: Option<Arc<Site>>,
    pub(crate) further: Vec<(Verdict, Option<u32>)>,
    pub(crate) noted: Vec<String>,
    /// Set when the guard broke a rule of the context; its verdict is then an error.
    pub(crate) misuse: Option<&'static str>,
}

/// The lengths of verdicts and trace at some moment.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    verdicts: usize,
    trace: usize,
}

impl<'a> Context<'a> {
    /// A fresh context for one evaluation.
    #[must_use]
    pub fn new(action: &'a Action, facts: &'a Facts, session: &'a SessionState, now: Timestamp) -> Self {
        Self {
            action,
            facts,
            session,
            ancestors: &[],
            tenant: None,
            now,
            progress: None,
            stopwatch: None,
            verdicts: Vec::new(),
            trace: Trace::default(),
            violations: Vec::new(),
            annotations: BTreeMap::new(),
            risk: Risk::NONE,
            tags: Vec::new(),
            claims: Vec::new(),
            notes: Vec::new(),
            companion: None,
            shared: OnceCell::new(),
            outcome: None,
            asked: Asked::default(),
        }
    }

    /// The same with the parent sessions: the direct parent first, the root last.
    #[must_use]
    pub fn below(mut self, ancestors: &'a [SessionState]) -> Self {
        self.ancestors = ancestors;
        self
    }

    /// The same with the account of the tenant, which counts the actions of all its people and programs.
    #[must_use]
    pub fn of_tenant(mut self, account: Option<&'a SessionState>) -> Self {
        self.tenant = account;
        self
    }

    /// The same with a value of the caller for guards and callbacks.
    #[must_use]
    pub fn with_companion(mut self, companion: Option<&'a Companion>) -> Self {
        self.companion = companion;
        self
    }

    /// The same, reporting its progress while it runs.
    #[must_use]
    pub fn watched(mut self, progress: &'a Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// The same, with every step of the trace timed.
    #[must_use]
    pub fn timed(mut self, stopwatch: &'a dyn Stopwatch) -> Self {
        self.stopwatch = Some(stopwatch);
        self
    }

    /// The action that is judged.
    #[must_use]
    pub fn action(&self) -> &'a Action {
        self.action
    }

    /// The facts of the action.
    #[must_use]
    pub fn facts(&self) -> &'a Facts {
        self.facts
    }

    /// The session before this action. Empty when the action names no session; see
    /// [`has_session`](Self::has_session).
    #[must_use]
    pub fn session(&self) -> &'a SessionState {
        self.session
    }

    /// Whether the action names a session. A guard that needs one and finds none reports an error.
    #[must_use]
    pub fn has_session(&self) -> bool {
        self.action.session.is_some()
    }

    /// This session, then its parent, and so on to the root. A subagent's actions count for all of them.
    pub fn lineage(&self) -> impl Iterator<Item = &'a SessionState> {
        std::iter::once(self.session).chain(self.ancestors)
    }

    /// The account of the tenant. It exists from the first claim of the tenant on.
    #[must_use]
    pub fn tenant(&self) -> Option<&'a SessionState> {
        self.tenant
    }

    /// The time of this evaluation. It does not change during the evaluation.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The value that the caller passed to this evaluation.
    #[must_use]
    pub fn companion(&self) -> Option<&'a Companion> {
        self.companion
    }

    /// The verdicts so far, in the order in which the guards ran.
    #[must_use]
    pub fn verdicts(&self) -> &[GivenVerdict] {
        &self.verdicts
    }

    /// The trace so far.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The policies that were triggered so far.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// The value of the graph. `None` during the walk: only observers see it.
    #[must_use]
    pub fn outcome(&self) -> Option<Value> {
        self.outcome
    }

    /// The risk so far.
    #[must_use]
    pub fn risk(&self) -> Risk {
        self.risk
    }

    /// Adds risk. An invalid value (negative, not a number) is the guard's error and counts as full risk.
    pub fn add_risk(&mut self, fraction: f64) {
        match Risk::from_fraction(fraction) {
            Some(risk) => self.risk = self.risk.plus(risk),
            None => {
                self.risk = Risk::MAX;
                self.asked.misuse = Some("it raised the risk by something that is not a risk");
            }
        }
    }

    /// Stores an annotation for later guards under this guard's own name (`guard.key`).
    pub fn annotate(&mut self, key: &str, value: impl Into<Json>) {
        let full = format!("{}.{key}", self.asked.at.as_ref().map_or("", |at| &at.name));
        if self.annotations.len() >= MAX_ANNOTATIONS && !self.annotations.contains_key(&full) {
            self.asked.misuse = Some("it left more notes than one evaluation keeps");
            return;
        }
        self.asked.noted.push(full.clone());
        self.annotations.insert(full, value.into());
    }

    /// An annotation of an earlier guard, by its full name (`guard.key`).
    #[must_use]
    pub fn annotation(&self, full_name: &str) -> Option<&Json> {
        self.annotations.get(full_name)
    }

    /// All annotations.
    #[must_use]
    pub fn annotations(&self) -> &BTreeMap<String, Json> {
        &self.annotations
    }

    /// The value that this guard has stored in the session under this key.
    #[must_use]
    pub fn recall(&self, key: &str) -> Option<&Json> {
        let guard = self.asked.at.as_ref().map_or("", |at| &at.name);
        match self.notes.iter().rev().find(|note| note.guard == guard && note.key == key) {
            Some(note) => note.value.as_ref(),
            None => self.session.memory.get(guard, key),
        }
    }

    /// Stores a value for this guard in the session. It is recorded with the judgement, so of two concurrent
    /// actions the later one wins; use a [`claim`](Self::claim) for exact counts.
    pub fn remember(&mut self, key: &str, value: impl Into<Json>) {
        let guard = self.asked.at.as_ref().map_or("", |at| &at.name).to_owned();
        let note = Note { guard, key: key.to_owned(), value: Some(value.into()) };
        let known = self.session.memory.get(&note.guard, key).is_some();
        if note.fits() && (known || self.session.memory.has_room()) {
            self.notes.push(note);
        } else {
            self.asked.misuse = Some("it remembered more than one session keeps");
        }
    }

    /// Marks the action for streaks in the session (`sensitive-file`): consecutive actions with a tag are counted.
    pub fn tag(&mut self, tag: &str) {
        if !self.tags.iter().any(|known| known == tag) {
            self.tags.push(tag.to_owned());
        }
    }

    /// Declares a session condition that a pass depends on, and returns whether it holds now, in this session and
    /// every parent; a condition of the tenant must hold in the tenant's account too. The condition is checked again
    /// when the judgement is recorded, so two concurrent actions cannot both use the last unit.
    pub fn claim(&mut self, claim: Claim) -> bool {
        let tenant = self.tenant.filter(|_| claim.is_of_tenant());
        let holds = self.lineage().chain(tenant).all(|session| claim.holds(session, self.now));
        let guard = self.asked.at.as_ref().map(|at| Arc::clone(&at.name));
        self.claims.push((guard.unwrap_or_default(), claim));
        holds
    }

    /// Adds another verdict of the same guard. A guard with several objections reports all of them; the strictest
    /// counts, each is shown, and a person answers each.
    pub fn also(&mut self, verdict: Verdict) {
        self.file(verdict, None);
    }

    /// Returns the first verdict and adds the others. A pass if there are none.
    pub fn report(&mut self, verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        let mut verdicts = verdicts.into_iter();
        let first = verdicts.next().unwrap_or_else(Verdict::pass);
        verdicts.for_each(|verdict| self.also(verdict));
        first
    }

    /// Records a violation and the verdict that it implies.
    pub fn violated(&mut self, violation: Violation) {
        let index = u32::try_from(self.violations.len()).ok();
        self.file(violation.verdict(), index);
        self.violations.push(violation);
    }

    fn file(&mut self, verdict: Verdict, violation: Option<u32>) {
        if self.asked.further.len() < MAX_FURTHER {
            self.asked.further.push((verdict, violation));
        } else {
            self.asked.misuse = Some("it gave more verdicts than one evaluation keeps");
        }
    }

    /// Prepares for a graph of these nodes: reserves space for everything that its leaves record, so that the
    /// walk does not reallocate.
    pub(crate) fn enter_graph(&mut self, nodes: &Arc<[Listed]>, leaves: usize) {
        self.trace = Trace::through(nodes);
        self.verdicts.reserve(leaves);
    }

    pub(crate) fn elapsed(&self) -> Option<Duration> {
        self.stopwatch.map(|stopwatch| stopwatch.elapsed())
    }

    fn since(&self, began: Option<Duration>) -> Option<Duration> {
        Some(self.elapsed()?.saturating_sub(began?))
    }

    pub(crate) fn enter(&self, node: u32) {
        if let Some(progress) = self.progress {
            progress.enter(node);
        }
    }

    /// Records a verdict under its node and returns its value.
    pub(crate) fn give(&mut self, at: Arc<Site>, verdict: Verdict, violation: Option<u32>) -> Value {
        let value = verdict.value();
        // Constructed in place after the reservation, to avoid a copy.
        self.verdicts.extend(std::iter::once_with(|| GivenVerdict::at(at, verdict, violation)));
        value
    }

    /// Records the value of a node that was entered at `risk_before` and `began`.
    pub(crate) fn note(
        &mut self,
        node: u32,
        value: Value,
        branch: Option<Branch>,
        risk_before: Risk,
        began: Option<Duration>,
    ) {
        let took = self.since(began);
        self.trace.push(|| Step {
            node,
            value: Some(value),
            status: Status::Active,
            branch,
            risk_before,
            risk_after: self.risk,
            noted: std::mem::take(&mut self.asked.noted),
            took,
        });
    }

    /// Records that a node was skipped.
    pub(crate) fn note_skipped(&mut self, node: u32) {
        self.trace.push(|| Step {
            node,
            value: None,
            status: Status::Skipped,
            branch: None,
            risk_before: self.risk,
            risk_after: self.risk,
            noted: Vec::new(),
            took: None,
        });
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { verdicts: self.verdicts.len(), trace: self.trace.len() }
    }

    /// Marks everything between the two marks as superseded. The walk is depth first, so everything of one child
    /// lies between two marks.
    pub(crate) fn supersede(&mut self, from: Mark, to: Mark) {
        for given in self.verdicts.get_mut(from.verdicts..to.verdicts).into_iter().flatten() {
            given.status = Status::Superseded;
        }
        self.trace.supersede(from.trace, to.trace);
    }

    /// The verdicts between two marks.
    pub(crate) fn given(&self, from: Mark, to: Mark) -> &[GivenVerdict] {
        self.verdicts.get(from.verdicts..to.verdicts).unwrap_or_default()
    }

    pub(crate) fn decided(&mut self, value: Value) {
        self.outcome = Some(value);
    }

    pub(crate) fn finish(self, value: Value) -> Judged {
        Judged {
            value,
            escalated: self.trace.escalated(),
            verdicts: self.verdicts,
            violations: self.violations,
            trace: self.trace,
            annotations: self.annotations,
            risk: self.risk,
            tags: self.tags,
            claims: self.claims,
            notes: self.notes,
        }
    }
}
