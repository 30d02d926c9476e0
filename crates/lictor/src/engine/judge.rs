//! Working out the facts and walking the graph, bounded in time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;

use lictor_core::{
    Action, Facts, GivenVerdict, Judged, Layer, Risk, SessionState, Status, Timestamp, Value, Verdict,
};

use super::{OPERATOR, PolicyEngine, sessions::Lineage};

impl PolicyEngine {
    /// Never fails: a fault is a judgement that blocks.
    pub(super) fn judge(&self, action: &Action, sessions: Lineage, now: Timestamp) -> (Judged, Facts) {
        if let Err(fault) = action.validate() {
            return (refused("action", &fault.to_string(), "send a complete action"), Facts::none());
        }
        let Some(deadline) = self.inner.deadline else { return self.judge_now(action, &sessions, now) };
        let (sender, receiver) = mpsc::sync_channel(1);
        let engine = self.clone();
        let action = action.clone();
        let started = thread::Builder::new().name("lictor-judge".to_owned()).spawn(move || {
            // The receiver is gone when the deadline passed first.
            let _ = sender.send(engine.judge_now(&action, &sessions, now));
        });
        let judged = started.ok().and_then(|_| receiver.recv_timeout(deadline).ok());
        judged.unwrap_or_else(|| {
            let reason = format!("no decision within {} ms", deadline.as_millis());
            (refused("deadline", &reason, OPERATOR), Facts::none())
        })
    }

    fn judge_now(&self, action: &Action, sessions: &Lineage, now: Timestamp) -> (Judged, Facts) {
        let facts = match catch_unwind(AssertUnwindSafe(|| self.inner.facts.facts(action))) {
            Ok(facts) => facts,
            Err(_) => {
                return (
                    refused("facts", "what the action does could not be worked out", OPERATOR),
                    Facts::none(),
                );
            }
        };
        let empty = SessionState::default();
        // Actions without a session have nothing in common: each is judged as the first of its own.
        let session = action.session.as_ref().and_then(|_| sessions.own()).unwrap_or(&empty);
        let judged = self.inner.graph.judge(action, &facts, session, now);
        (judged, facts)
    }
}

/// A judgement of the machinery itself.
pub(super) fn refused(by: &str, reason: &str, fix: &str) -> Judged {
    Judged {
        value: Value::Error,
        verdicts: vec![verdict_of(by, Verdict::error(reason, fix))],
        trace: Vec::new(),
        annotations: Default::default(),
        risk: Risk::NONE,
        tags: Vec::new(),
    }
}

/// A verdict that no guard of the graph gave.
pub(super) fn verdict_of(by: &str, verdict: Verdict) -> GivenVerdict {
    GivenVerdict {
        guard: by.into(),
        path: "/engine".into(),
        layer: Layer::Boundary,
        status: Status::Active,
        verdict,
    }
}
