//! The severity of a finding.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The severity of a finding. The order matters: a plan's level is the maximum over its open findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing.
    Low,
    /// Should be looked at. Never blocks.
    Medium,
    /// Blocks under a guardrail.
    High,
    /// Blocks under a guardrail.
    Critical,
}

impl Level {
    /// All levels, most severe first, as findings are displayed.
    pub const WORST_FIRST: [Self; 4] = [Self::Critical, Self::High, Self::Medium, Self::Low];

    /// The name that is printed and stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
            Self::Critical => "CRITICAL",
        }
    }

    /// Whether an open finding of this level stops a commit under a guardrail.
    #[must_use]
    pub fn blocks(self) -> bool {
        self >= Self::High
    }
}

/// Serialises as its name in every format, because it is parsed from its name.
impl Serialize for Level {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Text that names no level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a level: use LOW, MEDIUM, HIGH or CRITICAL")]
pub struct NotALevel(String);

impl FromStr for Level {
    type Err = NotALevel;

    /// Case-insensitive; blanks are not trimmed.
    fn from_str(text: &str) -> Result<Self, NotALevel> {
        Self::WORST_FIRST
            .into_iter()
            .find(|level| level.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| NotALevel(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
