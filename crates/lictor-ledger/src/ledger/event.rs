//! The ledger's log events. State is a fold of these.

use std::collections::HashSet;

use lictor_core::{Digest, Timestamp};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::council::{Attestation, State};
use crate::evidence::Evidence;
use crate::finding::{Claim, Disposition, Finding, MAX_EVIDENCE};
use crate::gate::{Bypass, Judgement};
use crate::identity::{FindingId, PlanHash};
use crate::ledger::LedgerError;
use crate::level::Level;

/// How a report changed the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The finding was not known.
    New,
    /// It got worse.
    Raised,
    /// It got less bad.
    Lowered,
    /// Title, evidence or rationale changed.
    Refined,
    /// Nothing changed; it was seen again.
    Confirmed,
    /// It had been closed and is open again.
    Reopened,
    /// A lower level was reported by a source that may not lower it; it stays as it was.
    Kept,
}

impl Change {
    fn kind(self) -> &'static str {
        match self {
            Self::New => "finding.recorded",
            Self::Raised => "finding.raised",
            Self::Lowered => "finding.lowered",
            Self::Refined => "finding.refined",
            Self::Confirmed => "finding.confirmed",
            Self::Reopened => "finding.reported-again",
            Self::Kept => "finding.kept",
        }
    }
}

/// A reviewer's report about one finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) plan: PlanHash,
    pub(crate) id: FindingId,
    pub(crate) level: Level,
    pub(crate) title: String,
    pub(crate) agent: String,
    #[serde(default)]
    pub(crate) evidence: Vec<Evidence>,
    #[serde(default)]
    pub(crate) rationale: String,
    /// The lower level that was claimed in vain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) claimed: Option<Level>,
}

impl Report {
    /// The report of a claim.
    pub(crate) fn of(plan: &PlanHash, id: &FindingId, claim: &Claim) -> Self {
        Self {
            plan: plan.clone(),
            id: id.clone(),
            level: claim.level(),
            title: claim.title().to_owned(),
            agent: claim.agent().to_owned(),
            evidence: claim.evidence().to_vec(),
            rationale: claim.rationale().to_owned(),
            claimed: None,
        }
    }

    /// The same with the earlier places of the finding: it counts as long as one of them exists, so removing a
    /// place could disable the finding.
    pub(crate) fn beside(mut self, old: &Finding) -> Self {
        if !self.evidence.is_empty() {
            let new = std::mem::take(&mut self.evidence);
            let place = |at: &Evidence| (at.file.clone(), at.line, at.bound.clone());
            let known: HashSet<_> = old.evidence.iter().map(place).collect();
            let more = new.into_iter().filter(|at| !known.contains(&place(at)));
            self.evidence = old.evidence.iter().cloned().chain(more).take(MAX_EVIDENCE).collect();
        }
        self
    }

    /// An unchanged finding that a claim tried to lower.
    pub(crate) fn again(plan: &PlanHash, old: &Finding, claim: &Claim) -> Self {
        Self {
            plan: plan.clone(),
            id: old.id.clone(),
            level: old.level,
            title: old.title.clone(),
            agent: claim.agent().to_owned(),
            evidence: Vec::new(),
            rationale: String::new(),
            claimed: Some(claim.level()),
        }
    }
}

/// A person's decision to lower a finding's level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Regraded {
    pub(crate) plan: PlanHash,
    pub(crate) id: FindingId,
    pub(crate) level: Level,
    pub(crate) by: String,
    pub(crate) reason: String,
}

/// A person's ruling on one finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ruled {
    pub(crate) plan: PlanHash,
    pub(crate) id: FindingId,
    pub(crate) disposition: Disposition,
}

/// A closed finding that counts again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reopened {
    pub(crate) plan: PlanHash,
    pub(crate) id: FindingId,
    pub(crate) by: String,
    pub(crate) reason: String,
}

/// A council is about to look at a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opened {
    pub(crate) plan: PlanHash,
    pub(crate) council: String,
    pub(crate) tree: String,
    pub(crate) files: usize,
}

/// A reviewer was given a plan and a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Invited {
    pub(crate) plan: PlanHash,
    pub(crate) reviewer: String,
    /// The digest of the token.
    pub(crate) token: Digest,
    pub(crate) expires: Timestamp,
}

/// A reviewer reported on a plan by its token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Heard {
    pub(crate) plan: PlanHash,
    pub(crate) reviewer: String,
    #[serde(flatten)]
    pub(crate) state: State,
}

/// A plan was removed from the lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Purged {
    pub(crate) plan: PlanHash,
    pub(crate) by: String,
    #[serde(default)]
    pub(crate) reason: String,
}

/// A council is called for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Summoned {
    pub(crate) council: String,
    pub(crate) moment: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) saved: Vec<String>,
}

/// All summons of a council up to this position in the log are settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answered {
    pub(crate) council: String,
    pub(crate) up_to: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) plan: Option<PlanHash>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) why: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    Reported(Report, Change),
    Cleared(Ruled),
    Ruled(Ruled),
    Reopened(Reopened),
    Regraded(Regraded),
    Opened(Opened),
    Invited(Invited),
    Heard(Heard),
    Purged(Purged),
    Summoned(Summoned),
    Answered(Answered),
    Attested(Attestation),
    Judged(Judgement),
    Bypassed(Bypass),
}

/// The body of a record: the event and the repository it is about.
#[derive(Serialize, Deserialize)]
struct Body<T> {
    repository: String,
    #[serde(flatten)]
    event: T,
}

/// The kinds of all records that the ledger writes.
pub const KINDS: &[&str] = &[
    "council.answered",
    "council.attested",
    "council.summoned",
    "finding.acknowledged",
    "finding.cleared",
    "finding.confirmed",
    "finding.kept",
    "finding.lowered",
    "finding.raised",
    "finding.recorded",
    "finding.refined",
    "finding.regraded",
    "finding.reopened",
    "finding.reported-again",
    "finding.waived",
    "gate.bypassed",
    "gate.judged",
    "plan.opened",
    "plan.purged",
    "reviewer.invited",
    "reviewer.reported",
];

impl Event {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Reported(_, change) => change.kind(),
            Self::Cleared(_) => "finding.cleared",
            Self::Ruled(ruled) => match ruled.disposition {
                Disposition::Acknowledged(_) => "finding.acknowledged",
                _ => "finding.waived",
            },
            Self::Reopened(_) => "finding.reopened",
            Self::Regraded(_) => "finding.regraded",
            Self::Opened(_) => "plan.opened",
            Self::Invited(_) => "reviewer.invited",
            Self::Heard(_) => "reviewer.reported",
            Self::Purged(_) => "plan.purged",
            Self::Summoned(_) => "council.summoned",
            Self::Answered(_) => "council.answered",
            Self::Attested(_) => "council.attested",
            Self::Judged(_) => "gate.judged",
            Self::Bypassed(_) => "gate.bypassed",
        }
    }

    pub(crate) fn body(&self, repository: &str) -> Result<String, LedgerError> {
        match self {
            Self::Reported(report, _) => body(repository, report),
            Self::Cleared(ruled) | Self::Ruled(ruled) => body(repository, ruled),
            Self::Reopened(reopened) => body(repository, reopened),
            Self::Regraded(regraded) => body(repository, regraded),
            Self::Opened(opened) => body(repository, opened),
            Self::Invited(invited) => body(repository, invited),
            Self::Heard(heard) => body(repository, heard),
            Self::Purged(purged) => body(repository, purged),
            Self::Summoned(summoned) => body(repository, summoned),
            Self::Answered(answered) => body(repository, answered),
            Self::Attested(attestation) => body(repository, attestation),
            Self::Judged(judgement) => body(repository, judgement),
            Self::Bypassed(bypass) => body(repository, bypass),
        }
    }

    /// The event of a record, with its repository. `None` for records of other layers.
    pub(crate) fn read(kind: &str, body: &str) -> Result<Option<(String, Self)>, LedgerError> {
        let reported =
            |change| parse(body).map(|(repository, report)| (repository, Self::Reported(report, change)));
        Ok(Some(match kind {
            "finding.recorded" => reported(Change::New)?,
            "finding.raised" => reported(Change::Raised)?,
            "finding.lowered" => reported(Change::Lowered)?,
            "finding.refined" => reported(Change::Refined)?,
            "finding.confirmed" => reported(Change::Confirmed)?,
            "finding.reported-again" => reported(Change::Reopened)?,
            "finding.kept" => reported(Change::Kept)?,
            "finding.cleared" => with(body, Self::Cleared)?,
            "finding.acknowledged" | "finding.waived" => with(body, Self::Ruled)?,
            "finding.reopened" => with(body, Self::Reopened)?,
            "finding.regraded" => with(body, Self::Regraded)?,
            "plan.opened" => with(body, Self::Opened)?,
            "reviewer.invited" => with(body, Self::Invited)?,
            "reviewer.reported" => with(body, Self::Heard)?,
            "plan.purged" => with(body, Self::Purged)?,
            "council.summoned" => with(body, Self::Summoned)?,
            "council.answered" => with(body, Self::Answered)?,
            "council.attested" => with(body, Self::Attested)?,
            "gate.judged" => with(body, Self::Judged)?,
            "gate.bypassed" => with(body, Self::Bypassed)?,
            _ => return Ok(None),
        }))
    }
}

fn body<T: Serialize>(repository: &str, event: &T) -> Result<String, LedgerError> {
    serde_json::to_string(&Body { repository: repository.to_owned(), event })
        .map_err(|error| LedgerError::corrupt("an event", &error))
}

fn parse<T: DeserializeOwned>(body: &str) -> Result<(String, T), LedgerError> {
    serde_json::from_str::<Body<T>>(body)
        .map(|body| (body.repository, body.event))
        .map_err(|error| LedgerError::corrupt("an event of the log", &error))
}

fn with<T: DeserializeOwned>(body: &str, event: fn(T) -> Event) -> Result<(String, Event), LedgerError> {
    parse(body).map(|(repository, value)| (repository, event(value)))
}

/// One step in a finding's life, as `show --json` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The time.
    pub at: Timestamp,
    /// The kind of the event without its first word (`recorded`, `raised`, `cleared`, …).
    pub what: String,
    /// The author.
    pub by: String,
    /// How bad the finding was afterwards.
    pub level: Level,
    /// The reason, if given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}
