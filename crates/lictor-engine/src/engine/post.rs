//! Records what happened, for judged actions and for others.

use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lictor_core::event::Happened;
use lictor_core::history::Mark;
use lictor_core::redact::Taken;
use lictor_core::session::{FileState, Todos};
use lictor_core::tools::Knowledge;
use lictor_core::{
    Action, Approval, ApprovalState, GuardMemory, Note, Outcome, Request, SessionEvent, Standing,
};
use lictor_store::{Durability, Space, StoreError, StoreExt, Transaction};

use super::record::{Journal, taken_from};
use super::{PolicyEngine, Rules, edits, sessions, sessions::Lineage};
use crate::approvals;
use crate::log::{Attributed, kind};

impl PolicyEngine {
    /// Records the outcome of an action and how it relates to the decision about it. Never changes a past
    /// decision. A second report of the same call id is neither recorded nor counted.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn post_action(&self, action: &Action, outcome: Outcome) -> Result<Standing, StoreError> {
        let action = &*self.meant(action);
        let standing = match self.post(action, outcome.clone(), true)? {
            Posted::Here(standing) => standing,
            Posted::Elsewhere(sessions) => {
                // Outcomes are recorded even if judging is no longer possible.
                let engine = self.with_seen(&sessions).and_then(Result::ok);
                match engine.as_ref().unwrap_or(self).post(action, outcome.clone(), false)? {
                    Posted::Here(standing) => standing,
                    Posted::Elsewhere(_) => Standing::Ungoverned,
                }
            }
        };
        self.tell_outcome(action, &outcome, standing);
        Ok(standing)
    }

    /// Calls every guard with the outcome of an action, and collects the values that they store. No guard runs
    /// while the store is locked.
    fn hear_guards(&self, action: &Action, outcome: &Outcome) -> Vec<Note> {
        let state = OnceCell::new();
        let kept = |guard: &str, key: &str| {
            let session = action.session.as_ref()?;
            let state = state.get_or_init(|| {
                self.inner.store.view(|view| sessions::read(view, session)).unwrap_or_default()
            });
            state.memory.get(guard, key).cloned()
        };
        let mut notes = Vec::new();
        for (name, guard) in self.rules.graph.guards() {
            let mut memory = GuardMemory::new(name, &kept);
            let told = || guard.happened(action, outcome, &mut memory);
            if catch_unwind(AssertUnwindSafe(told)).is_ok() {
                notes.append(&mut memory.into_notes());
            }
        }
        // Without a session nothing is stored.
        if action.session.is_some() { notes } else { Vec::new() }
    }

    fn post(&self, action: &Action, outcome: Outcome, hand_over: bool) -> Result<Posted, StoreError> {
        let now = self.inner.clock.now();
        let digest = action.digest();
        let id = action.tool_use_id.as_deref();
        let Lessons { marks, learned, left } = self.lessons(action, &outcome);
        let notes = self.hear_guards(action, &outcome);
        let success = outcome.success;
        let redactor = &*self.rules.redactor;
        let texts = taken_from(action, redactor).map_err(StoreError::other)?;
        let redactor = &Taken { redactor, texts: &texts };
        self.inner.store.update(Durability::Process, |tx| {
            let mut sessions = Lineage::load(tx, action)?;
            if hand_over && self.has_more_rules(&sessions) {
                return Ok(Posted::Elsewhere(Box::new(sessions)));
            }
            let own = sessions.own();
            if own.is_some_and(|own| own.has_happened(id)) {
                return Ok(Posted::Here(Standing::Governed));
            }
            let standing = own.map_or(Standing::Ungoverned, |own| own.standing(&digest, id));
            sessions.know(tx, learned.iter().map(|file| file.path.as_str()))?;
            sessions.know_edits(tx, &left)?;
            let event = SessionEvent::Happened(Happened {
                action: digest,
                tool_use_id: action.tool_use_id.clone(),
                standing,
                outcome,
                marks,
                learned,
                left,
                notes,
            });
            let mut journal = Journal::new(tx, action.session.as_ref(), now, redactor);
            match Attributed::of(&event, action) {
                Some(attributed) => journal.append(kind::HAPPENED, &attributed)?,
                None => journal.happening(kind::HAPPENED, &event)?,
            };
            let request =
                Request { action: digest, session: action.session.clone(), policy: self.rules.policy };
            answered_elsewhere(journal.tx, &request)?;
            sessions.apply(&event, now);
            let todos = sessions.own().and_then(|own| own.todos.as_ref());
            if let Some(todos) = Todos::after(todos, action).filter(|_| success) {
                let event = self.redacted(SessionEvent::Listed { todos });
                journal.happening(kind::TODOS_LISTED, &event)?;
                sessions.apply(&event, now);
            }
            sessions.save(journal.tx)?;
            Ok(Posted::Here(standing))
        })
    }
}

/// Where an outcome was recorded.
enum Posted {
    Here(Standing),
    /// Not recorded: these sessions have seen other policies too.
    Elsewhere(Box<Lineage>),
}

/// What the session learns from an outcome.
#[derive(Default)]
struct Lessons {
    marks: Vec<Mark>,
    learned: Vec<Knowledge>,
    left: Vec<FileState>,
}

impl PolicyEngine {
    /// Reading files costs time, so only files that a guard needs are read, and those that a tool has edited.
    fn lessons(&self, action: &Action, outcome: &Outcome) -> Lessons {
        let Rules { history, knows_files, .. } = &*self.rules;
        if history.is_empty() && !knows_files && !edits::may_edit(action) {
            return Lessons::default();
        }
        let facts = self.facts(action);
        Lessons {
            marks: history.marks(action, &facts),
            learned: if *knows_files && outcome.success { Knowledge::gained(&facts) } else { Vec::new() },
            left: self.edited(action, &facts),
        }
    }
}

/// Closes the question about an action that has happened.
pub(super) fn answered_elsewhere(tx: &mut dyn Transaction, request: &Request) -> Result<(), StoreError> {
    let id = request.id();
    let Some(mut approval) = approvals::read::<Approval>(tx, Space::Approval, &id)? else { return Ok(()) };
    if approval.state != ApprovalState::Pending {
        return Ok(());
    }
    approval.state = ApprovalState::Elsewhere;
    approvals::write(tx, Space::Approval, &id, &approval)
}
