use serde::{Deserialize, Serialize};

/// How many objects one deed affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cardinality {
    /// Exactly one.
    Single,
    /// More than one: several operands, a glob, a recursive walk.
    Multiple,
    /// Cannot be determined. Policies for either of the other two fire.
    Unknown,
}

impl Cardinality {
    /// The cardinality of two deeds of the same kind.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            _ => Self::Multiple,
        }
    }

    /// The cardinality with this name. An unknown name is [`Unknown`](Self::Unknown), so that every policy fires.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "single" => Self::Single,
            "multiple" => Self::Multiple,
            _ => Self::Unknown,
        }
    }

    /// Whether a policy written for `wanted` (`None` = any) fires on this.
    #[must_use]
    pub fn triggers(self, wanted: Option<Self>) -> bool {
        match wanted {
            None | Some(Self::Unknown) => true,
            Some(wanted) => self == Self::Unknown || self == wanted,
        }
    }
}
