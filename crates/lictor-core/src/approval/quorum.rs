//! How many people have to approve, and who may be one of them.

use serde::{Deserialize, Serialize};

use super::Who;

/// Who has to approve before an action is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quorum {
    /// How many different people; at least one.
    pub people: u32,
    /// Whether the person on whose behalf the action is done is excluded.
    pub four_eyes: bool,
}

impl Default for Quorum {
    fn default() -> Self {
        Self { people: 1, four_eyes: false }
    }
}

/// Why an approval does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoVote {
    /// The same person approved before.
    Again,
    /// The action is done on behalf of this person.
    Own,
}

impl Quorum {
    /// Whether any one person is enough.
    #[must_use]
    pub fn is_anybody(&self) -> bool {
        self.people <= 1 && !self.four_eyes
    }

    /// A quorum that satisfies both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { people: self.people.max(other.people), four_eyes: self.four_eyes || other.four_eyes }
    }

    /// Whether the approval of `who` counts in addition to the earlier ones, for an action that is done on behalf
    /// of `own`.
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

    /// How many approvals are missing after `given` of them.
    #[must_use]
    pub fn missing(&self, given: usize) -> u32 {
        self.people.max(1).saturating_sub(u32::try_from(given).unwrap_or(u32::MAX))
    }
}
