//! Asks a person synchronously.

use std::borrow::Cow;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use lictor_core::resolve::{Approver, settle};
use lictor_core::{Action, Answer, Decision, Evaluation, Facts, Question, Request, SessionEvent, Verdict};
use lictor_store::{Durability, StoreExt};

use super::record::Journal;
use super::{OPERATOR, PolicyEngine, approvals, judge::from_engine, post, sessions::Lineage};
use crate::log::{Evaluated, kind};

impl PolicyEngine {
    /// Calls the approver with everything that needs approval, and records the answers. The result is `pass`,
    /// `warn` or `block`. The approver is called only for an `ask`, and at most once.
    #[must_use]
    pub fn resolve(
        &self,
        action: &Action,
        evaluation: Evaluation,
        approver: Option<Approver<'_>>,
    ) -> Evaluation {
        if evaluation.decision != Decision::Ask {
            return evaluation;
        }
        self.record_answers(action, lictor_core::resolve(evaluation, approver))
    }

    /// Answers a pending question, once. `None` when it is no longer pending: it was answered, it expired, or the
    /// action has happened.
    #[must_use]
    pub fn resolve_waiting(
        &self,
        action: &Action,
        evaluation: Evaluation,
        answers: Vec<Answer>,
    ) -> Option<Evaluation> {
        if evaluation.decision != Decision::Ask {
            return None;
        }
        self.record_if(action, settle(evaluation, Ok(answers)), true)
    }

    /// As [`resolve`](Self::resolve), with the answers given, or the reason why there are none.
    #[must_use]
    pub fn settle(
        &self,
        action: &Action,
        evaluation: Evaluation,
        answers: Result<Vec<Answer>, &str>,
    ) -> Evaluation {
        if evaluation.decision != Decision::Ask {
            return evaluation;
        }
        self.record_answers(action, settle(evaluation, answers))
    }

    /// As [`resolve`](Self::resolve), with a time limit for the approver.
    #[must_use]
    pub fn resolve_within(
        &self,
        action: &Action,
        evaluation: Evaluation,
        timeout: Duration,
        approver: impl FnOnce(&[Question<'_>]) -> Vec<Answer> + Send + 'static,
    ) -> Evaluation {
        if evaluation.decision != Decision::Ask {
            return evaluation;
        }
        let (sender, receiver) = mpsc::sync_channel(1);
        let shown = Arc::new(evaluation.clone());
        let asking = thread::Builder::new().name("lictor-ask".to_owned()).spawn(move || {
            // The receiver is gone if the time limit passed first.
            let _ = sender.send(approver(&shown.questions()));
        });
        let answers = match asking.map(|_| receiver.recv_timeout(timeout)) {
            Ok(Ok(answers)) => Ok(answers),
            Ok(Err(mpsc::RecvTimeoutError::Timeout)) => Err("nobody answered in time"),
            Ok(Err(mpsc::RecvTimeoutError::Disconnected)) => Err("the approver panicked"),
            Err(_) => Err("no thread could be started to ask"),
        };
        self.record_answers(action, settle(evaluation, answers))
    }

    fn record_answers(&self, action: &Action, evaluation: Evaluation) -> Evaluation {
        let unrecorded = evaluation.clone();
        self.record_if(action, evaluation, false).unwrap_or(unrecorded)
    }

    /// Records the answers; on request only if the question is still pending: of two concurrent answers, one
    /// counts.
    fn record_if(&self, action: &Action, mut evaluation: Evaluation, waiting: bool) -> Option<Evaluation> {
        let now = self.inner.clock.now();
        let recorded = self.inner.store.update(Durability::Power, |tx| {
            let request = Request {
                action: evaluation.action,
                session: action.session.clone(),
                policy: evaluation.policy,
            };
            if waiting && !approvals::is_pending(tx, &request.id())? {
                return Ok(None);
            }
            let mut sessions = Lineage::load(tx, action)?;
            let id = action.tool_use_id.as_deref();
            let own = sessions.own().filter(|_| evaluation.decision == Decision::Block);
            let event = SessionEvent::Resolved {
                action: evaluation.action,
                tool_use_id: action.tool_use_id.clone(),
                decision: evaluation.decision,
                returned: own.map(|own| own.returned(&evaluation.action, id)).unwrap_or_default(),
            };
            let mut journal = Journal::new(tx, action.session.as_ref(), now, &*self.rules.redactor);
            let body = Evaluated {
                event: Cow::Borrowed(&event),
                action: Cow::Borrowed(action),
                facts: Cow::Owned(Facts::none()),
                evaluation: Cow::Borrowed(&evaluation),
            };
            let id = journal.append(kind::RESOLVED, &body)?;
            post::answered_elsewhere(journal.tx, &request)?;
            sessions.apply(&event, now);
            sessions.save(journal.tx)?;
            Ok(Some(id))
        });
        match recorded {
            Ok(None) => None,
            Ok(Some(id)) => {
                evaluation.id = Some(id);
                Some(evaluation)
            }
            Err(fault) => {
                let reason = format!("the answers could not be recorded: {fault}");
                Some(evaluation.blocked_by(from_engine("store", Verdict::error(reason, OPERATOR))))
            }
        }
    }
}
