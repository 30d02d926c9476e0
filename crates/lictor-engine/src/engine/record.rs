//! The transaction that records a judgement.

use std::borrow::Cow;
use std::collections::BTreeMap;

use lictor_core::event::Judgement;
use lictor_core::history::Mark;
use lictor_core::redact::Taken;
use lictor_core::session::FileState;
use lictor_core::{
    Action, CheckSeal, Decision, Digest, Evaluation, Facts, Pin, Quorum, Redact, SessionEvent, SessionKey,
    SessionState, Timestamp, Verdict, redact,
};
use lictor_store::{Draft, Durability, Freshness, StoreError, StoreExt, Transaction};
use serde::Serialize;

use super::{
    Mode, OPERATOR, PolicyEngine, approvals, judge::from_engine, sessions::Lineage, versions::Versions,
};
use crate::log::{Answer, Happening, kind};

/// The inputs of recording an evaluation.
pub(super) struct Case<'a> {
    pub(super) action: &'a Action,
    pub(super) facts: &'a Facts,
    pub(super) mode: &'a Mode,
    pub(super) now: Timestamp,
    /// The current policy, which sessions that begin with this action get.
    pub(super) current: Digest,
    /// Patterns of the policy that the action matches.
    pub(super) marks: Vec<Mark>,
    /// The state of watched files, if the session has not recorded it yet.
    pub(super) watched: Option<SessionEvent>,
    /// The files that the action would run or read, if a person is to be asked.
    pub(super) pins: Vec<Pin>,
    /// The contents of the files that the action edits.
    pub(super) found: Vec<FileState>,
    /// Checks people's signatures.
    pub(super) seals: Option<&'a dyn CheckSeal>,
    /// Who has to approve.
    pub(super) quorum: Quorum,
    /// Where the current policy is stored for sessions that begin with this action.
    pub(super) versions: Option<&'a Versions>,
}

impl PolicyEngine {
    /// Records the evaluation against the current state. If it cannot be recorded, it is a block: there is no
    /// unrecorded pass. `read` are the sessions at the time of the evaluation.
    pub(super) fn record(&self, case: &Case<'_>, judged: Evaluation, mut read: Option<Read>) -> Recorded {
        // A used grant must stay used even if the power fails right after.
        let asks = judged.decision == Decision::Ask && !case.mode.dry;
        let durability = if asks { Durability::Power } else { Durability::Process };
        let redactor = &*self.rules.redactor;
        let (mut runs, mut stale) = (0_usize, false);
        let recorded = Prepared::of(case, &judged, redactor).and_then(|mut prepared| {
            self.inner.store.update_retrying(durability, |tx| {
                let mut journal = Journal::new(tx, case.action.session.as_ref(), case.now, redactor);
                // The first run takes the states.
                let states = read.as_mut().map(|read| &mut read.sessions).filter(|_| runs == 0);
                runs += 1;
                let sessions = Lineage::load_again(journal.tx, case.action, states)?;
                stale = read.as_ref().is_some_and(|read| read.is_outdated_by(&sessions));
                if stale {
                    return Err(StoreError::Abandoned);
                }
                commit(&mut journal, case, &mut prepared, &judged, sessions)
            })
        });
        match recorded {
            Ok(Committed { mut sessions, event, changed, id }) => {
                let mut evaluation = changed.unwrap_or(judged);
                evaluation.id = Some(id);
                if self.inner.recent.is_wanted() {
                    self.inner.recent.keep(sessions.saved());
                }
                evaluation.session = sessions.into_seen().unwrap_or_default();
                if !case.mode.dry && case.action.session.is_none() {
                    evaluation.session.apply(&event, case.now);
                }
                Recorded::Done(evaluation)
            }
            Err(fault) => {
                let reason = format!("the decision could not be recorded: {fault}");
                let mut evaluation = judged;
                evaluation.id = None;
                evaluation.session = SessionState::default();
                evaluation = evaluation.blocked_by(from_engine("store", Verdict::error(reason, OPERATOR)));
                if stale { Recorded::Outdated(evaluation) } else { Recorded::Done(evaluation) }
            }
        }
    }
}

/// An evaluation after the attempt to record it.
pub(super) enum Recorded {
    /// It counts.
    Done(Evaluation),
    /// A block, not recorded: it was judged on cached sessions that are out of date.
    Outdated(Evaluation),
}

/// The sessions that an action was judged on.
pub(super) struct Read {
    pub(super) sessions: Lineage,
    pub(super) freshness: Freshness,
}

impl Read {
    pub(super) fn current(sessions: Lineage) -> Self {
        Self { sessions, freshness: Freshness::Current }
    }

    /// Whether the cached sessions are out of date.
    fn is_outdated_by(&self, sessions: &Lineage) -> bool {
        self.freshness == Freshness::Cached && !sessions.is_stored_as(&self.sessions)
    }
}

/// The result of the transaction.
struct Committed {
    sessions: Lineage,
    event: SessionEvent,
    /// The evaluation, if it differs from the judged one.
    changed: Option<Evaluation>,
    id: u64,
}

/// Writes the record and the sessions after the event.
fn commit(
    journal: &mut Journal<'_>,
    case: &Case<'_>,
    prepared: &mut Prepared,
    judged: &Evaluation,
    mut sessions: Lineage,
) -> Result<Committed, StoreError> {
    let Case { action, mode, now, .. } = *case;
    let (mut duplicate, mut changed) = (false, None);
    if !mode.dry {
        if sessions.is_new() {
            if let Some(versions) = case.versions {
                versions.keep(journal.tx, case.current, now)?;
            }
            start(journal, &mut sessions, case.current)?;
        }
        if let Some(event) = &case.watched {
            journal.happening(kind::SESSION_WATCHED, event)?;
            sessions.apply(event, now);
        }
        let earlier = sessions.own().and_then(|own| {
            let (id, dialect) = (action.tool_use_id.as_deref(), mode.dialect.as_deref());
            own.same_call(&judged.action, id, dialect, now).map(|open| open.decision)
        });
        changed = recheck(judged, &sessions, now);
        let evaluation = changed.as_ref().unwrap_or(judged);
        if evaluation.decision == Decision::Ask && !mode.observe {
            let asks = evaluation.clone();
            changed = Some(match earlier {
                // The grant that lifted the first question is used up.
                Some(Decision::Pass | Decision::Warn) => {
                    approvals::lifted(asks, "answered at the other hook")
                }
                _ => approvals::answer(journal, case, asks)?,
            });
        }
        // A call that was held and then approved is a new judgement: it has not happened before.
        let passes = changed.as_ref().unwrap_or(judged).decision.allows();
        duplicate = earlier.is_some_and(|earlier| earlier.allows() || !passes);
    }
    let (event, body) = match prepared.whole.take().filter(|_| !duplicate && changed.is_none()) {
        Some(whole) => whole,
        None => {
            let evaluation = changed.as_ref().unwrap_or(judged);
            prepared.parts.with(case, evaluation, duplicate, journal.redactor)?
        }
    };
    let id = journal.write(kind::EVALUATED, body)?;
    if !mode.dry {
        if judged.claims.iter().any(|(_, claim)| claim.is_of_tenant()) {
            sessions.keep_tenant();
        }
        sessions.know_edits(journal.tx, &case.found)?;
        sessions.apply(&event, now);
        sessions.save(journal.tx)?;
    }
    Ok(Committed { sessions, event, changed, id })
}

/// The first event of a session fixes its policy, its parent and its scope: those of its parent, if it has one.
fn start(journal: &mut Journal<'_>, sessions: &mut Lineage, current: Digest) -> Result<(), StoreError> {
    let scope = sessions.above().first().map(|parent| parent.scope.clone()).unwrap_or_default();
    let policy = sessions.began_under().unwrap_or(current);
    let event = SessionEvent::Started { policy, parent: sessions.parent().cloned(), scope };
    journal.happening(kind::SESSION_STARTED, &event)?;
    sessions.apply(&event, journal.now);
    Ok(())
}

/// Checks the claims of the graph again under the store's lock. Returns the new evaluation if it differs.
fn recheck(evaluation: &Evaluation, sessions: &Lineage, now: Timestamp) -> Option<Evaluation> {
    if evaluation.decision == Decision::Block {
        return None;
    }
    let (guard, claim) = evaluation.claims.iter().find(|(_, claim)| !sessions.grants(claim, now))?;
    let verdict = Verdict::block(claim.lost(), "wait for what is under way, then try again");
    Some(evaluation.clone().blocked_by(from_engine(guard, verdict)))
}

fn judgement(case: &Case<'_>, evaluation: &Evaluation, duplicate: bool) -> Judgement {
    let mut spends = BTreeMap::new();
    for (_, claim) in &evaluation.claims {
        if let Some((budget, amount)) = claim.spend() {
            let spent: &mut u64 = spends.entry(budget.to_owned()).or_default();
            *spent = spent.saturating_add(amount);
        }
    }
    Judgement {
        action: evaluation.action,
        kind: case.action.kind.to_string(),
        tool: case.action.tool.clone(),
        tool_use_id: case.action.tool_use_id.clone(),
        decision: evaluation.decision,
        risk: evaluation.risk,
        tags: evaluation.tags.clone(),
        marks: case.marks.clone(),
        spends,
        escalated: evaluation.escalated,
        dry: case.mode.dry,
        observed: case.mode.observe,
        notes: evaluation.notes.clone(),
        duplicate,
        dialect: case.mode.dialect.as_deref().map(str::to_owned),
        found: case.found.clone(),
        asked: evaluation.is_blocked_question(),
    }
}

/// The record of an evaluation, ready to be written. It is redacted before the transaction, because redaction
/// takes longer than the write and would block other writers.
struct Prepared {
    parts: Parts,
    /// The complete record if the decision does not change. For an `ask` it may change.
    whole: Option<(SessionEvent, String)>,
}

impl Prepared {
    fn of(case: &Case<'_>, evaluation: &Evaluation, redactor: &dyn Redact) -> Result<Self, StoreError> {
        let (action, taken) = clean_action(case.action, redactor)?;
        let facts = clean(case.facts, &Taken { redactor, texts: &taken })?;
        let parts = Parts { action, facts, taken };
        let asks = evaluation.decision == Decision::Ask && !case.mode.dry && !case.mode.observe;
        let whole = if asks { None } else { Some(parts.with(case, evaluation, false, redactor)?) };
        Ok(Self { parts, whole })
    }
}

/// The action and its facts in a record.
struct Parts {
    action: String,
    facts: String,
    /// The texts redacted from the action: they must not occur in any text about it either.
    taken: Vec<String>,
}

impl Parts {
    /// The session event of an evaluation, and the body of [`Evaluated`](crate::log::Evaluated).
    fn with(
        &self,
        case: &Case<'_>,
        evaluation: &Evaluation,
        duplicate: bool,
        redactor: &dyn Redact,
    ) -> Result<(SessionEvent, String), StoreError> {
        let event = SessionEvent::Judged(judgement(case, evaluation, duplicate));
        let redactor = &Taken { redactor, texts: &self.taken };
        // Each is an object with one field; they are merged into one object.
        let happening = clean(&Happening { event: Cow::Borrowed(&event) }, redactor)?;
        let answer = clean(&Answer { evaluation: Cow::Borrowed(evaluation) }, redactor)?;
        let (Some(before), Some(after)) = (happening.strip_suffix('}'), answer.strip_prefix('{')) else {
            return Err(StoreError::other("a record is no object"));
        };
        let (action, facts) = (&self.action, &self.facts);
        Ok((event, format!("{before},\"action\":{action},\"facts\":{facts},{after}")))
    }
}

/// A transaction with the session and time of its records.
pub(super) struct Journal<'a> {
    pub(super) tx: &'a mut dyn Transaction,
    session: Option<&'a SessionKey>,
    pub(super) now: Timestamp,
    pub(super) redactor: &'a dyn Redact,
}

impl<'a> Journal<'a> {
    pub(super) fn new(
        tx: &'a mut dyn Transaction,
        session: Option<&'a SessionKey>,
        now: Timestamp,
        redactor: &'a dyn Redact,
    ) -> Self {
        Self { tx, session, now, redactor }
    }

    pub(super) fn happening(&mut self, kind: &str, event: &SessionEvent) -> Result<u64, StoreError> {
        self.append(kind, &Happening { event: Cow::Borrowed(event) })
    }

    /// Appends a record and returns its number.
    pub(super) fn append(&mut self, kind: &str, body: &impl Serialize) -> Result<u64, StoreError> {
        self.write(kind, clean(body, self.redactor)?)
    }

    /// Appends a record whose body has been redacted.
    fn write(&mut self, kind: &str, body: String) -> Result<u64, StoreError> {
        let draft = Draft { at: self.now, session: self.session.cloned(), kind: kind.to_owned(), body };
        self.tx.append(draft).map(|record| record.seq)
    }
}

/// The redacted action, and the texts that were removed.
fn clean_action(action: &Action, redactor: &dyn Redact) -> Result<(String, Vec<String>), StoreError> {
    let text = serde_json::to_string(action).map_err(StoreError::other)?;
    if !redactor.may_redact_json(&text) {
        return Ok((text, Vec::new()));
    }
    let mut value = serde_json::to_value(action).map_err(StoreError::other)?;
    let taken = value.get("payload").map(|payload| redact::taken_from(payload, redactor));
    redact::json(&mut value, redactor);
    Ok((value.to_string(), taken.unwrap_or_default()))
}

/// The texts to redact from an action and from everything about it.
pub(super) fn taken_from(action: &Action, redactor: &dyn Redact) -> serde_json::Result<Vec<String>> {
    let payload = serde_json::to_string(&action.payload)?;
    if !redactor.may_redact_json(&payload) {
        return Ok(Vec::new());
    }
    Ok(redact::taken_from(&serde_json::to_value(&action.payload)?, redactor))
}

/// Something as it may be written down.
fn clean(body: &impl Serialize, redactor: &dyn Redact) -> Result<String, StoreError> {
    let text = serde_json::to_string(body).map_err(StoreError::other)?;
    // Most records contain no secret; only those that might are parsed.
    if !redactor.may_redact_json(&text) {
        return Ok(text);
    }
    let mut value = serde_json::to_value(body).map_err(StoreError::other)?;
    redact::json(&mut value, redactor);
    Ok(value.to_string())
}
