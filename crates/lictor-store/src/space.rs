//! The named parts of the projection.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The owner of entries. Each space belongs to one layer above, which alone interprets its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Space {
    /// Session state, by session key.
    Session,
    /// Actions that were judged and not yet reported back, and calls already seen through another hook.
    Action,
    /// Approvals that someone was asked for.
    Approval,
    /// What a person has allowed, until it is used or expires.
    Grant,
    /// Findings of reviewers.
    Finding,
    /// Plans and their verdicts.
    Plan,
    /// Runs of councils.
    Council,
    /// Programs that a person trusts.
    Trust,
    /// The policies that sessions have seen.
    Policy,
    /// Everything that exists once per store.
    Meta,
}

impl Space {
    /// All spaces.
    pub const ALL: [Self; 10] = [
        Self::Session,
        Self::Action,
        Self::Approval,
        Self::Grant,
        Self::Finding,
        Self::Plan,
        Self::Council,
        Self::Trust,
        Self::Policy,
        Self::Meta,
    ];

    /// The name under which the space is stored. Never changes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Action => "action",
            Self::Approval => "approval",
            Self::Grant => "grant",
            Self::Finding => "finding",
            Self::Plan => "plan",
            Self::Council => "council",
            Self::Trust => "trust",
            Self::Policy => "policy",
            Self::Meta => "meta",
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
