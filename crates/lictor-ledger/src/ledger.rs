//! The ledger: findings, plans, attestations and gate decisions of one repository, kept in a [`Store`].
//!
//! Every change is one event in the log and one change of the projection, in one transaction that survives loss of
//! power before it is acknowledged. Nothing is ever removed: clearing and waiving are events too.

mod event;
mod rows;
mod verify;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;

use lictor_core::{Clock, Digest, Timestamp};
use lictor_store::{Draft, Durability, Keys, Space, Store, StoreError, StoreExt as _, Transaction, View};

pub use event::{Change, Step};
pub use rows::Watch;
pub use verify::Disagreement;

use crate::council::Attestation;
use crate::finding::{Claim, Disposition, Finding, Ruling};
use crate::gate::{Bypass, Judgement};
use crate::identity::{AMBIGUITY_SHOWN, Ambiguous, FindingId, PlanHash, resolve};
use crate::level::Level;
use crate::verdict::{PlanVerdict, Tally};
use event::{Event, Opened, Reopened, Report, Ruled};
use rows::{PlanRow, Rows, apply, decode, get};

/// Which repository a ledger is about: a fingerprint of its common git directory, or of the project directory when
/// there is no git. Two repositories in one store never see each other's findings.
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

/// Why the ledger could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something in the store cannot be read.
    #[error(
        "the record is damaged: {what} cannot be read ({detail}); run `lictor audit verify` to see where"
    )]
    Corrupt {
        /// What was being read.
        what: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// A shortened plan or id fits several.
    #[error(transparent)]
    Ambiguous(#[from] Ambiguous),
    /// There is no such plan.
    #[error("No verdict for plan {0}")]
    NoPlan(String),
    /// There is no such finding.
    #[error("no finding `{id}` in plan {plan}; `lictor verdict show --plan-hash {plan} --json` lists them")]
    NoFinding {
        /// The plan.
        plan: PlanHash,
        /// What was typed.
        id: String,
    },
    /// Somebody else's finding cannot be made harmless by reporting it again.
    #[error(
        "finding `{id}` was recorded by `{author}` as {level}; only that reviewer can lower it: record your own finding, or ask a person to run `lictor verdict waive --plan-hash {plan} --id {id}`"
    )]
    NotYours {
        /// The plan.
        plan: PlanHash,
        /// The finding.
        id: FindingId,
        /// Who recorded it.
        author: String,
        /// How bad it is.
        level: Level,
    },
    /// Authors do not judge their own findings.
    #[error("`{by}` recorded finding `{id}` and cannot waive it; somebody else has to (`--by NAME`)")]
    OwnFinding {
        /// The finding.
        id: FindingId,
        /// Who tried.
        by: String,
    },
    /// A ruling nobody answers for.
    #[error("a {0} needs {1}")]
    Unaccountable(&'static str, &'static str),
    /// A waiver that has already ended.
    #[error("the waiver would end in the past; give a time in the future (`--until 30d`)")]
    EndsInThePast,
}

impl LedgerError {
    pub(crate) fn corrupt(what: &'static str, detail: &dyn fmt::Display) -> Self {
        Self::Corrupt { what, detail: detail.to_string() }
    }
}

/// A report that is safe in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The id that the finding has.
    pub id: FindingId,
    /// What changed.
    pub change: Change,
    /// Whether it counts, or was waived before.
    pub open: bool,
}

/// A plan in the retrospective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recent {
    /// The plan.
    pub plan: PlanHash,
    /// Its open findings.
    pub tally: Tally,
    /// The council that opened it.
    pub council: Option<String>,
    /// When it began.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
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
    /// Right, and somebody answers for it.
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
        Self { store, repository, clock }
    }

    /// The time by this ledger's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Which repository.
    #[must_use]
    pub fn repository(&self) -> &RepositoryId {
        self.repository
    }

    fn rows(&self) -> Rows<'a> {
        Rows(self.repository)
    }

    /// Records one claim. Returns only after it is safe.
    ///
    /// # Errors
    /// When the store fails, or the claim would lower another reviewer's finding.
    pub fn record(&self, plan: &PlanHash, claim: &Claim) -> Result<Recorded, LedgerError> {
        self.change(|tx| self.report(tx, plan, claim))
    }

    /// Records many claims at once: all or none.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub fn record_all(&self, plan: &PlanHash, claims: &[Claim]) -> Result<Vec<Recorded>, LedgerError> {
        self.change(|tx| claims.iter().map(|claim| self.report(tx, plan, claim)).collect())
    }

    fn report(
        &self,
        tx: &mut dyn Transaction,
        plan: &PlanHash,
        claim: &Claim,
    ) -> Result<Recorded, LedgerError> {
        let (id, old) = self.place(tx, plan, claim)?;
        if let Some(old) = &old
            && old.agent != claim.agent()
            && claim.level() < old.level
            && old.is_open()
        {
            let (author, level) = (old.agent.clone(), old.level);
            return Err(LedgerError::NotYours { plan: plan.clone(), id, author, level });
        }
        let change = change_of(old.as_ref(), claim);
        let report = Report {
            plan: plan.clone(),
            id: id.clone(),
            level: claim.level(),
            title: claim.title().to_owned(),
            agent: claim.agent().to_owned(),
            evidence: claim.evidence().to_vec(),
            rationale: claim.rationale().to_owned(),
        };
        self.append(tx, &Event::Reported(report, change))?;
        let open = self.finding_in(tx, plan, &id)?.is_some_and(|finding| finding.is_open());
        Ok(Recorded { id, change, open })
    }

    /// Which finding a claim is about: the chosen id; else the finding of the same identity; else, when one of the
    /// two points nowhere, the only finding of the same agent and title.
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

    /// Takes a finding out of its plan's level: `None` when the plan has no such finding, or when it was closed before.
    ///
    /// # Errors
    /// When the store fails, the plan is unknown, or the id fits several findings.
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
            self.append(tx, &Event::Cleared(ruled))?;
            Ok(Some(finding.id))
        })
    }

    /// Rules on a finding. A waiver needs a reason and somebody who is not the finding's author.
    ///
    /// # Errors
    /// When the store fails, plan or finding are unknown or ambiguous, or nobody answers for the ruling.
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
            if waiver && finding.agent == by {
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
            self.append(tx, &event)?;
            self.finding_in(tx, &plan, &id)?.ok_or_else(|| LedgerError::corrupt("a finding", &"it is gone"))
        })
    }

    /// A plan's findings and what they amount to. The plan may be shortened.
    ///
    /// # Errors
    /// When the store fails, or the plan is unknown or ambiguous.
    pub fn verdict(&self, plan: &str) -> Result<PlanVerdict, LedgerError> {
        self.end_waivers()?;
        self.look(|view| {
            let plan = self.find_plan_in(view, plan)?;
            let row = self.plan_row(view, &plan)?.ok_or_else(|| LedgerError::NoPlan(plan.to_string()))?;
            let mut findings: Vec<Finding> = Vec::new();
            self.each(view, Space::Finding, &self.rows().findings(&plan, ""), |_, value| {
                findings.push(decode(value, "a finding")?);
                Ok(true)
            })?;
            Ok(PlanVerdict::new(plan, findings, row.created_at, row.updated_at))
        })
    }

    /// Everything that happened to one finding, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub fn history(&self, plan: &PlanHash, id: &FindingId) -> Result<Vec<Step>, LedgerError> {
        self.look(|view| {
            let mut steps = Vec::new();
            self.each(view, Space::Finding, &self.rows().steps(plan, id), |_, value| {
                steps.push(decode(value, "a finding's history")?);
                Ok(true)
            })?;
            Ok(steps)
        })
    }

    /// The plans that changed last, newest first, of at least this level.
    ///
    /// # Errors
    /// When the store fails.
    pub fn retro(&self, limit: usize, at_least: Level) -> Result<Vec<Recent>, LedgerError> {
        self.end_waivers()?;
        self.look(|view| {
            let mut found = Vec::new();
            for level in Level::WORST_FIRST.into_iter().filter(|level| *level >= at_least) {
                let mut room = limit;
                self.each(view, Space::Plan, &self.rows().recent_of(level), |key, _| {
                    if room == 0 {
                        return Ok(false);
                    }
                    room -= 1;
                    let plan = self.rows().recent_plan(key);
                    let plan =
                        plan.ok_or_else(|| LedgerError::corrupt("a plan's name", &"it is not a token"))?;
                    let row = self.plan_row(view, &plan)?;
                    let row =
                        row.ok_or_else(|| LedgerError::corrupt("a plan", &"it is listed but not there"))?;
                    found.push(Recent {
                        plan,
                        tally: row.open,
                        council: row.council,
                        created_at: row.created_at,
                        updated_at: row.updated_at,
                    });
                    Ok(true)
                })?;
            }
            found.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.plan.cmp(&b.plan)));
            found.truncate(limit);
            Ok(found)
        })
    }

    /// Hands open findings of at least this level to `f`, worst first, until it says stop, with the council of their
    /// plan and what has to be known to tell whether they count.
    ///
    /// # Errors
    /// When the store fails, or what `f` returned.
    pub fn open_findings(
        &self,
        at_least: Level,
        mut f: impl FnMut(PlanHash, FindingId, Option<&str>, Watch) -> Result<bool, LedgerError>,
    ) -> Result<(), LedgerError> {
        self.end_waivers()?;
        self.look(|view| {
            let mut councils: HashMap<PlanHash, Option<String>> = HashMap::new();
            for level in Level::WORST_FIRST.into_iter().filter(|level| *level >= at_least) {
                let mut on = true;
                self.each(view, Space::Finding, &self.rows().open_of(level), |key, value| {
                    let (plan, id) = self.rows().plan_and_id(key, 1).ok_or_else(|| {
                        LedgerError::corrupt("the list of open findings", &"a name is not one")
                    })?;
                    let watch: Watch = decode(value, "the list of open findings")?;
                    if !councils.contains_key(&plan) {
                        let council = self.plan_row(view, &plan)?.and_then(|row| row.council);
                        councils.insert(plan.clone(), council);
                    }
                    let council = councils.get(&plan).and_then(Option::clone);
                    on = f(plan, id, council.as_deref(), watch)?;
                    Ok(on)
                })?;
                if !on {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Who of a council reported on a plan; `None` when it has not met.
    ///
    /// # Errors
    /// When the store fails.
    pub fn attestation(&self, plan: &PlanHash) -> Result<Option<Attestation>, LedgerError> {
        self.look(|view| get(view, Space::Council, &self.rows().attestation(plan), "an attestation"))
    }

    /// Notes that a council is about to look at a tree.
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
        self.change(|tx| self.append(tx, &Event::Opened(opened)))
    }

    /// Records what a council found and who of it reported, at once.
    ///
    /// # Errors
    /// When the store fails.
    pub fn attest(&self, attestation: Attestation, claims: &[Claim]) -> Result<Vec<Recorded>, LedgerError> {
        self.change(|tx| {
            let recorded = claims.iter().map(|claim| self.report(tx, &attestation.plan, claim)).collect();
            self.append(tx, &Event::Attested(attestation))?;
            recorded
        })
    }

    /// What the gate last said of a tree.
    ///
    /// # Errors
    /// When the store fails.
    pub fn judgement(&self, tree: &str) -> Result<Option<Judgement>, LedgerError> {
        self.look(|view| get(view, Space::Council, &self.rows().judgement(tree), "a gate's judgement"))
    }

    /// Records what the gate says of a tree.
    ///
    /// # Errors
    /// When the store fails.
    pub fn judge(&self, judgement: Judgement) -> Result<(), LedgerError> {
        self.change(|tx| self.append(tx, &Event::Judged(judgement)))
    }

    /// How a commit went around the gate, if it did.
    ///
    /// # Errors
    /// When the store fails.
    pub fn bypass(&self, commit: &str) -> Result<Option<Bypass>, LedgerError> {
        self.look(|view| get(view, Space::Council, &self.rows().bypass(commit), "a bypass"))
    }

    /// Records commits that went around the gate. Those already known are left alone.
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
                    self.append(tx, &Event::Bypassed(bypass))?;
                }
            }
            Ok(())
        })
    }

    /// The plan that a full or shortened name means.
    ///
    /// # Errors
    /// When there is none, or several.
    pub fn find_plan(&self, typed: &str) -> Result<PlanHash, LedgerError> {
        self.look(|view| self.find_plan_in(view, typed))
    }

    fn find_plan_in(&self, view: &(impl View + ?Sized), typed: &str) -> Result<PlanHash, LedgerError> {
        let exact: PlanHash = typed.parse().map_err(|_| LedgerError::NoPlan(typed.to_owned()))?;
        if view.get(Space::Plan, &self.rows().plan(&exact))?.is_some() {
            return Ok(exact);
        }
        let keys = Keys::prefix(self.rows().plans(typed)).limit(AMBIGUITY_SHOWN + 1);
        let skip = self.rows().plans("").len();
        let found = self.names(view, Space::Plan, &keys, skip)?;
        let name = resolve(typed, &found)?.and_then(|name| name.parse().ok());
        name.ok_or_else(|| LedgerError::NoPlan(typed.to_owned()))
    }

    fn find_in(
        &self,
        view: &(impl View + ?Sized),
        plan: &PlanHash,
        typed: &str,
    ) -> Result<Option<Finding>, LedgerError> {
        let Ok(exact) = typed.parse::<FindingId>() else { return Ok(None) };
        if let Some(finding) = self.finding_in(view, plan, &exact)? {
            return Ok(Some(finding));
        }
        let keys = Keys::prefix(self.rows().findings(plan, typed)).limit(AMBIGUITY_SHOWN + 1);
        let skip = self.rows().findings(plan, "").len();
        let found = self.names(view, Space::Finding, &keys, skip)?;
        match resolve(typed, &found)?.and_then(|name| name.parse().ok()) {
            Some(id) => self.finding_in(view, plan, &id),
            None => Ok(None),
        }
    }

    /// A finding by its full or shortened id.
    ///
    /// # Errors
    /// When the store fails, or plan or finding are unknown or ambiguous.
    pub fn finding(&self, plan: &str, id: &str) -> Result<(PlanHash, Finding), LedgerError> {
        self.look(|view| {
            let plan = self.find_plan_in(view, plan)?;
            match self.find_in(view, &plan, id)? {
                Some(finding) => Ok((plan, finding)),
                None => Err(LedgerError::NoFinding { plan, id: id.to_owned() }),
            }
        })
    }

    /// Reopens what was waived until now.
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
                self.append(tx, &Event::Reopened(reopened))?;
            }
            Ok(())
        })
    }

    fn finding_in(
        &self,
        view: &(impl View + ?Sized),
        plan: &PlanHash,
        id: &FindingId,
    ) -> Result<Option<Finding>, LedgerError> {
        get(view, Space::Finding, &self.rows().finding(plan, id), "a finding")
    }

    fn plan_row(&self, view: &(impl View + ?Sized), plan: &PlanHash) -> Result<Option<PlanRow>, LedgerError> {
        get(view, Space::Plan, &self.rows().plan(plan), "a plan")
    }

    fn names(
        &self,
        view: &(impl View + ?Sized),
        space: Space,
        keys: &Keys,
        skip: usize,
    ) -> Result<Vec<String>, LedgerError> {
        let name = |(key, _): (Vec<u8>, Vec<u8>)| {
            key.get(skip..).map(|name| String::from_utf8_lossy(name).into_owned()).unwrap_or_default()
        };
        Ok(view.scan(space, keys)?.into_iter().map(name).collect())
    }

    /// Hands the entries under a prefix to `f`, page by page, until it says stop.
    fn each(
        &self,
        view: &(impl View + ?Sized),
        space: Space,
        prefix: &[u8],
        mut f: impl FnMut(&[u8], &[u8]) -> Result<bool, LedgerError>,
    ) -> Result<(), LedgerError> {
        const PAGE: usize = 256;
        let mut keys = Keys::prefix(prefix).limit(PAGE);
        loop {
            let page = view.scan(space, &keys)?;
            for (key, value) in &page {
                if !f(key, value)? {
                    return Ok(());
                }
            }
            match page.last() {
                Some((last, _)) if page.len() == PAGE => keys = keys.beyond(last.clone()),
                _ => return Ok(()),
            }
        }
    }

    fn append(&self, tx: &mut dyn Transaction, event: &Event) -> Result<(), LedgerError> {
        let at = self.now();
        let record = tx.append(Draft {
            at,
            session: None,
            kind: event.kind().to_owned(),
            body: event.body(self.repository.as_str())?,
        })?;
        apply(tx, self.rows(), record.seq, at, event)
    }

    fn change<T>(
        &self,
        f: impl FnOnce(&mut dyn Transaction) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.store.try_update(Durability::Power, f)
    }

    fn look<T>(&self, f: impl FnOnce(&dyn View) -> Result<T, LedgerError>) -> Result<T, LedgerError> {
        self.store.view(|view| Ok(f(view)))?
    }
}

/// What a claim changes about the finding as it was.
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
