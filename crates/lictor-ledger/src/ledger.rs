//! The ledger: findings, plans, attestations and gate decisions of one repository, kept in a [`Store`].
//!
//! Every change is one event in the log and one change of the projection, in one transaction that is durable
//! before it is acknowledged. Nothing is ever removed: clearing and waiving are events too.

mod error;
mod event;
mod invitation;
mod read;
mod redacted;
mod rows;
mod summons;
mod verify;

#[cfg(test)]
mod tests;

use std::fmt;

use lictor_core::{Clock, Digest, Redact, Secrets, Timestamp};
use lictor_store::{Buffered, Draft, Durability, Keys, Space, Store, StoreExt as _, Transaction, View};

pub use error::LedgerError;
pub use event::{Change, KINDS, Step};
pub use invitation::{Invitation, TOKEN_LASTS_MS};
pub use read::Recent;
pub use rows::Watch;
pub use summons::{Answer, Summons};
pub use verify::Disagreement;

use crate::council::Attestation;
use crate::finding::{Claim, Disposition, Finding, Ruling};
use crate::gate::{Bypass, Judgement};
use crate::identity::{FindingId, PlanHash};
use crate::level::Level;
use event::{Event, Opened, Regraded, Reopened, Report, Ruled};
use rows::{Rows, apply, get};

/// The repository of a ledger: a fingerprint of its common git directory, or of the project directory when there
/// is no git. Two repositories in one store never see each other's findings.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RepositoryId(String);

impl RepositoryId {
    /// The id of the repository whose common git directory (or project directory) has this canonical path.
    #[must_use]
    pub fn of(canonical: &std::path::Path) -> Self {
        let digest =
            Digest::of_parts([b"lictor repository 1".as_slice(), canonical.as_os_str().as_encoded_bytes()]);
        Self(digest.to_string().chars().take(16).collect())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepositoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A report that is durably recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The id that the finding has.
    pub id: FindingId,
    /// The change.
    pub change: Change,
    /// Whether it counts, or was waived before.
    pub open: bool,
    /// The recorded level: higher than the claim's if the claim was not allowed to lower it.
    pub level: Level,
    /// Whether the claim had another title or rationale than the known finding, which keeps its own.
    pub words_kept: bool,
}

/// The source of a report, which determines whether it may lower a finding's level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    /// Any caller of a command. A name in a claim proves nothing.
    Anybody,
    /// A reviewer that a council started: it may lower its own findings.
    Reviewer,
}

/// How a person rules on a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Seen; still counts.
    Acknowledge,
    /// Repaired or withdrawn.
    Fixed,
    /// Wrong.
    FalsePositive,
    /// It is correct, and a person accepts the risk.
    AcceptRisk,
    /// Counts again; ends a waiver.
    Reopen,
}

/// The findings of one repository.
#[derive(Clone, Copy)]
pub struct Ledger<'a> {
    store: &'a dyn Store,
    repository: &'a RepositoryId,
    clock: &'a dyn Clock,
    redactor: &'a dyn Redact,
}

impl fmt::Debug for Ledger<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("repository", self.repository).finish_non_exhaustive()
    }
}

impl<'a> Ledger<'a> {
    /// The ledger of one repository in a store.
    #[must_use]
    pub fn new(store: &'a dyn Store, repository: &'a RepositoryId, clock: &'a dyn Clock) -> Self {
        Self { store, repository, clock, redactor: &Secrets }
    }

    /// The same ledger with this redactor instead of [`Secrets`].
    #[must_use]
    pub fn redacting(self, redactor: &'a dyn Redact) -> Self {
        Self { redactor, ..self }
    }

    /// The redactor.
    pub(crate) fn redactor(&self) -> &'a dyn Redact {
        self.redactor
    }

    /// The time by this ledger's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The repository.
    #[must_use]
    pub fn repository(&self) -> &RepositoryId {
        self.repository
    }

    fn rows(&self) -> Rows<'a> {
        Rows(self.repository)
    }

    /// Records one claim. Returns only after it is durable. This does not lower the level of a known finding: see
    /// [`lower`](Self::lower) for people and [`attest`](Self::attest) for reviewers.
    ///
    /// # Errors
    /// When the store fails.
    pub fn record(&self, plan: &PlanHash, claim: &Claim) -> Result<Recorded, LedgerError> {
        self.change(|tx| self.report(tx, plan, claim, Speaker::Anybody))
    }

    /// Records many claims at once: all or none.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub fn record_all(&self, plan: &PlanHash, claims: &[Claim]) -> Result<Vec<Recorded>, LedgerError> {
        self.change(|tx| claims.iter().map(|claim| self.report(tx, plan, claim, Speaker::Anybody)).collect())
    }

    fn report(
        &self,
        tx: &mut dyn Transaction,
        plan: &PlanHash,
        claim: &Claim,
        speaker: Speaker,
    ) -> Result<Recorded, LedgerError> {
        let claim = &claim.clone().redacted(self.redactor);
        let (id, old) = self.place(tx, plan, claim)?;
        let may_lower = |old: &Finding| speaker == Speaker::Reviewer && old.agent == claim.agent();
        // Rewording a finding could make it look harmless to its reader.
        let known = old.as_ref().filter(|_| speaker == Speaker::Anybody);
        let words_kept = known.is_some_and(|old| says_otherwise(old, claim));
        let claim = &known.map_or_else(|| claim.clone(), |old| claim.clone().in_words_of(old));
        let (report, change) = match (&old, change_of(old.as_ref(), claim)) {
            // The existing finding stays unchanged, including its evidence: moving the evidence could also make
            // it ineffective.
            (Some(old), Change::Lowered) if !may_lower(old) => {
                (Report::again(plan, old, claim), Change::Kept)
            }
            (Some(old), change) if speaker == Speaker::Anybody && change != Change::Reopened => {
                (Report::of(plan, &id, claim).beside(old), change)
            }
            (_, change) => (Report::of(plan, &id, claim), change),
        };
        let level = report.level;
        self.append(tx, Event::Reported(report, change))?;
        let open = self.finding_in(tx, plan, &id)?.is_some_and(|finding| finding.is_open());
        Ok(Recorded { id, change, open, level, words_kept })
    }

    /// Which finding a claim refers to: the chosen id; else the finding of the same identity; else, when one of
    /// the two points nowhere, the only finding of the same agent and title.
    fn place(
        &self,
        tx: &dyn Transaction,
        plan: &PlanHash,
        claim: &Claim,
    ) -> Result<(FindingId, Option<Finding>), LedgerError> {
        if let Some(id) = claim.id() {
            return Ok((id.clone(), self.finding_in(tx, plan, id)?));
        }
        let mut free = None;
        for id in FindingId::candidates(&claim.identity()) {
            match self.finding_in(tx, plan, &id)? {
                Some(old) if old.identity() == claim.identity() => return Ok((id, Some(old))),
                Some(_) => {}
                None => {
                    free = Some(id);
                    break;
                }
            }
        }
        let named = Keys::prefix(self.rows().titled_so(plan, claim.agent(), claim.title())).limit(2);
        let entries = tx.scan(Space::Finding, &named)?;
        if let [(key, _)] = entries.as_slice() {
            let skip = plan.as_str().len() + 1 + 32 + 1 + self.repository.as_str().len();
            let id =
                key.get(skip..).and_then(|id| std::str::from_utf8(id).ok()).and_then(|id| id.parse().ok());
            if let Some(id) = id
                && let Some(old) = self.finding_in(tx, plan, &id)?
                && (claim.location().is_empty() || old.evidence.is_empty())
            {
                return Ok((id, Some(old)));
            }
        }
        free.map(|id| (id, None))
            .ok_or_else(|| LedgerError::corrupt("a finding's id", &"all of its forms are taken"))
    }

    /// Clears a finding, so that it no longer counts for its plan's level: `None` when the plan has no such
    /// finding, or when it was closed before.
    ///
    /// # Errors
    /// When the store fails, the plan is unknown, or the id matches several findings.
    pub fn clear(
        &self,
        plan: &str,
        id: &str,
        by: &str,
        reason: &str,
    ) -> Result<Option<FindingId>, LedgerError> {
        self.change(|tx| {
            let plan = self.find_plan_in(tx, plan)?;
            let Some(finding) = self.find_in(tx, &plan, id)? else { return Ok(None) };
            if matches!(finding.disposition, Disposition::Fixed(_)) {
                return Ok(None);
            }
            let ruling = Ruling { by: by.to_owned(), reason: reason.to_owned(), at: self.now(), until: None };
            let ruled = Ruled { plan, id: finding.id.clone(), disposition: Disposition::Fixed(ruling) };
            self.append(tx, Event::Cleared(ruled))?;
            Ok(Some(finding.id))
        })
    }

    /// Rules on a finding. A waiver needs a reason and a person who is not the finding's author.
    ///
    /// # Errors
    /// When the store fails, plan or finding are unknown or ambiguous, or the ruling has no accountable person.
    pub fn rule(
        &self,
        plan: &str,
        id: &str,
        verb: Verb,
        by: &str,
        reason: &str,
        until: Option<Timestamp>,
    ) -> Result<Finding, LedgerError> {
        let at = self.now();
        if by.trim().is_empty() {
            return Err(LedgerError::Unaccountable("ruling", "somebody who answers for it (`--by NAME`)"));
        }
        let waiver = matches!(verb, Verb::FalsePositive | Verb::AcceptRisk);
        if waiver && reason.trim().is_empty() {
            return Err(LedgerError::Unaccountable("waiver", "a reason (`--reason TEXT`)"));
        }
        if until.is_some_and(|until| until <= at) {
            return Err(LedgerError::EndsInThePast);
        }
        self.change(|tx| {
            let plan = self.find_plan_in(tx, plan)?;
            let Some(finding) = self.find_in(tx, &plan, id)? else {
                return Err(LedgerError::NoFinding { plan, id: id.to_owned() });
            };
            if waiver && finding.agent == self.redactor.redact(by) {
                return Err(LedgerError::OwnFinding { id: finding.id, by: by.to_owned() });
            }
            let ruling =
                Ruling { by: by.to_owned(), reason: reason.to_owned(), at, until: until.filter(|_| waiver) };
            let id = finding.id;
            let event = |disposition| Event::Ruled(Ruled { plan: plan.clone(), id: id.clone(), disposition });
            let event = match verb {
                Verb::Acknowledge => event(Disposition::Acknowledged(ruling)),
                Verb::FalsePositive => event(Disposition::FalsePositive(ruling)),
                Verb::AcceptRisk => event(Disposition::AcceptedRisk(ruling)),
                Verb::Fixed => Event::Cleared(Ruled {
                    plan: plan.clone(),
                    id: id.clone(),
                    disposition: Disposition::Fixed(ruling),
                }),
                Verb::Reopen => Event::Reopened(Reopened {
                    plan: plan.clone(),
                    id: id.clone(),
                    by: ruling.by,
                    reason: ruling.reason,
                }),
            };
            self.append(tx, event)?;
            self.finding_in(tx, &plan, &id)?.ok_or_else(|| LedgerError::corrupt("a finding", &"it is gone"))
        })
    }

    /// Lowers a finding's level on behalf of a person. `None` when it is not higher already.
    ///
    /// # Errors
    /// When the store fails, plan or finding are unknown or ambiguous, or there is no accountable person.
    pub fn lower(
        &self,
        plan: &str,
        id: &str,
        level: Level,
        by: &str,
        reason: &str,
    ) -> Result<Option<Finding>, LedgerError> {
        if by.trim().is_empty() {
            return Err(LedgerError::Unaccountable(
                "lower level",
                "somebody who answers for it (`--by NAME`)",
            ));
        }
        if reason.trim().is_empty() {
            return Err(LedgerError::Unaccountable("lower level", "a reason (`--reason TEXT`)"));
        }
        self.change(|tx| {
            let plan = self.find_plan_in(tx, plan)?;
            let Some(finding) = self.find_in(tx, &plan, id)? else {
                return Err(LedgerError::NoFinding { plan, id: id.to_owned() });
            };
            if finding.level <= level {
                return Ok(None);
            }
            if finding.agent == self.redactor.redact(by) {
                return Err(LedgerError::OwnFinding { id: finding.id, by: by.to_owned() });
            }
            let (id, by, reason) = (finding.id, by.to_owned(), reason.to_owned());
            let event = Regraded { plan: plan.clone(), id: id.clone(), level, by, reason };
            self.append(tx, Event::Regraded(event))?;
            self.finding_in(tx, &plan, &id)
        })
    }

    /// The attestation of a plan; `None` when the council has not run.
    ///
    /// # Errors
    /// When the store fails.
    pub fn attestation(&self, plan: &PlanHash) -> Result<Option<Attestation>, LedgerError> {
        self.look(|view| get(view, Space::Council, &self.rows().attestation(plan), "an attestation"))
    }

    /// Records that a council is about to review a tree.
    ///
    /// # Errors
    /// When the store fails.
    pub fn open_plan(
        &self,
        plan: &PlanHash,
        council: &str,
        tree: &str,
        files: usize,
    ) -> Result<(), LedgerError> {
        let opened = Opened { plan: plan.clone(), council: council.to_owned(), tree: tree.to_owned(), files };
        self.change(|tx| self.append(tx, Event::Opened(opened)))
    }

    /// Records a council's findings and attestation in one transaction. A reviewer may lower its own findings.
    ///
    /// # Errors
    /// When the store fails.
    pub fn attest(&self, attestation: Attestation, claims: &[Claim]) -> Result<Vec<Recorded>, LedgerError> {
        self.change(|tx| {
            let report = |claim| self.report(tx, &attestation.plan, claim, Speaker::Reviewer);
            let recorded = claims.iter().map(report).collect();
            self.append(tx, Event::Attested(attestation))?;
            recorded
        })
    }

    /// The gate's last judgement of a tree.
    ///
    /// # Errors
    /// When the store fails.
    pub fn judgement(&self, tree: &str) -> Result<Option<Judgement>, LedgerError> {
        self.look(|view| get(view, Space::Council, &self.rows().judgement(tree), "a gate's judgement"))
    }

    /// Records the gate's judgement of a tree.
    ///
    /// # Errors
    /// When the store fails.
    pub fn judge(&self, judgement: Judgement) -> Result<(), LedgerError> {
        self.change(|tx| self.append(tx, Event::Judged(judgement)))
    }

    /// The bypass of a commit, if there is one.
    ///
    /// # Errors
    /// When the store fails.
    pub fn bypass(&self, commit: &str) -> Result<Option<Bypass>, LedgerError> {
        self.look(|view| get(view, Space::Council, &self.rows().bypass(commit), "a bypass"))
    }

    /// Records commits that bypassed the gate. Known ones are skipped.
    ///
    /// # Errors
    /// When the store fails.
    pub fn note_bypasses(&self, bypasses: Vec<Bypass>) -> Result<(), LedgerError> {
        if bypasses.is_empty() {
            return Ok(());
        }
        self.change(|tx| {
            for bypass in bypasses {
                let known =
                    get::<Bypass>(tx, Space::Council, &self.rows().bypass(&bypass.commit), "a bypass")?;
                if known.is_none() {
                    self.append(tx, Event::Bypassed(bypass))?;
                }
            }
            Ok(())
        })
    }

    /// Reopens findings whose waiver has expired.
    fn end_waivers(&self) -> Result<(), LedgerError> {
        let ended = self.rows().ended(self.now());
        let due = self.look(|view| Ok(!view.scan(Space::Finding, &ended.clone().limit(1))?.is_empty()))?;
        if !due {
            return Ok(());
        }
        self.change(|tx| {
            for (key, _) in tx.scan(Space::Finding, &ended.clone().limit(usize::MAX))? {
                let (plan, id) = self
                    .rows()
                    .plan_and_id(&key, 8)
                    .ok_or_else(|| LedgerError::corrupt("the list of waivers", &"a name is not one"))?;
                let reopened =
                    Reopened { plan, id, by: "lictor".to_owned(), reason: "the waiver has ended".to_owned() };
                self.append(tx, Event::Reopened(reopened))?;
            }
            Ok(())
        })
    }

    fn append(&self, tx: &mut dyn Transaction, event: Event) -> Result<(), LedgerError> {
        let at = self.now();
        let event = event.redacted(self.redactor);
        let record = tx.append(Draft {
            at,
            session: None,
            kind: event.kind().to_owned(),
            body: event.body(self.repository.as_str())?,
        })?;
        apply(tx, self.rows(), record.seq, at, &event)
    }

    fn change<T>(
        &self,
        f: impl FnOnce(&mut dyn Transaction) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.store.try_update(Durability::Power, |tx| {
            let mut buffered = Buffered::new(tx);
            let value = f(&mut buffered)?;
            buffered.finish()?;
            Ok(value)
        })
    }

    fn look<T>(&self, f: impl FnOnce(&dyn View) -> Result<T, LedgerError>) -> Result<T, LedgerError> {
        self.store.view(|view| Ok(f(view)))?
    }
}

/// Whether a claim has another text than the finding. A rationale may be added if there was none.
fn says_otherwise(old: &Finding, claim: &Claim) -> bool {
    let rationale = claim.rationale();
    claim.title() != old.title
        || !rationale.is_empty() && !old.rationale.is_empty() && rationale != old.rationale
}

/// How a claim changes an existing finding.
fn change_of(old: Option<&Finding>, claim: &Claim) -> Change {
    let Some(old) = old else { return Change::New };
    if matches!(old.disposition, Disposition::Fixed(_)) {
        return Change::Reopened;
    }
    match claim.level().cmp(&old.level) {
        std::cmp::Ordering::Greater => Change::Raised,
        std::cmp::Ordering::Less => Change::Lowered,
        std::cmp::Ordering::Equal => {
            let same = (claim.evidence().is_empty() || claim.evidence() == old.evidence)
                && (claim.rationale().is_empty() || claim.rationale() == old.rationale)
                && claim.title() == old.title;
            if same { Change::Confirmed } else { Change::Refined }
        }
    }
}
