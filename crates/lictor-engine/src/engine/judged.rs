//! What was decided about a call before.

use lictor_core::{Action, Evaluation};
use lictor_store::{Query, StoreError, StoreExt as _};

use super::{PolicyEngine, sessions};
use crate::log::{Evaluated, kind};

/// How far back the record of a call is looked for. A call that is replayed was interrupted, not forgotten.
const LOOKED_AT: usize = 1_000;

impl PolicyEngine {
    /// The recorded decision of this very call: the same session, call id and action. Frameworks enter a call anew
    /// after they have asked a person; a policy that counts or watches the clock might answer it differently then.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn judged(&self, action: &Action) -> Result<Option<Evaluation>, StoreError> {
        let (Some(session), Some(call)) = (&action.session, action.tool_use_id.as_deref()) else {
            return Ok(None);
        };
        let (digest, now) = (action.digest(), self.inner.clock.now());
        self.inner.store.view(|view| {
            // The state says at once whether the call was ever judged; most calls are new.
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
}
