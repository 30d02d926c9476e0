//! Policies on `verb → object`: what triggers them, what their callbacks return, and what a person is asked.
//!
//! All triggered policies are collected, each with the result of its callback; none is dropped. A [`PolicySet`]
//! is a guard, so its violations go through the graph and the same [`resolve`](crate::resolve::resolve).
//! [`PolicySet::check_policy`] does both steps for callers without a graph.

mod callback;
mod catalogue;
mod check;
mod error;
mod set;
mod template;
mod violation;

pub use callback::{Call, CallContext, Callback, CallbackResult, Callbacks};
pub use catalogue::{Catalogue, Ungrounded};
pub use check::{NOBODY, OnPolicy, PolicyEvaluation, PolicyResult};
pub use error::PolicyError;
pub use set::PolicySet;
pub use template::{Template, TemplateError};
pub use violation::Violation;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::audience::Audience;
use crate::facts::Cardinality;

/// Matches any verb or object.
pub const ANY: &str = "*";

/// What happens when a policy with neither confirmation nor callback is triggered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Tells the agent and writes to the log.
    Inform,
    /// It is refused.
    Block,
}

/// One rule on `verb → object`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// The verb, or [`ANY`].
    pub verb: String,
    /// The object, or [`ANY`].
    pub object: String,
    /// Only for this cardinality. `None`: for every one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cardinality: Option<Cardinality>,
    /// A person must approve; a callback is not enough.
    pub requires_confirmation: bool,
    /// The name of a registered callback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<String>,
    /// What happens when neither a person nor a callback decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The message when it is triggered.
    pub message: Template,
    /// What to do instead, when it blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Only when a target matches one of these globs. Empty: any target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Only when a host matches one of these globs. Empty: any host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Only when the tool matches one of these globs. Empty: any tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// To whom it applies.
    #[serde(default, skip_serializing_if = "Audience::is_everybody")]
    pub audience: Audience,
    /// Data of the author that is copied to every violation: an owner, a ticket, a link. Lictor does not
    /// interpret it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Json>,
}

impl Policy {
    /// A policy on this verb and object that asks for confirmation.
    #[must_use]
    pub fn new(name: impl Into<String>, verb: impl Into<String>, object: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            verb: verb.into(),
            object: object.into(),
            cardinality: None,
            requires_confirmation: true,
            callback: None,
            effect: None,
            message: Template::default(),
            fix: None,
            paths: Vec::new(),
            hosts: Vec::new(),
            tools: Vec::new(),
            audience: Audience::default(),
            metadata: Map::new(),
        }
    }

    /// The same, only for that cardinality.
    #[must_use]
    pub fn when(mut self, cardinality: Cardinality) -> Self {
        self.cardinality = Some(cardinality);
        self
    }

    /// The same, decided by this callback. A person is still asked unless [`unconfirmed`](Self::unconfirmed).
    #[must_use]
    pub fn callback(mut self, name: impl Into<String>) -> Self {
        self.callback = Some(name.into());
        self
    }

    /// The same, without asking a person.
    #[must_use]
    pub fn unconfirmed(mut self) -> Self {
        self.requires_confirmation = false;
        self
    }

    /// The same with this effect, without a person or a callback.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self.requires_confirmation = false;
        self
    }

    /// The same, only for these.
    #[must_use]
    pub fn only_for(mut self, audience: Audience) -> Self {
        self.audience = audience;
        self
    }

    /// The same with metadata that is copied to every violation.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// The same with this message; see [`Template`] for the placeholders.
    ///
    /// # Errors
    /// When the text is not a template.
    pub fn message(mut self, text: &str) -> Result<Self, TemplateError> {
        self.message = Template::parse(text)?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
