//! Callbacks: automatic checks of a triggered policy.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Policy, PolicyError, Violation};
use crate::action::Action;
use crate::clock::Timestamp;
use crate::context::Companion;
use crate::decision::Decision;
use crate::facts::{Deed, Facts};
use crate::remarks::Remarks;
use crate::risk::Risk;
use crate::session::SessionState;

/// The result of a callback. `passed` means no objection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallbackResult {
    /// Whether it is fine.
    pub passed: bool,
    /// The message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Its decision, if it returns more than `passed`. If a person is asked anyway, it counts only when it is
    /// stricter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Annotations and tags for later guards.
    #[serde(default, skip_serializing_if = "Remarks::is_empty")]
    pub remarks: Remarks,
    /// The evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Json>,
}

impl CallbackResult {
    /// Fine.
    #[must_use]
    pub fn passed() -> Self {
        Self { passed: true, ..Self::default() }
    }

    /// Not fine.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self { passed: false, message: Some(message.into()), ..Self::default() }
    }

    /// That decision, for that reason.
    #[must_use]
    pub fn decided(decision: Decision, message: impl Into<String>) -> Self {
        let passed = decision.allows();
        Self { passed, message: Some(message.into()), decision: Some(decision), ..Self::default() }
    }
}

/// The call that is judged, for callers without a graph.
#[derive(Debug, Clone, Copy)]
pub struct CallContext<'a> {
    /// The action.
    pub action: &'a Action,
    /// The session before it.
    pub session: &'a SessionState,
    /// The time of the evaluation.
    pub now: Timestamp,
    /// The risk that guards before this one saw.
    pub risk: Risk,
    /// Their annotations.
    pub annotations: &'a BTreeMap<String, Json>,
    /// The policies that were triggered before this one.
    pub violations: &'a [Violation],
    /// The value that the caller passed to the evaluation.
    pub companion: Option<&'a Companion>,
}

impl<'a> CallContext<'a> {
    /// A call before any evaluation: without risk and annotations.
    #[must_use]
    pub fn new(action: &'a Action, session: &'a SessionState, now: Timestamp) -> Self {
        const NONE: &BTreeMap<String, Json> = &BTreeMap::new();
        Self { action, session, now, risk: Risk::NONE, annotations: NONE, violations: &[], companion: None }
    }
}

/// The input of a callback: the call, and what triggered the policy. Read only.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The call.
    pub context: &'a CallContext<'a>,
    /// Everything the action would do.
    pub facts: &'a Facts,
    /// The deed that triggered the policy.
    pub deed: &'a Deed,
    /// The policy's name.
    pub policy: &'a str,
    /// The whole policy.
    pub definition: &'a Policy,
}

/// A check that a policy names: a function, an expression or a program.
pub trait Callback: Send + Sync {
    /// Runs it.
    ///
    /// # Errors
    /// Why it has no result: it could not be started, timed out, or returned an invalid value.
    fn call(&self, call: &Call<'_>) -> Result<CallbackResult, String>;
}

/// A closure is enough.
impl<F> Callback for F
where
    F: Fn(&Call<'_>) -> Result<CallbackResult, String> + Send + Sync,
{
    fn call(&self, call: &Call<'_>) -> Result<CallbackResult, String> {
        self(call)
    }
}

/// The callbacks that policies may name.
#[derive(Clone, Default)]
pub struct Callbacks {
    by_name: BTreeMap<String, Arc<dyn Callback>>,
}

impl Callbacks {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers one.
    ///
    /// # Errors
    /// When the name is taken.
    pub fn register(&mut self, name: &str, callback: impl Callback + 'static) -> Result<(), PolicyError> {
        if self.by_name.contains_key(name) {
            return Err(PolicyError::DuplicateCallback { name: name.to_owned() });
        }
        self.by_name.insert(name.to_owned(), Arc::new(callback));
        Ok(())
    }

    /// All names.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.by_name.keys().cloned().collect()
    }

    /// The one of that name.
    pub(super) fn get(&self, name: &str) -> Option<&Arc<dyn Callback>> {
        self.by_name.get(name)
    }
}

/// Runs a callback exactly once; a panic counts as a fault.
pub(super) fn run(callback: &dyn Callback, call: &Call<'_>) -> Result<CallbackResult, String> {
    catch_unwind(AssertUnwindSafe(|| callback.call(call)))
        .unwrap_or_else(|panic| Err(crate::guard::panic_text(panic.as_ref())))
}
