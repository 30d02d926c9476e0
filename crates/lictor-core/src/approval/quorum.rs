//! How many people have to say yes, and who of them.

use serde::{Deserialize, Serialize};

use super::Who;

/// Who has to say yes before something is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quorum {
    /// How many different people; at least one.
    pub people: u32,
    /// Whether the person for whom the action is done may not be one of them.
    pub four_eyes: bool,
}

impl Default for Quorum {
    fn default() -> Self {
        Self { people: 1, four_eyes: false }
    }
}

/// Why a yes does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoVote {
    /// The same person said yes before.
    Again,
    /// It is for this person that it would be done.
    Own,
}

impl Quorum {
    /// Whether any one person is enough.
    #[must_use]
    pub fn is_anybody(&self) -> bool {
        self.people <= 1 && !self.four_eyes
    }

    /// What satisfies both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { people: self.people.max(other.people), four_eyes: self.four_eyes || other.four_eyes }
    }

    /// Whether the yes of `who` counts beside those given before, for an action that is done for `own`.
    ///
    /// # Errors
    /// Why it does not.
    pub fn counts(&self, who: &Who, before: &[Who], own: Option<&str>) -> Result<(), NoVote> {
        if self.four_eyes && own == Some(who.by.as_str()) {
            return Err(NoVote::Own);
        }
        if before.iter().any(|known| known.by == who.by) {
            return Err(NoVote::Again);
        }
        Ok(())
    }

    /// How many more have to say yes after so many.
    #[must_use]
    pub fn missing(&self, given: usize) -> u32 {
        self.people.max(1).saturating_sub(u32::try_from(given).unwrap_or(u32::MAX))
    }
}
