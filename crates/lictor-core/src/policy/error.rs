use super::TemplateError;
use crate::fixable::Fixable;

/// Why a set of policies cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// It has no confirmation, callback or effect.
    #[error(
        "policy `{policy}` has neither `requires_confirmation`, a `callback` nor an `effect`; say which of them decides"
    )]
    Undecided {
        /// The policy.
        policy: String,
    },
    /// An effect in addition to a confirmation or callback.
    #[error("policy `{policy}` has an `effect` and also a confirmation or callback; keep one of them")]
    DecidedTwice {
        /// The policy.
        policy: String,
    },
    /// A callback that is not registered.
    #[error("policy `{policy}` names the callback `{callback}`, which is not registered{}", suggestion(.known))]
    UnknownCallback {
        /// The policy.
        policy: String,
        /// The callback.
        callback: String,
        /// The registered names.
        known: Vec<String>,
    },
    /// Two callbacks under one name.
    #[error("the callback `{name}` is registered twice; rename one of them")]
    DuplicateCallback {
        /// The name.
        name: String,
    },
    /// A verb or object that no fact will ever have.
    #[error(
        "policy `{policy}` is about `{word}`, which is not in the catalogue of {what}s; add it there, or correct it"
    )]
    NotInCatalogue {
        /// The policy.
        policy: String,
        /// The word.
        word: String,
        /// `verb` or `object`.
        what: &'static str,
    },
    /// A policy without a name.
    #[error("policy number {} has no name", .index + 1)]
    NoName {
        /// Its place in the list, from 0.
        index: usize,
    },
    /// A bad message.
    #[error("the message of policy `{policy}`: {error}")]
    Message {
        /// The policy.
        policy: String,
        /// The error.
        error: TemplateError,
    },
}

fn suggestion(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; there are `{}`", known.join("`, `")) }
}

impl PolicyError {
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::Undecided { .. } => {
                ("undecided", "say whether a confirmation, a callback or an effect decides")
            }
            Self::DecidedTwice { .. } => {
                ("decided_twice", "keep the effect, or the confirmation and callback")
            }
            Self::UnknownCallback { .. } => {
                ("unknown_callback", "register the callback, or correct its name")
            }
            Self::DuplicateCallback { .. } => ("duplicate_callback", "rename one of the callbacks"),
            Self::NotInCatalogue { .. } => {
                ("not_in_catalogue", "add the word to the catalogue, or correct it")
            }
            Self::NoName { .. } => ("no_name", "give the policy a name"),
            Self::Message { .. } => ("message", "correct the message"),
        }
    }
}

impl Fixable for PolicyError {
    fn kind(&self) -> &'static str {
        self.words().0
    }

    fn fix(&self) -> &'static str {
        self.words().1
    }
}
