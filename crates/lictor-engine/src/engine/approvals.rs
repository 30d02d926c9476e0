//! Handles an `ask`: a grant lifts it, an earlier denial applies, or a person is asked.

use lictor_core::approval::Mismatch;
use lictor_core::resolve::settle;
use lictor_core::{Action, Answer, Approval, ApprovalState, Evaluation, Grant, Lifetime, Request, Verdict};
use lictor_store::{Space, StoreError, StoreExt as _, View};

use super::PolicyEngine;
use super::judge::from_engine;
use super::mode::Asking;
use super::record::{Case, Journal};
use crate::approvals::{self, QUESTION_LASTS_MS};
use crate::log::kind;

/// Settles an `ask` as far as possible without waiting.
pub(super) fn answer(
    journal: &mut Journal<'_>,
    case: &Case<'_>,
    evaluation: Evaluation,
) -> Result<Evaluation, StoreError> {
    let request = Request {
        action: evaluation.action,
        session: case.action.session.clone(),
        policy: evaluation.policy,
    };
    let id = request.id();
    if let Some(grant) = genuine(journal, case, &id)? {
        match grant.covers(&request, evaluation.pending(), &case.pins, journal.now) {
            Ok(()) => {
                if grant.lifetime == Lifetime::Once {
                    journal.tx.delete(Space::Grant, id.as_bytes())?;
                }
                journal.append(kind::GRANT_USED, &approvals::about(&id, None, Some(&grant)))?;
                let by = format!("allowed by {}", grant.who.by);
                return Ok(lifted(evaluation, &by));
            }
            Err(Mismatch::Expired) => {
                journal.tx.delete(Space::Grant, id.as_bytes())?;
                journal.append(kind::GRANT_EXPIRED, &approvals::about(&id, None, Some(&grant)))?;
            }
            Err(
                Mismatch::Action | Mismatch::Session | Mismatch::Policy | Mismatch::Points | Mismatch::Files,
            ) => {}
        }
    }
    let known: Option<Approval> = approvals::read(journal.tx, Space::Approval, &id)?;
    if let Some(Approval { state: ApprovalState::Denied { reason, .. }, expires, .. }) = &known
        && journal.now < *expires
    {
        let why = reason.as_deref().map_or_else(String::new, |reason| format!(": {reason}"));
        let verdict = Verdict::block(
            format!("a person said no to this{why}"),
            "do not try it again; reach the goal another way",
        );
        return Ok(evaluation.blocked_by(from_engine("approval", verdict)));
    }
    // The person sees the original action; only the log gets the redacted one.
    let pins = case.pins.clone();
    let approval = Approval::of(&evaluation, case.action, case.facts, pins, journal.now, QUESTION_LASTS_MS)
        .by(case.quorum);
    let asked_already = known.is_some_and(|known| {
        let same =
            known.asked == approval.asked && known.pins == approval.pins && known.quorum == approval.quorum;
        known.is_pending(journal.now) && known.is_whole() && same
    });
    if !asked_already {
        approvals::write(journal.tx, Space::Approval, &id, &approval)?;
        let logged = approval.for_the_log();
        journal.append(kind::APPROVAL_REQUESTED, &approvals::about(&id, Some(&logged), None))?;
    }
    Ok(match case.mode.asking {
        Asking::Caller if case.quorum.is_anybody() => evaluation,
        Asking::Caller => {
            let verdict = Verdict::block(
                "this needs the yes of people whom nobody can be asked for here",
                "go on with something that needs no approval; people find this in `lictor approvals` and on the \
                 server's page, and can allow exactly this; then try it again",
            );
            evaluation.blocked_by(from_engine("approval", verdict))
        }
        Asking::Nobody => {
            let verdict = Verdict::block(
                "this waits for a person's yes",
                "tell the person: `lictor approve` allows exactly this, once; then try it again, and go on with \
                 something else until then",
            );
            evaluation.blocked_by(from_engine("approval", verdict))
        }
    })
}

impl PolicyEngine {
    /// Whether the question of this evaluation is still pending.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_waiting(&self, action: &Action, evaluation: &Evaluation) -> Result<bool, StoreError> {
        let request =
            Request { action: evaluation.action, session: action.session.clone(), policy: evaluation.policy };
        self.inner.store.view(|view| is_pending(view, &request.id()))
    }
}

/// Whether a question waits for an answer.
pub(super) fn is_pending(view: &(impl View + ?Sized), id: &str) -> Result<bool, StoreError> {
    let known: Option<Approval> = approvals::read(view, Space::Approval, id)?;
    Ok(known.is_some_and(|approval| approval.state == ApprovalState::Pending))
}

/// The grant under this id, if a person gave it: it is signed where signatures are required, and the log contains
/// it. Any other entry is removed and recorded.
fn genuine(journal: &mut Journal<'_>, case: &Case<'_>, id: &str) -> Result<Option<Grant>, StoreError> {
    if journal.tx.get(Space::Grant, id.as_bytes())?.is_none() {
        return Ok(None);
    }
    let grant = approvals::read::<Grant>(journal.tx, Space::Grant, id).ok().flatten();
    if let Some(grant) = grant {
        let signed = case.seals.is_none_or(|seals| grant.is_signed(seals));
        if signed && approvals::is_on_record(journal.tx, id, &grant)? {
            return Ok(Some(grant));
        }
    }
    journal.tx.delete(Space::Grant, id.as_bytes())?;
    journal.append(kind::GRANT_REFUSED, &approvals::about(id, None, None))?;
    Ok(None)
}

/// The evaluation with a yes to every question.
pub(super) fn lifted(evaluation: Evaluation, reason: &str) -> Evaluation {
    let answers = evaluation.questions().iter().map(|_| Answer::yes().because(reason)).collect();
    settle(evaluation, Ok(answers))
}
