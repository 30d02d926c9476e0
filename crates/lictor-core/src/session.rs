//! Session state as a fold over events.
//!
//! The state is never edited: [`SessionState::apply`] (and, for what a subagent does,
//! [`SessionState::apply_below`]) is the only way to change it, and applying the same events in the same order
//! gives the same state. Everything in it is bounded, so the cost of an event does not grow with the session.

mod closed;
mod edits;
mod open;
mod pace;
mod policy;
pub(crate) mod stored;
mod todos;
mod watched;

pub use closed::{CLOSED_KEPT, Closed};
pub use edits::{Blob, Edits, FileState, NotEdits};
pub use open::{BLOCKED_KEPT, OPEN_KEPT, Open};
pub use policy::Recalled;
pub use stored::NotAState;
pub use todos::Todos;
pub use watched::{WATCHED_KEPT, Watched};

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::action::SessionKey;
use crate::clock::Timestamp;
use crate::completion::CompletionState;
use crate::decision::Decision;
use crate::digest::Digest;
use crate::event::{Happened, Judgement, SessionEvent, Standing, Usage};
use crate::feedback::{FeedbackState, calls};
use crate::guard_memory::Memory;
use crate::history::Past;
use crate::risk::Risk;
use crate::scope::Scope;
use crate::tools::KnownFiles;
use pace::Pace;

/// How many different tags have a streak at once.
pub const STREAKS_KEPT: usize = 64;
/// How many budgets one session keeps. Further budgets are counted under [`OTHER_BUDGETS`].
pub const BUDGETS_KEPT: usize = 64;
/// How many later policies a session remembers besides its first.
pub const POLICIES_KEPT: usize = 16;
/// The budget for everything beyond [`BUDGETS_KEPT`].
pub const OTHER_BUDGETS: &str = "(other)";

/// The state of a session.
///
/// Every field is always written: in the binary format an omitted field would shift all later ones.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// Judged actions, including blocked ones and those of subagents.
    pub action_count: u64,
    /// Of these, passed without remark.
    pub pass_count: u64,
    /// Passed with a remark.
    pub warn_count: u64,
    /// Actions with an `ask`, including calls that were blocked because no person could be asked.
    pub ask_count: u64,
    /// Blocked.
    pub block_count: u64,
    /// Where a fallback went around a block.
    pub escalation_count: u64,
    /// Tasks that were submitted and not blocked.
    pub task_count: u64,
    /// Actions that happened and succeeded.
    pub success_count: u64,
    /// Actions that happened and failed.
    pub failure_count: u64,
    /// Actions that happened without having been judged.
    pub ungoverned_count: u64,
    /// Actions that happened although they were blocked.
    pub bypass_count: u64,
    /// Reported model usage, including that of subagents.
    #[serde(with = "stored::as_json")]
    pub usage: Usage,
    /// The highest risk of any action.
    pub peak_risk: Risk,
    /// Consecutive judged actions that carried a tag. An action without the tag ends its streak.
    pub streaks: BTreeMap<String, u32>,
    /// How much of each budget was used by actions with a known outcome.
    pub spent: BTreeMap<String, u64>,
    /// How much of each budget is reserved for actions without a known outcome.
    pub reserved: BTreeMap<String, u64>,
    /// Judged actions of this session itself whose outcome has not been seen, oldest first.
    pub open: VecDeque<Open>,
    /// Calls whose outcome has been seen.
    pub closed: Closed,
    /// Actions that were not blocked, per second over the last minute.
    pub pace: Pace,
    /// Judged actions of subagents that the policy's patterns match and whose outcome has not been seen.
    pub open_below: VecDeque<Open>,
    /// The history for policies. Subagents' actions count.
    pub past: Past,
    /// Files whose content the agent knows.
    pub files: KnownFiles,
    /// Files that this session and its subagents have edited; kept in the root session. Stored separately from
    /// the rest of the state, because few actions need them.
    #[serde(skip)]
    pub edits: Edits,
    /// Files that the policy has an eye on.
    pub watched: Watched,
    /// The state of feedback.
    pub feedback: FeedbackState,
    /// The state of the completion gate.
    pub completion: CompletionState,
    /// The values that guards store.
    #[serde(with = "stored::as_json")]
    pub memory: Memory,
    /// The agent's own to-do list; `None` when it never wrote one.
    pub todos: Option<Todos>,
    /// The name of the newest prompt, where it has one.
    pub prompt: Option<String>,
    /// First event.
    pub started: Option<Timestamp>,
    /// Newest event.
    pub latest: Option<Timestamp>,
    /// The policy of the session, fixed at the first event.
    pub policy: Option<Digest>,
    /// The policy that was last seen, if it differs from the first.
    pub policy_now: Option<Digest>,
    /// The policies that were seen after the first, oldest first: an action that any of them forbids stays
    /// forbidden. One more than [`POLICIES_KEPT`] when some are missing.
    pub policies_since: Vec<Digest>,
    /// The session that started this one.
    pub parent: Option<SessionKey>,
    /// Its scope.
    #[serde(with = "stored::as_json")]
    pub scope: Scope,
    /// It is over.
    pub ended: bool,
}

/// The sessions of a lineage, each with its person if it is an account. `own` is the key of the first; `claimed`
/// is the key of its parent while that has not begun.
pub fn with_accounts<'a>(
    own: Option<&'a SessionKey>,
    claimed: Option<&'a SessionKey>,
    lineage: impl Iterator<Item = &'a SessionState>,
) -> impl Iterator<Item = (&'a SessionState, Option<&'a str>)> {
    lineage.scan((own, claimed), |(key, claimed), session| {
        let above = session.parent.as_ref().or(claimed.take().filter(|_| session.started.is_none()));
        let key = std::mem::replace(key, above);
        Some((session, key.filter(|key| key.is_account()).map(|key| key.id.as_str())))
    })
}

impl SessionState {
    /// The state after one more event of this session.
    pub fn apply(&mut self, event: &SessionEvent, at: Timestamp) {
        if let SessionEvent::Forked { state, .. } = event
            && self.started.is_none()
        {
            *self = state.copied();
        }
        self.started.get_or_insert(at);
        self.latest = self.latest.max(Some(at));
        self.edited(event);
        match event {
            SessionEvent::Started { policy, parent, scope } => {
                if self.policy.is_none() {
                    self.policy = Some(*policy);
                    self.parent.clone_from(parent);
                    self.scope.clone_from(scope);
                }
            }
            SessionEvent::Forked { .. } => {}
            SessionEvent::Continued { .. } => self.ended = false,
            SessionEvent::Refreshed { policy, recalled } => self.refreshed(*policy, recalled.as_deref()),
            SessionEvent::PolicyChanged { policy, recalled } => {
                self.policy_changed(*policy, recalled.as_deref());
            }
            SessionEvent::Judged(judgement) => self.judged(judgement, at),
            SessionEvent::Resolved { action, tool_use_id, decision, .. } => {
                self.resolved(action, tool_use_id.as_deref(), *decision);
            }
            SessionEvent::Happened(happened) => self.happened(happened, at),
            SessionEvent::Watched { files } => self.watched.look(files),
            SessionEvent::Listed { todos } => self.todos = Some(todos.clone()),
            SessionEvent::Advised { advice } => {
                let calls = calls(self);
                self.feedback.advised(advice, calls, at);
            }
            SessionEvent::Held { remark } => self.feedback.hold(remark),
            SessionEvent::Delivered => self.feedback.held.clear(),
            SessionEvent::Prompted { name, .. } => {
                self.prompt.clone_from(name);
                self.completion.prompted();
            }
            SessionEvent::StopChecked(check) => self.completion.checked(check),
            SessionEvent::Reset => self.reset(),
            SessionEvent::Ended { .. } => {
                self.ended = true;
                self.open.clear();
                self.open_below.clear();
                self.reserved.clear();
            }
        }
    }

    /// Applies an event of a subagent's session. Its counters, budgets and pace count here too; a harmless action
    /// of a subagent does not end a streak of its parent. Only the subagent's session waits for outcomes, so what
    /// it uses is spent here at once, and returned here when it is returned there.
    pub fn apply_below(&mut self, event: &SessionEvent, at: Timestamp) {
        self.tally(event, at);
        self.edited(event);
        match event {
            SessionEvent::Judged(judgement) if !judgement.dry && !judgement.duplicate => {
                self.extend_streaks(&judgement.tags);
                let position = self.past.judged(&judgement.marks, judgement.may_happen(), at);
                if !judgement.marks.is_empty() {
                    drop(open::push(&mut self.open_below, Open::of(judgement, position, at)));
                }
            }
            SessionEvent::Happened(happened) => {
                let open = open::find(&self.open_below, &happened.action, happened.tool_use_id.as_deref())
                    .and_then(|index| self.open_below.remove(index));
                self.remember(happened, open.as_ref(), at);
            }
            _ => {}
        }
    }

    /// Applies an event of a session below to counters, budgets and pace only. The account of a tenant has nothing else:
    /// streaks and history belong to sessions and people.
    pub fn tally(&mut self, event: &SessionEvent, at: Timestamp) {
        self.latest = self.latest.max(Some(at));
        match event {
            SessionEvent::Judged(judgement) if !judgement.dry && !judgement.duplicate => {
                self.count(judgement, at);
                if judgement.may_happen() {
                    spend(&mut self.spent, &judgement.spends);
                }
            }
            SessionEvent::Happened(happened) => self.count_outcome(happened),
            SessionEvent::Resolved { returned, .. } | SessionEvent::Ended { returned } => {
                give_back(&mut self.spent, returned);
            }
            _ => {}
        }
    }

    /// Updates the edited files. A call that is reported twice counts once.
    fn edited(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Judged(judgement) if !judgement.found.is_empty() && self.parent.is_none() => {
                self.edits.judged(judgement);
            }
            SessionEvent::Happened(happened) if !happened.left.is_empty() && self.parent.is_none() => {
                self.edits.happened(happened);
            }
            _ => {}
        }
    }

    /// Clears the memory of tool policies, feedback and the stop gate. Running actions no longer count for the
    /// history; counters, budgets and scope stay.
    fn reset(&mut self) {
        self.past.tracks.clear();
        self.open.iter_mut().chain(&mut self.open_below).for_each(|open| open.marks.clear());
        self.files = KnownFiles::default();
        // The files at the start of the session are kept: a file that has appeared since is reported again.
        self.feedback = FeedbackState::default();
        self.completion = CompletionState::default();
        self.streaks.clear();
        self.memory = Memory::default();
        self.todos = None;
    }

    /// How much of each budget a denial of this action returns.
    #[must_use]
    pub fn returned(&self, action: &Digest, tool_use_id: Option<&str>) -> BTreeMap<String, u64> {
        let open = self.find_open(action, tool_use_id).and_then(|index| self.open.get(index));
        open.filter(|open| !open.observed).map(|open| open.spends.clone()).unwrap_or_default()
    }

    /// The initial state of a fork: everything except the running actions of the original.
    fn copied(&self) -> Self {
        Self {
            open: VecDeque::new(),
            open_below: VecDeque::new(),
            closed: Closed::default(),
            reserved: BTreeMap::new(),
            ended: false,
            ..self.clone()
        }
    }

    fn judged(&mut self, judgement: &Judgement, at: Timestamp) {
        if judgement.dry || judgement.duplicate {
            return;
        }
        self.count(judgement, at);
        self.memory.keep(&judgement.notes);
        self.streaks.retain(|tag, _| judgement.tags.contains(tag));
        self.extend_streaks(&judgement.tags);
        if judgement.may_happen() {
            spend(&mut self.reserved, &judgement.spends);
        }
        let position = self.past.judged(&judgement.marks, judgement.may_happen(), at);
        for given_up in open::push(&mut self.open, Open::of(judgement, position, at)) {
            settle(&given_up, &mut self.reserved, &mut self.spent);
        }
    }

    fn count(&mut self, judgement: &Judgement, at: Timestamp) {
        self.action_count = self.action_count.saturating_add(1);
        let counter = match judgement.decision {
            Decision::Pass => &mut self.pass_count,
            Decision::Warn => &mut self.warn_count,
            Decision::Ask => &mut self.ask_count,
            Decision::Block => &mut self.block_count,
        };
        *counter = counter.saturating_add(1);
        self.ask_count = self.ask_count.saturating_add(u64::from(judgement.asked));
        self.escalation_count = self.escalation_count.saturating_add(u64::from(judgement.escalated));
        self.peak_risk = self.peak_risk.max(judgement.risk);
        if judgement.may_happen() {
            let is_task = judgement.kind == "submit_task";
            self.task_count = self.task_count.saturating_add(u64::from(is_task));
            self.pace.keep(at);
        }
    }

    fn extend_streaks(&mut self, tags: &[String]) {
        for tag in tags {
            if self.streaks.len() < STREAKS_KEPT || self.streaks.contains_key(tag) {
                let streak = self.streaks.entry(tag.clone()).or_insert(0);
                *streak = streak.saturating_add(1);
            }
        }
    }

    /// A denied action returns its reservation; an approved one still waits for its outcome.
    fn resolved(&mut self, action: &Digest, tool_use_id: Option<&str>, decision: Decision) {
        let Some(index) = self.find_open(action, tool_use_id) else { return };
        let Some(open) = self.open.get_mut(index) else { return };
        if decision == Decision::Block && !open.observed {
            let spends = std::mem::take(&mut open.spends);
            give_back(&mut self.reserved, &spends);
        }
        open.decision = decision;
    }

    fn happened(&mut self, happened: &Happened, at: Timestamp) {
        if happened.tool_use_id.as_deref().is_some_and(|id| !self.closed.insert(id)) {
            return;
        }
        self.count_outcome(happened);
        self.memory.keep(&happened.notes);
        self.feedback.outcome(&happened.outcome);
        let open = self
            .find_open(&happened.action, happened.tool_use_id.as_deref())
            .and_then(|index| self.open.remove(index));
        if let Some(open) = &open {
            settle(open, &mut self.reserved, &mut self.spent);
        }
        self.remember(happened, open.as_ref(), at);
    }

    /// Updates the history with an outcome. An action that was never judged counts from now on.
    fn remember(&mut self, happened: &Happened, open: Option<&Open>, at: Timestamp) {
        let success = happened.outcome.success;
        match open {
            Some(open) => self.past.ended(&open.marks, open.position, success, at),
            None if !happened.marks.is_empty() => {
                let position = self.past.judged(&happened.marks, true, at);
                self.past.ended(&happened.marks, position, success, at);
            }
            None => {}
        }
        if success {
            self.files.learn(&happened.learned);
        }
    }

    fn count_outcome(&mut self, happened: &Happened) {
        match happened.standing {
            Standing::Ungoverned => self.ungoverned_count = self.ungoverned_count.saturating_add(1),
            Standing::Bypass => self.bypass_count = self.bypass_count.saturating_add(1),
            Standing::Governed => {}
        }
        self.usage = self.usage.plus(happened.outcome.usage.unwrap_or_default());
        let counter =
            if happened.outcome.success { &mut self.success_count } else { &mut self.failure_count };
        *counter = counter.saturating_add(1);
    }

    /// How the outcome of an action relates to the decision about it.
    #[must_use]
    pub fn standing(&self, action: &Digest, tool_use_id: Option<&str>) -> Standing {
        match self.find_open(action, tool_use_id).and_then(|index| self.open.get(index)) {
            None => Standing::Ungoverned,
            Some(open) if open.is_blocked() => Standing::Bypass,
            Some(_) => Standing::Governed,
        }
    }

    /// Whether the outcome of that call has been reported already.
    #[must_use]
    pub fn has_happened(&self, tool_use_id: Option<&str>) -> bool {
        tool_use_id.is_some_and(|id| self.closed.contains(id))
    }

    fn find_open(&self, action: &Digest, tool_use_id: Option<&str>) -> Option<usize> {
        open::find(&self.open, action, tool_use_id)
    }

    /// How much of a budget is used or reserved.
    #[must_use]
    pub fn used(&self, budget: &str) -> u64 {
        let of = |map: &BTreeMap<String, u64>| map.get(budget).copied().unwrap_or(0);
        of(&self.spent).saturating_add(of(&self.reserved))
    }

    /// How many actions were not blocked.
    #[must_use]
    pub fn unblocked_count(&self) -> u64 {
        self.action_count.saturating_sub(self.block_count)
    }

    /// How many actions were not blocked in the minute before `now`.
    #[must_use]
    pub fn allowed_in_last_minute(&self, now: Timestamp) -> u64 {
        self.pace.in_last_minute(now)
    }

    /// How many consecutive judged actions carried the tag.
    #[must_use]
    pub fn streak(&self, tag: &str) -> u32 {
        self.streaks.get(tag).copied().unwrap_or(0)
    }
}

/// Turns a reservation into spending.
fn settle(open: &Open, reserved: &mut BTreeMap<String, u64>, spent: &mut BTreeMap<String, u64>) {
    give_back(reserved, &open.spends);
    spend(spent, &open.spends);
}

fn spend(budgets: &mut BTreeMap<String, u64>, spends: &BTreeMap<String, u64>) {
    for (budget, amount) in spends {
        let known = budgets.len() < BUDGETS_KEPT || budgets.contains_key(budget);
        let budget = if known { budget.as_str() } else { OTHER_BUDGETS };
        let used = budgets.entry(budget.to_owned()).or_insert(0);
        *used = used.saturating_add(*amount);
    }
}

fn give_back(budgets: &mut BTreeMap<String, u64>, spends: &BTreeMap<String, u64>) {
    for (budget, amount) in spends {
        let known = if budgets.contains_key(budget) { budget.as_str() } else { OTHER_BUDGETS };
        if let Some(used) = budgets.get_mut(known) {
            *used = used.saturating_sub(*amount);
            if *used == 0 {
                budgets.remove(known);
            }
        }
    }
}

#[cfg(test)]
mod tests;
