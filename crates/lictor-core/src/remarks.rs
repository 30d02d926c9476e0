//! Annotations and tags that a guard, a callback or a program adds to its decision.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::context::Context;
use crate::risk::Risk;

/// Risk, notes and tags that go with an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Remarks {
    /// Added to the risk.
    #[serde(skip_serializing_if = "Risk::is_none")]
    pub risk: Risk,
    /// Annotations for later guards, stored under the name of the guard.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, Json>,
    /// Tags of the action: consecutive actions with a tag are counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl Remarks {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.risk.is_none() && self.annotations.is_empty() && self.tags.is_empty()
    }

    /// Adds them to an evaluation, under the name of the current guard.
    pub fn leave(&self, context: &mut Context<'_>) {
        if !self.risk.is_none() {
            context.add_risk(self.risk.as_fraction());
        }
        for (key, value) in &self.annotations {
            context.annotate(key, value.clone());
        }
        for tag in &self.tags {
            context.tag(tag);
        }
    }
}
