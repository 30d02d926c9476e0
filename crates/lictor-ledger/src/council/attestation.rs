//! Who reported, and how.

use serde::{Deserialize, Serialize};

use crate::identity::PlanHash;

/// The attestation that a council reviewed a plan: one entry for each required reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attestation {
    /// The plan.
    pub plan: PlanHash,
    /// The council.
    pub council: String,
    /// The reviewed tree.
    pub tree: String,
    /// The reviewed files.
    pub files: Vec<String>,
    /// What each reviewer did.
    pub reviewers: Vec<Reported>,
}

/// What one reviewer did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    /// The reviewer.
    pub name: String,
    /// The state.
    #[serde(flatten)]
    pub state: State,
    /// How long it took.
    pub millis: u64,
}

/// How a reviewer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum State {
    /// It looked and found nothing.
    Clean,
    /// It looked and found something.
    Findings {
        /// The number.
        count: usize,
    },
    /// It had nothing to do, or its tool is not installed.
    Skipped {
        /// The reason.
        why: String,
    },
    /// It failed, or its output made no sense.
    Error {
        /// The reason.
        why: String,
    },
    /// It did not end in time and was stopped.
    Timeout {
        /// Its timeout.
        after_millis: u64,
    },
    /// It succeeded but gave no report although one was required.
    Missing,
}

impl State {
    /// Whether the review took place, or was not needed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Clean | Self::Findings { .. } | Self::Skipped { .. })
    }

    /// Whether the reviewer reviewed the files.
    #[must_use]
    pub fn looked(&self) -> bool {
        matches!(self, Self::Clean | Self::Findings { .. })
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Clean => f.write_str("clean"),
            Self::Findings { count } => write!(f, "{count} finding(s)"),
            Self::Skipped { why } => write!(f, "skipped: {why}"),
            Self::Error { why } => write!(f, "error: {why}"),
            Self::Timeout { after_millis } => {
                write!(f, "stopped after {}.{:03} s", after_millis / 1000, after_millis % 1000)
            }
            Self::Missing => f.write_str("no report"),
        }
    }
}

impl Attestation {
    /// Whether every reviewer reported or was not needed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.reviewers.iter().all(|reviewer| reviewer.state.is_complete())
    }

    /// Whether this reviewer reviewed all these files.
    pub(crate) fn covers<'a>(&self, reviewer: &str, mut files: impl Iterator<Item = &'a str>) -> bool {
        self.reviewers.iter().any(|reported| reported.name == reviewer && reported.state.looked())
            && files.all(|file| self.files.iter().any(|known| known == file))
    }
}
