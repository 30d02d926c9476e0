use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use super::{Companion, Context};
use crate::action::Action;
use crate::clock::Timestamp;
use crate::facts::Facts;
use crate::policy::Violation;
use crate::risk::Risk;
use crate::session::SessionState;
use crate::trace::{GivenVerdict, Trace};

/// An owned copy of what a guard sees, for guards in another language or on another thread.
///
/// Action, facts and sessions are copied once per evaluation, however many views are taken of it.
#[derive(Debug, Clone)]
pub struct ContextView {
    /// The action that is judged.
    pub action: Arc<Action>,
    /// Its facts.
    pub facts: Arc<Facts>,
    /// This session before the action, then its parent, and so on to the root. Never empty.
    pub lineage: Arc<[SessionState]>,
    /// The time of the evaluation.
    pub now: Timestamp,
    /// The risk so far.
    pub risk: Risk,
    /// The annotations so far, by full name.
    pub annotations: BTreeMap<String, Json>,
    /// The verdicts so far.
    pub verdicts: Vec<GivenVerdict>,
    /// The policies that were triggered so far.
    pub violations: Vec<Violation>,
    /// The trace so far.
    pub trace: Trace,
    /// The value that the caller passed to the evaluation.
    pub companion: Option<Companion>,
}

/// What all views of one evaluation share.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    action: Arc<Action>,
    facts: Arc<Facts>,
    lineage: Arc<[SessionState]>,
}

impl Context<'_> {
    /// An owned copy of what this guard sees now.
    #[must_use]
    pub fn view(&self) -> ContextView {
        let shared = self.shared.get_or_init(|| Shared {
            action: Arc::new(self.action().clone()),
            facts: Arc::new(self.facts().clone()),
            lineage: self.lineage().cloned().collect(),
        });
        let Shared { action, facts, lineage } = shared.clone();
        ContextView {
            action,
            facts,
            lineage,
            now: self.now(),
            risk: self.risk(),
            annotations: self.annotations().clone(),
            verdicts: self.verdicts().to_vec(),
            violations: self.violations().to_vec(),
            trace: self.trace().clone(),
            companion: self.companion().cloned(),
        }
    }
}
