//! The engine's log records, and how to read them.

mod written;

use std::borrow::Cow;
use std::collections::BTreeMap;

use lictor_core::history::History;
use lictor_core::{
    Action, ActionKind, Actor, Approval, Evaluation, Facts, Grant, SessionEvent, SessionKey, SessionState,
    Tier,
};
use lictor_store::Record;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Kinds of records.
pub mod kind {
    /// A session began.
    pub const SESSION_STARTED: &str = "session.started";
    /// A session began as a copy of another.
    pub const SESSION_FORKED: &str = "session.forked";
    /// A session continues.
    pub const SESSION_CONTINUED: &str = "session.continued";
    /// A person applied another policy to a session.
    pub const SESSION_REFRESHED: &str = "session.refreshed";
    /// The policy differs from the one that was last seen in a session.
    pub const POLICY_CHANGED: &str = "policy.changed";
    /// The memory of a session's policies was cleared.
    pub const SESSION_RESET: &str = "session.reset";
    /// A session is over.
    pub const SESSION_ENDED: &str = "session.ended";
    /// A session recorded the state of watched files.
    pub const SESSION_WATCHED: &str = "session.watched";
    /// A person sent a prompt.
    pub const PROMPTED: &str = "prompted";
    /// An agent wrote its to-do list.
    pub const TODOS_LISTED: &str = "todos.listed";
    /// Feedback was given after a call.
    pub const FEEDBACK_GIVEN: &str = "feedback.given";
    /// A remark is held for delivery.
    pub const REMARK_HELD: &str = "remark.held";
    /// A held remark was delivered.
    pub const REMARK_DELIVERED: &str = "remark.delivered";
    /// An agent wanted to stop.
    pub const STOP_CHECKED: &str = "stop.checked";
    /// An action was judged.
    pub const EVALUATED: &str = "evaluated";
    /// A question was answered on the spot.
    pub const RESOLVED: &str = "resolved";
    /// An action happened.
    pub const HAPPENED: &str = "happened";
    /// A person is to be asked.
    pub const APPROVAL_REQUESTED: &str = "approval.requested";
    /// A person approved, and others have to approve too.
    pub const APPROVAL_COUNTED: &str = "approval.counted";
    /// A person approved.
    pub const APPROVAL_GRANTED: &str = "approval.granted";
    /// A person denied.
    pub const APPROVAL_DENIED: &str = "approval.denied";
    /// A grant was used.
    pub const GRANT_USED: &str = "grant.used";
    /// A grant expired without use.
    pub const GRANT_EXPIRED: &str = "grant.expired";
    /// An entry in the place of a grant was not signed, or is not in the log.
    pub const GRANT_REFUSED: &str = "grant.refused";
}

/// Body of [`kind::EVALUATED`] and [`kind::RESOLVED`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Evaluated<'a> {
    /// The session event.
    pub event: Cow<'a, SessionEvent>,
    /// The action.
    pub action: Cow<'a, Action>,
    /// Its facts. They are recorded so that a replay does not depend on the file system at that time.
    pub facts: Cow<'a, Facts>,
    /// The whole answer.
    #[serde(with = "written")]
    pub evaluation: Cow<'a, Evaluation>,
}

/// The part of [`Evaluated`] with the decision and the reasons.
#[derive(Deserialize)]
pub(crate) struct Spoken {
    pub(crate) event: SpokenEvent,
    pub(crate) action: Action,
    /// Parsed lazily.
    pub(crate) facts: Box<RawValue>,
    /// Without its trace and without guards that passed silently.
    #[serde(deserialize_with = "written::deserialize_spoken")]
    pub(crate) evaluation: Evaluation,
}

/// Of [`SessionEvent`]: whether the call was judged before.
#[derive(Deserialize)]
pub(crate) struct SpokenEvent {
    #[serde(default)]
    pub(crate) duplicate: bool,
}

/// The answer alone, as [`Evaluated`] has it.
#[derive(Serialize)]
pub(crate) struct Answer<'a> {
    #[serde(with = "written")]
    pub(crate) evaluation: Cow<'a, Evaluation>,
}

/// Body of every other record that changes a session. Reads [`Evaluated`] too.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Happening<'a> {
    /// The session event.
    pub event: Cow<'a, SessionEvent>,
}

/// A [`Happening`] with whose action it was about. Written where a person or a tenant is known, so that an outcome is
/// found by them as its judgement is.
#[derive(Serialize)]
pub(crate) struct Attributed<'a> {
    event: &'a SessionEvent,
    action: Attribution<'a>,
}

/// Of an [`Action`]: everything but its input.
#[derive(Serialize)]
struct Attribution<'a> {
    kind: &'a ActionKind,
    #[serde(skip_serializing_if = "str::is_empty")]
    tool: &'a str,
    actor: &'a Actor,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<Tier>,
}

impl<'a> Attributed<'a> {
    /// Nothing if the action is for nobody.
    pub(crate) fn of(event: &'a SessionEvent, action: &'a Action) -> Option<Self> {
        let Action { kind, tool, actor, tier, .. } = action;
        let known = actor.user.is_some() || actor.tenant.is_some();
        known.then_some(Self { event, action: Attribution { kind, tool, actor, tier: *tier } })
    }
}

/// Body of the records about approvals and grants.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Approving<'a> {
    /// The id of the approval and of its grant.
    pub id: Cow<'a, str>,
    /// The question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Cow<'a, Approval>>,
    /// The grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Cow<'a, Grant>>,
}

/// The states of all sessions, folded from the log alone. If they differ from the stored ones, the store is
/// damaged.
#[must_use]
pub fn sessions(records: &[Record]) -> BTreeMap<SessionKey, SessionState> {
    let mut fold = Fold::default();
    for record in records {
        let Ok(Happening { event }) = serde_json::from_str::<Happening<'_>>(&record.body) else { continue };
        fold.add(record, &event);
    }
    fold.states
}

/// The states of sessions after the records added so far.
#[derive(Default)]
pub(crate) struct Fold {
    pub(crate) states: BTreeMap<SessionKey, SessionState>,
}

impl Fold {
    fn add(&mut self, record: &Record, event: &SessionEvent) {
        if matches!(event, SessionEvent::Judged(judgement) if judgement.dry) {
            return;
        }
        let key = record.session.clone().unwrap_or_else(anonymous);
        let own = self.states.entry(key.clone()).or_default();
        own.apply(event, record.at);
        let mut above = own.parent.clone();
        let mut seen = vec![key];
        while let Some(key) = above.filter(|key| !seen.contains(key)) {
            let state = self.states.entry(key.clone()).or_default();
            state.apply_below(event, record.at);
            above = state.parent.clone();
            seen.push(key);
        }
    }

    /// Adds a record as if this history had been tracked when it was written. An action that was never judged
    /// keeps its marks: its facts were not recorded.
    pub(crate) fn retell(&mut self, record: &Record, history: &History) {
        let Ok(Told { mut event, action, facts }) = serde_json::from_str(&record.body) else { return };
        match &mut event {
            SessionEvent::Judged(judgement) => {
                judgement.marks = action
                    .map(|action| history.marks(&action, &facts.unwrap_or_default()))
                    .unwrap_or_default();
            }
            SessionEvent::Refreshed { recalled, .. } | SessionEvent::PolicyChanged { recalled, .. } => {
                *recalled = None;
            }
            _ => {}
        }
        self.add(record, &event);
    }
}

#[derive(Deserialize)]
struct Told {
    event: SessionEvent,
    action: Option<Action>,
    facts: Option<Facts>,
}

/// The session key of actions without a session. Real sessions have a non-empty id, so it cannot collide.
#[must_use]
pub fn anonymous() -> SessionKey {
    SessionKey { agent: String::new(), id: String::new() }
}
