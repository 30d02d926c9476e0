//! Reading the ledger.

use std::collections::HashMap;

use lictor_core::Timestamp;
use lictor_store::{Keys, Space, View};

use super::event::Step;
use super::rows::{PlanRow, Watch, decode, get};
use super::{Ledger, LedgerError};
use crate::finding::Finding;
use crate::identity::{AMBIGUITY_SHOWN, FindingId, PlanHash, resolve};
use crate::level::Level;
use crate::verdict::{PlanVerdict, Tally};

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

impl Ledger<'_> {
    /// A plan's findings and their verdict. The plan may be a prefix.
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

    /// Calls `f` with open findings of at least this level, worst first, until it stops, with the council of
    /// their plan and the data needed to decide whether they count.
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

    /// The plan with this name or prefix.
    ///
    /// # Errors
    /// When there is none, or several.
    pub fn find_plan(&self, typed: &str) -> Result<PlanHash, LedgerError> {
        self.look(|view| self.find_plan_in(view, typed))
    }

    pub(super) fn find_plan_in(
        &self,
        view: &(impl View + ?Sized),
        typed: &str,
    ) -> Result<PlanHash, LedgerError> {
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

    pub(super) fn find_in(
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

    /// A finding by its id or a prefix of it.
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

    pub(super) fn finding_in(
        &self,
        view: &(impl View + ?Sized),
        plan: &PlanHash,
        id: &FindingId,
    ) -> Result<Option<Finding>, LedgerError> {
        get(view, Space::Finding, &self.rows().finding(plan, id), "a finding")
    }

    pub(super) fn plan_row(
        &self,
        view: &(impl View + ?Sized),
        plan: &PlanHash,
    ) -> Result<Option<PlanRow>, LedgerError> {
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

    /// Calls `f` with the entries under a prefix, page by page, until it stops.
    pub(super) fn each(
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
}
