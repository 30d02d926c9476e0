//! What an action would really do, derived by Lictor and never by the agent.
//!
//! The same [`Effect`] vocabulary is used twice. `lictor-shell` parses a command and returns *symbolic* effects
//! (`Effect<Operand>`: "deletes the word `$HOME/x`"); `lictor-observe` inspects the file system and turns them
//! into `Effect<Place>` ("deletes `/home/me/x`, a directory, outside the project"). Guards see only the second
//! kind.

mod cardinality;
mod effect;
mod place;
mod summary;

pub use cardinality::Cardinality;
pub use effect::{
    Access, Command, DatabaseEffect, Effect, FlowSink, FlowSource, GitEffect, GuardOff, Opaque, OpaqueWhat,
    Privilege, ProcessEffect, Reach,
};
pub use place::{Existence, Place, Zone};
pub use summary::{Deed, Object, Verb};

use serde::{Deserialize, Serialize};

use crate::action::Action;

/// Derives the facts of an action: the only place that may inspect the outside world.
///
/// What it cannot determine it reports as [`Opaque`]; it never fails and never guesses in the action's favour.
pub trait FactSource: Send + Sync {
    /// The facts of the action.
    fn facts(&self, action: &Action) -> Facts;
}

/// A closure is enough.
impl<F: Fn(&Action) -> Facts + Send + Sync> FactSource for F {
    fn facts(&self, action: &Action) -> Facts {
        self(action)
    }
}

/// Everything Lictor knows about what an action does.
///
/// `effects` are in the order in which the action would perform them, as far as that is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Effects with resolved places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect<Place>>,
    /// What could not be determined. If not empty, the effects above may be incomplete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<Opaque>,
}

/// The deed of a shell, interpreter or client that starts without code and reads it from its input.
pub const AWAITS_CODE: (&str, &str) = ("await", "code");

impl Facts {
    /// The facts of an action without relevant effects.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether everything the action does was understood.
    #[must_use]
    pub fn understood(&self) -> bool {
        self.opaque.is_empty()
    }

    /// Every simple command on the line, in order.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Run(command) => Some(command),
            _ => None,
        })
    }

    /// Whether something is started that runs what is typed into it later.
    #[must_use]
    pub fn awaits_code(&self) -> bool {
        self.effects.iter().any(
            |effect| matches!(effect, Effect::Deed { verb, object, .. } if (verb.as_str(), object.as_str()) == AWAITS_CODE),
        )
    }

    /// Every file that the action touches, with the kind of access.
    pub fn files(&self) -> impl Iterator<Item = (Access, &Place)> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::File { access, target, .. } => Some((*access, target)),
            _ => None,
        })
    }

    /// Every host the action talks to.
    pub fn hosts(&self) -> impl Iterator<Item = &Reach> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Reach(reach) => Some(reach),
            _ => None,
        })
    }

    /// The `verb → object` pairs that policies match on, each with its cardinality, in order of first
    /// appearance and without duplicates.
    #[must_use]
    pub fn deeds(&self) -> Vec<Deed> {
        summary::deeds(self)
    }

    /// The same for the effects that `wanted` selects.
    #[must_use]
    pub fn deeds_where(&self, wanted: impl Fn(&Effect<Place>) -> bool) -> Vec<Deed> {
        summary::deeds_of(self.effects.iter().filter(|effect| wanted(effect)))
    }
}
