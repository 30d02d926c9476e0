//! A leaf of the policy graph: one check of one action.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::context::Context;
use crate::event::Outcome;
use crate::guard_memory::GuardMemory;
use crate::verdict::Verdict;

/// One check. A name and `check` are enough; see [`guard_fn`] for plain closures.
///
/// A guard is total: a panic, or a missed deadline where the engine has one, becomes an error and so a block. A
/// guard that does not apply to an action passes it.
pub trait Guard: Send + Sync {
    /// Unique within one policy graph.
    fn name(&self) -> &str;

    /// Judges one action. The context shows the state *before* the action.
    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict;

    /// Which of the four layers it belongs to.
    fn layer(&self) -> Layer {
        Layer::Intent
    }

    /// Called with the outcome of an action; may store values in the session. The order of guards is not defined;
    /// a guard that panics stores nothing.
    fn happened(&self, action: &Action, outcome: &Outcome, memory: &mut GuardMemory<'_>) {
        let _ = (action, outcome, memory);
    }

    /// Distinguishes this guard from another of the same name: its configuration, its code. It is part of
    /// [`Graph::digest`](crate::Graph::digest), to which sessions and grants are bound.
    fn fingerprint(&self) -> Option<String> {
        None
    }
}

/// The message of a caught panic.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let said =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    said.map_or_else(|| "it panicked".to_owned(), |said| format!("it panicked: {said}"))
}

/// The four layers, in the order in which they are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Layer {
    /// Cheap, stateless, absolute limits.
    Boundary,
    /// Budgets and rates.
    Resource,
    /// Whether the action fits the situation.
    Intent,
    /// Records; always runs; its verdict is ignored.
    Observe,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boundary => "BOUNDARY",
            Self::Resource => "RESOURCE",
            Self::Intent => "INTENT",
            Self::Observe => "OBSERVE",
        })
    }
}

/// A guard made from a name and a closure. Made by [`guard_fn`].
pub struct GuardFn<F> {
    name: String,
    layer: Layer,
    check: F,
}

/// Makes a guard from a closure of the action and the context.
///
/// ```
/// use lictor_core::{guard_fn, Verdict};
///
/// let no_deploys = guard_fn("no_deploys", |action, _context| {
///     if action.task_type.as_deref() == Some("deploy") {
///         Verdict::block("deploys are frozen", "wait until the freeze is over")
///     } else {
///         Verdict::pass()
///     }
/// });
/// ```
pub fn guard_fn<F>(name: impl Into<String>, check: F) -> GuardFn<F>
where
    F: Fn(&Action, &mut Context<'_>) -> Verdict + Send + Sync,
{
    GuardFn { name: name.into(), layer: Layer::Intent, check }
}

impl<F> GuardFn<F> {
    /// The same in another layer.
    #[must_use]
    pub fn in_layer(mut self, layer: Layer) -> Self {
        self.layer = layer;
        self
    }
}

impl<F> Guard for GuardFn<F>
where
    F: Fn(&Action, &mut Context<'_>) -> Verdict + Send + Sync,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        (self.check)(action, context)
    }

    fn layer(&self) -> Layer {
        self.layer
    }
}

/// A guard made from a name and a closure of the action alone. Made by [`action_guard`].
pub struct ActionGuard<F> {
    name: String,
    layer: Layer,
    check: F,
}

/// Makes a guard from a closure that needs no context.
///
/// ```
/// use lictor_core::{action_guard, Verdict};
///
/// let no_rm = action_guard("no_rm", |action| match action.text("command") {
///     Some(command) if command.starts_with("rm ") => Verdict::block("no rm", "move it to the bin"),
///     _ => Verdict::pass(),
/// });
/// ```
pub fn action_guard<F>(name: impl Into<String>, check: F) -> ActionGuard<F>
where
    F: Fn(&Action) -> Verdict + Send + Sync,
{
    ActionGuard { name: name.into(), layer: Layer::Intent, check }
}

impl<F> ActionGuard<F> {
    /// The same in another layer.
    #[must_use]
    pub fn in_layer(mut self, layer: Layer) -> Self {
        self.layer = layer;
        self
    }
}

impl<F> Guard for ActionGuard<F>
where
    F: Fn(&Action) -> Verdict + Send + Sync,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, action: &Action, _context: &mut Context<'_>) -> Verdict {
        (self.check)(action)
    }

    fn layer(&self) -> Layer {
        self.layer
    }
}
