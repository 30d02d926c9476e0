//! Plan hashes and finding ids, and how prefixes of them are resolved.

use std::fmt;
use std::str::FromStr;

use lictor_core::Digest;
use serde::{Deserialize, Serialize};

use crate::plain::is_plain;

/// Names a plan: 1 to 64 letters, digits, `_` or `-`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct PlanHash(String);

/// Text that cannot name a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid plan_hash {0:?}: use 1 to 64 letters, digits, `_` or `-`")]
pub struct NotAPlanHash(String);

impl PlanHash {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PlanHash {
    type Err = NotAPlanHash;

    fn from_str(text: &str) -> Result<Self, NotAPlanHash> {
        let fits = (1..=64).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        if fits { Ok(Self(text.to_owned())) } else { Err(NotAPlanHash(text.chars().take(80).collect())) }
    }
}

impl fmt::Display for PlanHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for PlanHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Names a finding inside its plan.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct FindingId(String);

/// Text that cannot name a finding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid finding id {0:?}: use 1 to 128 printable characters")]
pub struct NotAFindingId(String);

/// How many digits of the identity an id starts with.
const ID_DIGITS: usize = 12;

impl FindingId {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first of the ids that a finding of this identity may have.
    pub(crate) fn shortest(identity: &Digest) -> Self {
        Self(identity.to_string().chars().take(ID_DIGITS).collect())
    }

    /// The ids that a finding of this identity may have, shortest first: the longer ones are for colliding
    /// prefixes.
    pub(crate) fn candidates(identity: &Digest) -> impl Iterator<Item = Self> {
        let digits = identity.to_string();
        (ID_DIGITS..=digits.len()).step_by(4).map(move |length| Self(digits.chars().take(length).collect()))
    }
}

impl FromStr for FindingId {
    type Err = NotAFindingId;

    fn from_str(text: &str) -> Result<Self, NotAFindingId> {
        let fits = text.len() <= 128 && !text.trim().is_empty() && is_plain(text);
        if fits { Ok(Self(text.to_owned())) } else { Err(NotAFindingId(text.chars().take(140).collect())) }
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for FindingId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What makes two reports the same finding: agent, title and file. Not the level and not the line, so that a
/// finding can be raised and can move. Parts are length-prefixed and so unambiguous.
#[must_use]
pub fn identity(agent: &str, title: &str, file: &str) -> Digest {
    Digest::of_parts([b"lictor finding 1".as_slice(), agent.as_bytes(), title.as_bytes(), file.as_bytes()])
}

/// A shortened name that fits several.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{prefix}` is ambiguous: it could be {}; type more of it", .candidates.join(", "))]
pub struct Ambiguous {
    /// The given prefix.
    pub prefix: String,
    /// Some of the names it fits.
    pub candidates: Vec<String>,
}

/// How many names an ambiguity lists.
pub(crate) const AMBIGUITY_SHOWN: usize = 5;

/// The name that `typed` refers to: itself when it is among `names`, else the only one with this prefix.
///
/// # Errors
/// When several start with it.
pub(crate) fn resolve(typed: &str, names: &[String]) -> Result<Option<String>, Ambiguous> {
    if names.iter().any(|name| name == typed) {
        return Ok(Some(typed.to_owned()));
    }
    let fits: Vec<&String> = names.iter().filter(|name| name.starts_with(typed)).collect();
    match fits.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some((*only).clone())),
        several => Err(Ambiguous {
            prefix: typed.to_owned(),
            candidates: several.iter().take(AMBIGUITY_SHOWN).map(|name| (*name).clone()).collect(),
        }),
    }
}
