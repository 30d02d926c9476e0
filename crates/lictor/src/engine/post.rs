//! What happened after an action was judged, or without it having been.

use lictor_core::event::Happened;
use lictor_core::{Action, Outcome, SessionEvent, Standing};
use lictor_store::{Durability, StoreError, StoreExt};

use super::{PolicyEngine, record, sessions::Lineage};

impl PolicyEngine {
    /// Records what came of an action and how that stands to what was decided about it. Never changes a past
    /// decision.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn post_action(&self, action: &Action, outcome: Outcome) -> Result<Standing, StoreError> {
        let now = self.inner.clock.now();
        let digest = action.digest();
        self.inner.store.update(Durability::Process, |tx| {
            let mut sessions = Lineage::load(tx, action)?;
            let standing = sessions
                .own()
                .map_or(Standing::Ungoverned, |own| own.standing(&digest, action.tool_use_id.as_deref()));
            let event = SessionEvent::Happened(Happened {
                action: digest,
                tool_use_id: action.tool_use_id.clone(),
                standing,
                outcome,
            });
            record::append(tx, action, "happened", &event, now)?;
            sessions.apply(&event, now);
            sessions.save(tx)?;
            Ok(standing)
        })
    }
}
