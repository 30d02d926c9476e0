//! The one transaction that makes a judgement count.

use lictor_core::event::Judgement;
use lictor_core::{Action, Evaluation, Facts, SessionEvent, Timestamp, Verdict};
use lictor_store::{Draft, Durability, StoreError, StoreExt, Transaction};
use serde::Serialize;

use super::{OPERATOR, PolicyEngine, judge, sessions::Lineage};

/// How an action is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mode {
    /// Only to see what would be said: recorded, but nothing counts.
    pub dry: bool,
    /// Judged and recorded, not enforced.
    pub observe: bool,
}

/// Body of an `evaluated` record.
#[derive(Serialize)]
struct Evaluated<'a> {
    #[serde(flatten)]
    event: &'a SessionEvent,
    what: &'a Action,
    facts: &'a Facts,
    evaluation: &'a Evaluation,
}

impl PolicyEngine {
    /// Records the evaluation. One that cannot be recorded is a block: there is no unrecorded pass.
    pub(super) fn record(
        &self,
        action: &Action,
        facts: &Facts,
        evaluation: Evaluation,
        mode: Mode,
        now: Timestamp,
    ) -> Evaluation {
        let draft = evaluation.clone();
        let recorded = self
            .inner
            .store
            .update(Durability::Process, |tx| commit(tx, action, facts, evaluation, mode, now));
        recorded.unwrap_or_else(|fault| {
            let reason = format!("the decision could not be recorded: {fault}");
            draft.blocked_by(judge::verdict_of("store", Verdict::error(reason, OPERATOR)))
        })
    }
}

fn commit(
    tx: &mut dyn Transaction,
    action: &Action,
    facts: &Facts,
    mut evaluation: Evaluation,
    mode: Mode,
    now: Timestamp,
) -> Result<Evaluation, StoreError> {
    let mut sessions = Lineage::load(tx, action)?;
    if !mode.dry && action.session.is_some() && sessions.own().is_some_and(|own| own.started.is_none()) {
        let event =
            SessionEvent::Started { policy: evaluation.policy, parent: action.parent_session.clone() };
        append(tx, action, "session.started", &event, now)?;
        sessions.apply(&event, now);
    }
    let event = SessionEvent::Judged(Judgement {
        action: evaluation.action,
        kind: action.kind.to_string(),
        tool: action.tool.clone(),
        tool_use_id: action.tool_use_id.clone(),
        decision: evaluation.decision,
        risk: evaluation.risk,
        tags: evaluation.tags.clone(),
        escalated: false,
        dry: mode.dry,
        observed: mode.observe,
    });
    let body = Evaluated { event: &event, what: action, facts, evaluation: &evaluation };
    let record = append(tx, action, "evaluated", &body, now)?;
    if !mode.dry {
        sessions.apply(&event, now);
        sessions.save(tx)?;
    }
    evaluation.id = Some(record);
    evaluation.session = sessions.own().cloned().unwrap_or_default();
    Ok(evaluation)
}

/// Appends a record and returns its number.
pub(super) fn append(
    tx: &mut dyn Transaction,
    action: &Action,
    kind: &str,
    body: &impl Serialize,
    at: Timestamp,
) -> Result<u64, StoreError> {
    let body = serde_json::to_string(body).map_err(StoreError::other)?;
    let draft = Draft { at, session: action.session.clone(), kind: kind.to_owned(), body };
    tx.append(draft).map(|record| record.seq)
}
