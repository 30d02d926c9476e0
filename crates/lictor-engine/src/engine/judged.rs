//! Earlier decisions about the same call.

use lictor_core::session::Open;
use lictor_core::{Action, Decision, Digest, Evaluation, SessionKey};
use lictor_store::{Query, StoreError, StoreExt as _};

use serde_json::{Map, Value};

use super::{PolicyEngine, sessions};
use crate::log::{Evaluated, kind};

/// How many records are searched for a call. A replayed call was interrupted recently.
const LOOKED_AT: usize = 1_000;

impl PolicyEngine {
    /// The recorded decision of exactly this call: the same session, call id and action. Frameworks repeat a call
    /// after they have asked a person; a policy that counts or depends on the time might then decide differently.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn judged(&self, action: &Action) -> Result<Option<Evaluation>, StoreError> {
        let action = &*self.meant(action);
        let (Some(session), Some(call)) = (&action.session, action.tool_use_id.as_deref()) else {
            return Ok(None);
        };
        let (digest, now) = (action.digest(), self.inner.clock.now());
        self.inner.store.view(|view| {
            // The state shows cheaply whether the call was ever judged; most calls are new.
            let state = sessions::read(view, session)?;
            if state.same_call(&digest, Some(call), None, now).is_none() {
                return Ok(None);
            }
            let query = Query::all().session(session.clone()).newest_first().limit(LOOKED_AT);
            let records = view.records(&query)?;
            let found = records
                .iter()
                .filter(|record| record.kind == kind::EVALUATED || record.kind == kind::RESOLVED)
                .find_map(|record| {
                    let body: Evaluated<'_> = serde_json::from_str(&record.body).ok()?;
                    let same = body.evaluation.action == digest
                        && body.action.tool_use_id.as_deref() == Some(call)
                        && !body.evaluation.dry;
                    let mut evaluation = body.evaluation.into_owned();
                    evaluation.id = Some(record.seq);
                    evaluation.session = state.clone();
                    same.then_some(evaluation)
                });
            Ok(found)
        })
    }

    /// The newest call of a session with that tool and that payload that was judged, passed, and has no outcome
    /// yet, as it was judged; calls whose ids are in `taken` are left out. A proxy that sees a call after a hook
    /// has judged it uses this to recognise the call.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn open_call(
        &self,
        session: &SessionKey,
        tool: &str,
        payload: &Map<String, Value>,
        taken: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Action>, StoreError> {
        self.inner.store.view(|view| {
            let state = sessions::read(view, session)?;
            let passed =
                |open: &&Open| open.observed || matches!(open.decision, Decision::Pass | Decision::Warn);
            let may_come: Vec<Digest> = state.open.iter().filter(passed).map(|open| open.action).collect();
            if may_come.is_empty() {
                return Ok(None);
            }
            let query = Query::all().session(session.clone()).newest_first().limit(LOOKED_AT);
            let records = view.records(&query)?;
            let found = records.iter().filter(|record| record.kind == kind::EVALUATED).find_map(|record| {
                let body: Evaluated<'_> = serde_json::from_str(&record.body).ok()?;
                if body.action.tool != tool || !may_come.contains(&body.evaluation.action) {
                    return None;
                }
                // Secrets are redacted from the record, so the payload is compared by the digest of the whole
                // action.
                let action = Action { payload: payload.clone(), ..body.action.into_owned() };
                let id = action.tool_use_id.as_deref().filter(|id| !taken(id))?;
                let open = state.same_call(&action.digest(), Some(id), None, record.at)?;
                may_come.contains(&open.action).then_some(action)
            });
            Ok(found)
        })
    }
}
