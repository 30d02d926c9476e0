//! The files that a policy is made from.

use serde::{Deserialize, Serialize};

/// The origin of a file. Later ones can only narrow earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The machine's administrator.
    Managed,
    /// The team, as its server publishes it.
    Team,
    /// The person.
    User,
    /// The repository.
    Repository,
}

impl Origin {
    /// The prefix of guard names from such a file, so that names stay unique.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Managed => "managed.",
            Self::Team => "team.",
            Self::User => "user.",
            Self::Repository => "",
        }
    }

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Team => "team",
            Self::User => "user",
            Self::Repository => "repository",
        }
    }
}

/// One policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its origin.
    pub origin: Origin,
    /// Its path, as messages shall show it.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}
