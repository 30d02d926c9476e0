//! Reads Lictor's own log from start to end, one page at a time.

use std::collections::{HashMap, VecDeque};

use anyhow::Result;
use lictor::log::{Evaluated, Happening, kind};
use lictor_core::{Action, Digest, Evaluation, GivenVerdict, SessionEvent, SessionKey, Value};
use lictor_store::{Query, Record, Store, StoreExt as _};

use super::Past;
use crate::exit;
use crate::progress::Progress;

/// So many records are read at a time.
const PAGE: usize = 500;
/// How many judged actions are kept until their outcome is read.
const AWAITED: usize = 4_096;

/// Calls `f` with the judgements and outcomes of the log, in order.
pub(super) fn each(
    store: &dyn Store,
    session: Option<&SessionKey>,
    progress: &Progress,
    mut f: impl FnMut(Past),
) -> Result<()> {
    progress.next("replaying", store.view(|view| view.head())?.seq);
    let mut query = Query::all().limit(PAGE);
    if let Some(session) = session {
        query = query.session(session.clone());
    }
    let (mut awaited, mut after, mut found) = (Awaited::default(), 0, false);
    loop {
        let page = store.view(|view| view.records(&query.clone().after(after)))?;
        let Some(last) = page.last() else { break };
        for past in page.iter().filter_map(|record| awaited.past(record)) {
            found = true;
            f(past);
        }
        progress.step(last.seq - after);
        after = last.seq;
    }
    match session {
        Some(session) if !found => Err(exit::not_there(format!(
            "nothing of session `{session}` is on record; `lictor session list` shows them"
        ))),
        _ => Ok(()),
    }
}

/// Actions that were judged, the newest ones. An outcome names its action by the digest alone.
#[derive(Default)]
struct Awaited {
    actions: HashMap<Digest, Action>,
    /// The order in which they came.
    order: VecDeque<Digest>,
}

impl Awaited {
    /// The event of a record.
    fn past(&mut self, record: &Record) -> Option<Past> {
        match record.kind.as_str() {
            kind::EVALUATED => {
                let body: Evaluated<'_> = serde_json::from_str(&record.body).ok()?;
                if body.evaluation.dry {
                    return None;
                }
                let action = body.action.into_owned();
                self.remember(&action);
                Some(Past::Judged {
                    id: Some(record.seq),
                    action: Box::new(action),
                    facts: Some(Box::new(body.facts.into_owned())),
                    was: body.evaluation.decision,
                    lifted: was_lifted(&body.evaluation),
                    at: record.at,
                })
            }
            kind::HAPPENED => {
                let body: Happening<'_> = serde_json::from_str(&record.body).ok()?;
                let SessionEvent::Happened(happened) = &*body.event else { return None };
                let action = Box::new(self.actions.get(&happened.action)?.clone());
                Some(Past::Happened { action, success: happened.outcome.success, at: record.at })
            }
            _ => None,
        }
    }

    fn remember(&mut self, action: &Action) {
        let digest = action.digest();
        if self.actions.insert(digest, action.clone()).is_some() {
            return;
        }
        self.order.push_back(digest);
        if self.order.len() > AWAITED
            && let Some(oldest) = self.order.pop_front()
        {
            self.actions.remove(&oldest);
        }
    }
}

/// Whether a grant made it pass: some guard asked, and the whole did not.
fn was_lifted(evaluation: &Evaluation) -> bool {
    let asked = |given: &GivenVerdict| given.verdict.value() == Value::Ask;
    evaluation.decision.allows() && evaluation.verdicts.iter().any(asked)
}
