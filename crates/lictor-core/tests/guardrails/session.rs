//! A session that is driven event by event, as the engine drives it.

use lictor_core::event::{Happened, Judgement};
use lictor_core::facts::Facts;
use lictor_core::history::History;
use lictor_core::tools::Knowledge;
use lictor_core::{Action, ActionKind, Decision, Outcome, SessionEvent, SessionState, Standing, Timestamp};

/// A session and its clock, which moves a second an event.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) state: SessionState,
    pub(crate) now: Timestamp,
    calls: u64,
}

/// A tool call: `name` or `name field=value`.
pub(crate) fn call(text: &str) -> Action {
    let mut words = text.split(' ');
    let mut action = Action::new(ActionKind::Tool, serde_json::Map::new());
    action.tool = words.next().unwrap_or_default().to_owned();
    for (field, value) in words.filter_map(|word| word.split_once('=')) {
        action.payload.insert(field.to_owned(), value.into());
    }
    action
}

impl Session {
    pub(crate) fn apply(&mut self, event: &SessionEvent) {
        self.state.apply(event, self.now);
    }

    pub(crate) fn judge(
        &mut self,
        action: &Action,
        facts: &Facts,
        history: &History,
        decision: Decision,
    ) -> String {
        self.now = self.now.plus_millis(1_000);
        self.calls += 1;
        let id = format!("t{}", self.calls);
        let event = SessionEvent::Judged(Judgement {
            tool_use_id: Some(id.clone()),
            marks: history.marks(action, facts),
            ..Judgement::new(action, decision)
        });
        self.apply(&event);
        id
    }

    pub(crate) fn end(&mut self, action: &Action, facts: &Facts, id: &str, success: bool) {
        let outcome = if success { Outcome::success() } else { Outcome::failure("no") };
        let event = SessionEvent::Happened(Happened {
            action: action.digest(),
            tool_use_id: Some(id.to_owned()),
            standing: Standing::Governed,
            outcome,
            marks: Vec::new(),
            learned: Knowledge::gained(facts),
            left: Vec::new(),
            notes: Vec::new(),
        });
        self.apply(&event);
    }

    /// One call from beginning to end.
    pub(crate) fn make(&mut self, action: &Action, success: bool) {
        let (facts, history) = (Facts::none(), History::default());
        let id = self.judge(action, &facts, &history, Decision::Pass);
        self.end(action, &facts, &id, success);
    }
}
