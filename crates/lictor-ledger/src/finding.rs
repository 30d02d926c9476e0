//! A reviewer's claim and its disposition.

use std::collections::{HashMap, HashSet};

use lictor_core::{Digest, Redact, Timestamp, redact};
use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::identity::{FindingId, identity};
use crate::level::Level;

#[cfg(test)]
mod tests;

/// The longest title, in bytes.
pub const MAX_TITLE: usize = 1_000;
/// The longest agent name, in bytes.
pub const MAX_AGENT: usize = 200;
/// The longest rationale or note, in bytes.
pub const MAX_TEXT: usize = 32 * 1024;
/// The most places that one finding may point at.
pub const MAX_EVIDENCE: usize = 500;

/// A reviewer's claim. Built only through [`Claim::new`], which checks the ledger's limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    level: Level,
    title: String,
    agent: String,
    evidence: Vec<Evidence>,
    rationale: String,
    id: Option<FindingId>,
}

/// Why a claim cannot be recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// Nothing to show.
    #[error("a finding needs a title: say in a few words what is wrong")]
    NoTitle,
    /// Too much to show.
    #[error(
        "the {what} is {size} bytes long, {most} are allowed: shorten it and point to details as evidence"
    )]
    TooLong {
        /// The part.
        what: &'static str,
        /// Its length.
        size: usize,
        /// The limit.
        most: usize,
    },
    /// Too many places.
    #[error("the finding points at {0} places, {MAX_EVIDENCE} are allowed: record one finding per file")]
    TooMuchEvidence(usize),
}

impl Claim {
    /// A claim by `agent`, without evidence.
    ///
    /// # Errors
    /// When title or agent are empty or too long. An unnamed agent is fine.
    pub fn new(level: Level, title: impl Into<String>, agent: impl Into<String>) -> Result<Self, ClaimError> {
        let (title, agent) = (title.into(), agent.into());
        if title.trim().is_empty() {
            return Err(ClaimError::NoTitle);
        }
        within("title", &title, MAX_TITLE)?;
        within("agent", &agent, MAX_AGENT)?;
        Ok(Self { level, title, agent, evidence: Vec::new(), rationale: String::new(), id: None })
    }

    /// The same with these places. Those that point nowhere are left out.
    ///
    /// # Errors
    /// When there are too many, or a note is too long.
    pub fn with_evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Result<Self, ClaimError> {
        self.evidence.extend(evidence.into_iter().filter(Evidence::points_somewhere));
        if self.evidence.len() > MAX_EVIDENCE {
            return Err(ClaimError::TooMuchEvidence(self.evidence.len()));
        }
        for place in &self.evidence {
            within("file name", &place.file, MAX_TEXT)?;
            within("note", &place.note, MAX_TEXT)?;
        }
        Ok(self)
    }

    /// The same with a reason.
    ///
    /// # Errors
    /// When it is too long.
    pub fn with_rationale(mut self, rationale: impl Into<String>) -> Result<Self, ClaimError> {
        self.rationale = rationale.into();
        within("rationale", &self.rationale, MAX_TEXT)?;
        Ok(self)
    }

    /// The same with the existing text of a finding. A rationale is added if it has none.
    #[must_use]
    pub(crate) fn in_words_of(mut self, known: &Finding) -> Self {
        self.title.clone_from(&known.title);
        if !known.rationale.is_empty() {
            self.rationale.clone_from(&known.rationale);
        }
        self
    }

    /// The same by another agent.
    #[must_use]
    pub fn by(mut self, agent: &str) -> Self {
        agent.clone_into(&mut self.agent);
        self
    }

    /// The same under an id of the caller's choice.
    #[must_use]
    pub fn with_id(mut self, id: Option<FindingId>) -> Self {
        self.id = id;
        self
    }

    /// The level.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// The title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The reviewer.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The evidence.
    #[must_use]
    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }

    /// The rationale.
    #[must_use]
    pub fn rationale(&self) -> &str {
        &self.rationale
    }

    /// The id that the caller chose.
    #[must_use]
    pub fn id(&self) -> Option<&FindingId> {
        self.id.as_ref()
    }

    /// The file of the first evidence, or nothing.
    #[must_use]
    pub fn location(&self) -> &str {
        self.evidence.first().map_or("", Evidence::path)
    }

    /// Which finding this is. See [`identity`].
    #[must_use]
    pub fn identity(&self) -> Digest {
        identity(&self.agent, &self.title, self.location())
    }

    /// The default id. A longer one is used if it collides with another finding's.
    #[must_use]
    pub fn default_id(&self) -> FindingId {
        FindingId::shortest(&self.identity())
    }

    pub(crate) fn evidence_mut(&mut self) -> &mut Vec<Evidence> {
        &mut self.evidence
    }

    /// The same, redacted.
    #[must_use]
    pub(crate) fn redacted(mut self, redactor: &dyn Redact) -> Self {
        for part in [&mut self.title, &mut self.agent, &mut self.rationale] {
            redact::text(part, redactor);
        }
        self.evidence.iter_mut().for_each(|place| place.redact(redactor));
        self
    }

    /// The same, as bad as that.
    #[must_use]
    pub(crate) fn at_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Merges claims into one per finding: claims of the same identity (or chosen id) become one with the worst
    /// level and all places, so that a linter with one report per line does not overwrite itself. If there are
    /// more places than a finding may have, several findings result, so that no place is lost.
    #[must_use]
    pub fn coalesce(claims: Vec<Self>) -> Vec<Self> {
        let mut whole: Vec<Self> = Vec::with_capacity(claims.len());
        let mut indexes = HashMap::new();
        let mut known: HashMap<usize, HashSet<Evidence>> = HashMap::new();
        for claim in claims {
            let index = *indexes.entry((claim.id.clone(), claim.identity())).or_insert(whole.len());
            let Some(earlier) = whole.get_mut(index) else {
                whole.push(claim);
                continue;
            };
            let known = known.entry(index).or_insert_with(|| earlier.evidence.iter().cloned().collect());
            earlier.level = earlier.level.max(claim.level);
            earlier.evidence.extend(claim.evidence.into_iter().filter(|place| known.insert(place.clone())));
            if earlier.rationale.is_empty() {
                earlier.rationale = claim.rationale;
            }
        }
        whole.into_iter().flat_map(Self::in_parts).collect()
    }

    /// The same, split into findings with a bounded number of places. The titles of later parts are numbered,
    /// which makes them separate findings.
    fn in_parts(mut self) -> Vec<Self> {
        if self.evidence.len() <= MAX_EVIDENCE {
            return vec![self];
        }
        let places = std::mem::take(&mut self.evidence);
        let parts = places.chunks(MAX_EVIDENCE).enumerate();
        parts
            .map(|(index, places)| {
                let mut part = Self { evidence: places.to_vec(), ..self.clone() };
                if index > 0 {
                    let mark = format!(" (part {})", index + 1);
                    part.title = shortened(&part.title, MAX_TITLE.saturating_sub(mark.len())) + &mark;
                    part.id = None;
                }
                part
            })
            .collect()
    }
}

/// A prefix of the text with at most `most` bytes.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let mut size = 0;
    text.chars()
        .take_while(|character| {
            size += character.len_utf8();
            size <= most
        })
        .collect()
}

fn within(what: &'static str, text: &str, most: usize) -> Result<(), ClaimError> {
    if text.len() > most { Err(ClaimError::TooLong { what, size: text.len(), most }) } else { Ok(()) }
}

/// A claim in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Its name inside its plan.
    pub id: FindingId,
    /// The level.
    pub level: Level,
    /// The title.
    pub title: String,
    /// Who reported it first.
    pub agent: String,
    /// The evidence.
    pub evidence: Vec<Evidence>,
    /// The rationale.
    pub rationale: String,
    /// When it was first seen.
    pub created_at: Timestamp,
    /// When it was last reported or ruled on.
    pub updated_at: Timestamp,
    /// Its disposition.
    pub disposition: Disposition,
}

impl Finding {
    /// Whether it counts for its plan's level.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.disposition.is_open()
    }

    /// Which finding this is. See [`identity`].
    #[must_use]
    pub fn identity(&self) -> Digest {
        identity(&self.agent, &self.title, self.evidence.first().map_or("", Evidence::path))
    }
}

/// The disposition of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Disposition {
    /// No ruling yet.
    Open,
    /// A person has seen it. It still counts.
    Acknowledged(Ruling),
    /// It was repaired or withdrawn.
    Fixed(Ruling),
    /// It was wrong.
    FalsePositive(Ruling),
    /// It is correct, and a person accepts the risk.
    AcceptedRisk(Ruling),
}

/// Who ruled on a finding, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// The person.
    pub by: String,
    /// The reason.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The time.
    pub at: Timestamp,
    /// Until when it holds; without end when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

impl Disposition {
    /// Whether a finding with it counts for its plan's level.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open | Self::Acknowledged(_))
    }

    /// Whether it is a waiver, which outlives its plan.
    #[must_use]
    pub fn is_waiver(&self) -> bool {
        matches!(self, Self::FalsePositive(_) | Self::AcceptedRisk(_))
    }

    /// The name that is printed and stored.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Acknowledged(_) => "acknowledged",
            Self::Fixed(_) => "fixed",
            Self::FalsePositive(_) => "false-positive",
            Self::AcceptedRisk(_) => "accepted-risk",
        }
    }

    /// The ruling, if there is one.
    #[must_use]
    pub fn ruling(&self) -> Option<&Ruling> {
        match self {
            Self::Open => None,
            Self::Acknowledged(ruling)
            | Self::Fixed(ruling)
            | Self::FalsePositive(ruling)
            | Self::AcceptedRisk(ruling) => Some(ruling),
        }
    }
}
