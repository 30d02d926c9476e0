//! Derives the facts and evaluates the graph, with a time limit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;

use lictor_core::tools::asked;
use lictor_core::{
    Action, Companion, Context, Facts, GivenVerdict, Judged, Layer, Progress, Risk, SessionState, Timestamp,
    Value, Verdict,
};
use lictor_store::StoreExt as _;

use super::{OPERATOR, PolicyEngine, sessions::Lineage};

/// The risk that a caller's caution adds, in thousandths.
const CAUTION: u16 = 300;

/// The question about a command that waits for code, where its input is not visible.
pub(super) const UNSEEN_INPUT: &str = "this waits for code, and what is typed into it later is not seen by Lictor; give \
    it the code at once: with `-c`, in a file or through a pipe";

impl PolicyEngine {
    /// Never fails: a fault is a judgement that blocks.
    pub(super) fn judge(
        &self,
        action: &Action,
        sessions: &Arc<Lineage>,
        now: Timestamp,
        companion: Option<&Companion>,
    ) -> (Judged, Facts) {
        if let Err(fault) = action.validate() {
            let verdict = Verdict::error(fault.to_string(), "send a complete action");
            return (Judged::refused(from_engine("action", verdict)), Facts::none());
        }
        let progress = Arc::new(Progress::default());
        let Some(deadline) = self.inner.deadline else {
            return self.judge_now(action, sessions, &progress, now, companion);
        };
        let (sender, receiver) = mpsc::sync_channel(1);
        let worker = {
            let (engine, action) = (self.clone(), action.clone());
            let (sessions, progress) = (Arc::clone(sessions), Arc::clone(&progress));
            let companion = companion.cloned();
            thread::Builder::new().name("lictor-judge".to_owned()).spawn(move || {
                // The receiver is gone when the deadline passed first.
                let _ = sender.send(engine.judge_now(&action, &sessions, &progress, now, companion.as_ref()));
            })
        };
        let fault = match worker.map(|_| receiver.recv_timeout(deadline)) {
            Ok(Ok(judged)) => return judged,
            Ok(Err(_)) => {
                let guard = self.rules.graph.guard_at(&progress).unwrap_or("facts");
                format!("`{guard}` had no answer within {} ms", deadline.as_millis())
            }
            Err(error) => format!("no thread could be started: {error}"),
        };
        (Judged::refused(from_engine("deadline", Verdict::error(fault, OPERATOR))), Facts::none())
    }

    fn judge_now(
        &self,
        action: &Action,
        sessions: &Lineage,
        progress: &Progress,
        now: Timestamp,
        companion: Option<&Companion>,
    ) -> (Judged, Facts) {
        let edits = self.edits_of(sessions);
        let Ok(facts) = catch_unwind(AssertUnwindSafe(|| self.rules.sight.facts(action, &edits))) else {
            let verdict = Verdict::error("what the action does could not be worked out", OPERATOR);
            return (Judged::refused(from_engine("facts", verdict)), Facts::none());
        };
        let empty = SessionState::default();
        let mut session = sessions.seen().unwrap_or(&empty);
        let mut knowing = None;
        if self.rules.knows_files && asked(&facts).next().is_some() {
            match self.inner.store.view(|view| sessions.seen_with(view, asked(&facts))) {
                Ok(own) => knowing = own,
                Err(fault) => {
                    let verdict = Verdict::error(fault.to_string(), OPERATOR);
                    return (Judged::refused(from_engine("store", verdict)), Facts::none());
                }
            }
        }
        session = knowing.as_ref().unwrap_or(session);
        let mut context =
            Context::new(action, &facts, session, now).below(sessions.above()).watched(progress);
        context = context.of_tenant(sessions.tenant()).with_companion(companion);
        if let Some(stopwatch) = &self.inner.stopwatch {
            context = context.timed(&**stopwatch);
        }
        let mut judged = self.rules.graph.judge_in(context);
        if let Err(what) = session.scope.permits(action, &facts) {
            let verdict = Verdict::block(
                format!("{what} is outside the scope that this agent was given"),
                "stay within the scope, or hand the step back to the agent that started this one",
            );
            judged.value = judged.value.max(Value::Block);
            judged.verdicts.push(from_engine("scope", verdict));
        }
        (judged, facts)
    }
}

/// The same with an additional question: the caller has information that no guard has.
pub(super) fn cautious(mut judged: Judged, why: &str) -> Judged {
    judged.value = judged.value.max(Value::Ask);
    judged.risk = judged.risk.plus(Risk::thousandths(CAUTION));
    judged.verdicts.push(from_engine("caution", Verdict::ask(why)));
    judged
}

/// A verdict that no guard of the graph gave.
pub(super) fn from_engine(by: &str, verdict: Verdict) -> GivenVerdict {
    GivenVerdict::active(by, "/engine", Layer::Boundary, verdict)
}
