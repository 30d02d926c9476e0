//! The projection: its rows, and how an event changes them.
//!
//! [`apply`] is the only writer. The live ledger and the fold that checks it run the same function, one on the
//! store and one on an empty one, so any difference is a change that bypassed the ledger.

use std::collections::BTreeSet;

use lictor_core::{Digest, Timestamp};
use lictor_store::{Keys, Space, Transaction, View};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::evidence::Evidence;
use crate::finding::{Disposition, Finding, Ruling};
use crate::identity::{FindingId, PlanHash};
use crate::ledger::event::{Answered, Event, Heard, Invited, Purged, Regraded, Report, Step, Summoned};
use crate::ledger::{Invitation, LedgerError, RepositoryId, Summons};
use crate::level::Level;
use crate::verdict::Tally;

/// The summary of a plan, without its findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlanRow {
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) open: Tally,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) council: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tree: Option<String>,
}

/// The data of an open finding that decides whether it counts for a tree. Stored in the list of open findings, so
/// that the gate does not read whole findings only to skip them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Who reported it.
    pub agent: String,
    /// The evidence.
    pub evidence: Vec<Evidence>,
}

impl Watch {
    fn of(finding: &Finding) -> Self {
        Self { agent: finding.agent.clone(), evidence: finding.evidence.clone() }
    }
}

/// A waiver outlives its plan: it covers the same finding in later plans as long as its level is not higher and
/// it points at the same code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Waiver {
    disposition: Disposition,
    level: Level,
    snippets: BTreeSet<String>,
}

impl Waiver {
    fn covers(&self, finding: &Finding) -> bool {
        finding.level <= self.level && snippets(finding).is_subset(&self.snippets)
    }
}

fn snippets(finding: &Finding) -> BTreeSet<String> {
    let bound = |place: &Evidence| place.bound.as_ref().and_then(|bound| bound.snippet.clone());
    finding.evidence.iter().filter_map(bound).collect()
}

/// The keys of one repository. Every key starts with it, so that repositories in one store are separate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a>(pub(crate) &'a RepositoryId);

/// The separator between the parts of a key. Names contain no control characters.
const END: &[u8] = &[0];

impl Rows<'_> {
    fn key(self, table: u8, parts: &[&[u8]]) -> Vec<u8> {
        let mut key = self.0.as_str().as_bytes().to_vec();
        key.push(table);
        parts.iter().for_each(|part| key.extend_from_slice(part));
        key
    }

    pub(crate) fn finding(self, plan: &PlanHash, id: &FindingId) -> Vec<u8> {
        self.key(b'F', &[plan.as_str().as_bytes(), END, id.as_str().as_bytes()])
    }

    pub(crate) fn findings(self, plan: &PlanHash, id_prefix: &str) -> Vec<u8> {
        self.key(b'F', &[plan.as_str().as_bytes(), END, id_prefix.as_bytes()])
    }

    fn open(self, plan: &PlanHash, finding: &Finding) -> Vec<u8> {
        self.key(
            b'O',
            &[&[rank(finding.level)], plan.as_str().as_bytes(), END, finding.id.as_str().as_bytes()],
        )
    }

    /// Open findings of one level, of all plans.
    pub(crate) fn open_of(self, level: Level) -> Vec<u8> {
        self.key(b'O', &[&[rank(level)]])
    }

    fn titled(self, plan: &PlanHash, agent: &str, title: &str, id: &str) -> Vec<u8> {
        let name = Digest::of_parts([agent.as_bytes(), title.as_bytes()]);
        self.key(b'T', &[plan.as_str().as_bytes(), END, name.as_bytes(), id.as_bytes()])
    }

    /// Findings of one plan with this agent and title, wherever they point.
    pub(crate) fn titled_so(self, plan: &PlanHash, agent: &str, title: &str) -> Vec<u8> {
        self.titled(plan, agent, title, "")
    }

    fn waiver(self, finding: &Finding) -> Vec<u8> {
        self.key(b'W', &[finding.identity().as_bytes()])
    }

    fn step(self, plan: &PlanHash, id: &FindingId, seq: u64) -> Vec<u8> {
        let mut key = self.steps(plan, id);
        key.extend_from_slice(&seq.to_be_bytes());
        key
    }

    pub(crate) fn steps(self, plan: &PlanHash, id: &FindingId) -> Vec<u8> {
        self.key(b'H', &[plan.as_str().as_bytes(), END, id.as_str().as_bytes(), END])
    }

    fn expiry(self, until: Timestamp, plan: &PlanHash, id: &FindingId) -> Vec<u8> {
        self.key(b'X', &[&order(until), plan.as_str().as_bytes(), END, id.as_str().as_bytes()])
    }

    /// Waivers that have ended by `now`.
    pub(crate) fn ended(self, now: Timestamp) -> Keys {
        Keys::range(self.key(b'X', &[]), self.key(b'X', &[&order(now.plus_millis(1))]))
    }

    pub(crate) fn plan(self, plan: &PlanHash) -> Vec<u8> {
        self.key(b'P', &[plan.as_str().as_bytes()])
    }

    pub(crate) fn plans(self, prefix: &str) -> Vec<u8> {
        self.key(b'P', &[prefix.as_bytes()])
    }

    fn recent(self, plan: &PlanHash, row: &PlanRow) -> Vec<u8> {
        let newest_first = order(row.updated_at).map(|byte| !byte);
        self.key(b'R', &[&[rank(row.open.level())], &newest_first, plan.as_str().as_bytes()])
    }

    /// Plans of one level, the last changed first.
    pub(crate) fn recent_of(self, level: Level) -> Vec<u8> {
        self.key(b'R', &[&[rank(level)]])
    }

    /// The name at the end of a [`recent_of`](Self::recent_of) key.
    pub(crate) fn recent_plan(self, key: &[u8]) -> Option<PlanHash> {
        text(key, self.key(b'R', &[&[0], &[0; 8]]).len())?.parse().ok()
    }

    pub(crate) fn attestation(self, plan: &PlanHash) -> Vec<u8> {
        self.key(b'A', &[plan.as_str().as_bytes()])
    }

    pub(crate) fn invitation(self, plan: &PlanHash, reviewer: &str) -> Vec<u8> {
        self.key(b'I', &[plan.as_str().as_bytes(), END, Digest::of(reviewer.as_bytes()).as_bytes()])
    }

    fn invitations(self, plan: &PlanHash) -> Vec<u8> {
        self.key(b'I', &[plan.as_str().as_bytes(), END])
    }

    fn summoned(self, council: &str, seq: u64) -> Vec<u8> {
        let mut key = self.summons(council);
        key.extend_from_slice(&seq.to_be_bytes());
        key
    }

    /// Calls for one council, oldest first.
    pub(crate) fn summons(self, council: &str) -> Vec<u8> {
        self.key(b'S', &[Digest::of(council.as_bytes()).as_bytes()])
    }

    pub(crate) fn judgement(self, tree: &str) -> Vec<u8> {
        self.key(b'G', &[tree.as_bytes()])
    }

    pub(crate) fn bypass(self, commit: &str) -> Vec<u8> {
        self.key(b'B', &[commit.as_bytes()])
    }

    /// Plan and finding at the end of a key whose table and fixed part are `skip` bytes long.
    pub(crate) fn plan_and_id(self, key: &[u8], skip: usize) -> Option<(PlanHash, FindingId)> {
        let (plan, id) = text(key, self.key(0, &[]).len() + skip)?.split_once('\0')?;
        Some((plan.parse().ok()?, id.parse().ok()?))
    }
}

fn text(key: &[u8], from: usize) -> Option<&str> {
    key.get(from..).and_then(|bytes| std::str::from_utf8(bytes).ok())
}

/// Worst first in key order.
fn rank(level: Level) -> u8 {
    match level {
        Level::Critical => b'0',
        Level::High => b'1',
        Level::Medium => b'2',
        Level::Low => b'3',
    }
}

/// Bytes that sort as the time does, before 1970 too.
fn order(at: Timestamp) -> [u8; 8] {
    (at.0.cast_unsigned() ^ (1 << 63)).to_be_bytes()
}

pub(crate) fn get<T: DeserializeOwned>(
    view: &(impl View + ?Sized),
    space: Space,
    key: &[u8],
    what: &'static str,
) -> Result<Option<T>, LedgerError> {
    view.get(space, key)?.map(|value| decode(&value, what)).transpose()
}

pub(crate) fn decode<T: DeserializeOwned>(value: &[u8], what: &'static str) -> Result<T, LedgerError> {
    serde_json::from_slice(value).map_err(|error| LedgerError::corrupt(what, &error))
}

fn put<T: Serialize>(
    tx: &mut dyn Transaction,
    space: Space,
    key: &[u8],
    value: &T,
    what: &'static str,
) -> Result<(), LedgerError> {
    let value = serde_json::to_vec(value).map_err(|error| LedgerError::corrupt(what, &error))?;
    Ok(tx.put(space, key, &value)?)
}

/// Changes the projection by one event.
pub(crate) fn apply(
    tx: &mut dyn Transaction,
    rows: Rows<'_>,
    seq: u64,
    at: Timestamp,
    event: &Event,
) -> Result<(), LedgerError> {
    let kind = event.kind();
    match event {
        Event::Reported(report, _) => {
            let old =
                get::<Finding>(tx, Space::Finding, &rows.finding(&report.plan, &report.id), "a finding")?;
            let mut new = merged(old.as_ref(), report, at);
            new.disposition = carried(tx, rows, old.as_ref(), &new)?;
            replace(tx, rows, &report.plan, old.as_ref(), &new, at)?;
            step(tx, rows, &report.plan, &new, seq, at, kind, (&report.agent, ""))
        }
        Event::Cleared(ruled) | Event::Ruled(ruled) => {
            let ruling = ruled.disposition.ruling();
            let said = ruling.map_or(("", ""), |ruling| (ruling.by.as_str(), ruling.reason.as_str()));
            rule(tx, rows, seq, at, kind, (&ruled.plan, &ruled.id), &ruled.disposition, said)
        }
        Event::Reopened(reopened) => {
            let said = (reopened.by.as_str(), reopened.reason.as_str());
            rule(tx, rows, seq, at, kind, (&reopened.plan, &reopened.id), &Disposition::Open, said)
        }
        Event::Regraded(regraded) => {
            let Regraded { plan, id, level, by, reason } = regraded;
            let old = known(tx, rows, plan, id)?;
            let new = Finding { level: *level, updated_at: at, ..old.clone() };
            replace(tx, rows, plan, Some(&old), &new, at)?;
            step(tx, rows, plan, &new, seq, at, kind, (by, reason))
        }
        Event::Opened(opened) => change_plan(tx, rows, &opened.plan, at, |row| {
            row.council = Some(opened.council.clone());
            row.tree = Some(opened.tree.clone());
        }),
        Event::Invited(Invited { plan, reviewer, token, expires }) => {
            let invitation = Invitation { token: *token, expires: *expires, reported: None };
            put(tx, Space::Council, &rows.invitation(plan, reviewer), &invitation, "an invitation")
        }
        Event::Heard(Heard { plan, reviewer, state }) => {
            let key = rows.invitation(plan, reviewer);
            if let Some(mut invitation) = get::<Invitation>(tx, Space::Council, &key, "an invitation")? {
                invitation.reported = Some(state.clone());
                put(tx, Space::Council, &key, &invitation, "an invitation")?;
            }
            change_plan(tx, rows, plan, at, |_| {})
        }
        Event::Purged(Purged { plan, .. }) => purge(tx, rows, plan),
        Event::Summoned(Summoned { council, moment, saved }) => {
            let summons = Summons { seq, moment: moment.clone(), saved: saved.clone() };
            put(tx, Space::Council, &rows.summoned(council, seq), &summons, "a call for a council")
        }
        Event::Answered(Answered { council, up_to, .. }) => {
            let settled = Keys::range(rows.summons(council), rows.summoned(council, up_to.saturating_add(1)));
            for (key, _) in tx.scan(Space::Council, &settled.limit(usize::MAX))? {
                tx.delete(Space::Council, &key)?;
            }
            Ok(())
        }
        Event::Attested(attestation) => {
            put(tx, Space::Council, &rows.attestation(&attestation.plan), attestation, "an attestation")?;
            change_plan(tx, rows, &attestation.plan, at, |_| {})
        }
        Event::Judged(judgement) => {
            put(tx, Space::Council, &rows.judgement(&judgement.tree), judgement, "a gate's judgement")
        }
        Event::Bypassed(bypass) => put(tx, Space::Council, &rows.bypass(&bypass.commit), bypass, "a bypass"),
    }
}

/// Removes a plan from all lists. Waivers stay: they belong to code, not to a plan.
fn purge(tx: &mut dyn Transaction, rows: Rows<'_>, plan: &PlanHash) -> Result<(), LedgerError> {
    let all = |prefix: Vec<u8>| Keys::prefix(prefix).limit(usize::MAX);
    for (_, value) in tx.scan(Space::Finding, &all(rows.findings(plan, "")))? {
        let finding: Finding = decode(&value, "a finding")?;
        tx.delete(Space::Finding, &rows.open(plan, &finding))?;
        tx.delete(Space::Finding, &rows.titled(plan, &finding.agent, &finding.title, finding.id.as_str()))?;
        if let Some(until) = finding.disposition.ruling().and_then(|Ruling { until, .. }| *until) {
            tx.delete(Space::Finding, &rows.expiry(until, plan, &finding.id))?;
        }
        for (step, _) in tx.scan(Space::Finding, &all(rows.steps(plan, &finding.id)))? {
            tx.delete(Space::Finding, &step)?;
        }
        tx.delete(Space::Finding, &rows.finding(plan, &finding.id))?;
    }
    for (key, _) in tx.scan(Space::Council, &all(rows.invitations(plan)))? {
        tx.delete(Space::Council, &key)?;
    }
    tx.delete(Space::Council, &rows.attestation(plan))?;
    if let Some(row) = get::<PlanRow>(tx, Space::Plan, &rows.plan(plan), "a plan")? {
        tx.delete(Space::Plan, &rows.recent(plan, &row))?;
    }
    tx.delete(Space::Plan, &rows.plan(plan))?;
    Ok(())
}

/// The finding after a report: the report's values win where present; the first author and the first time stay.
fn merged(old: Option<&Finding>, report: &Report, at: Timestamp) -> Finding {
    let kept = |new: &[Evidence], old: &[Evidence]| if new.is_empty() { old.to_vec() } else { new.to_vec() };
    Finding {
        id: report.id.clone(),
        level: report.level,
        title: report.title.clone(),
        agent: old.map_or_else(|| report.agent.clone(), |old| old.agent.clone()),
        evidence: kept(&report.evidence, old.map_or(&[], |old| &old.evidence)),
        rationale: match old {
            Some(old) if report.rationale.is_empty() => old.rationale.clone(),
            _ => report.rationale.clone(),
        },
        created_at: old.map_or(at, |old| old.created_at),
        updated_at: at,
        disposition: Disposition::Open,
    }
}

/// The disposition of a finding that is reported again. A report reopens a fixed finding; it does not reopen a
/// waived one, unless its level is higher or it points at other code than the waiver.
fn carried(
    tx: &dyn Transaction,
    rows: Rows<'_>,
    old: Option<&Finding>,
    new: &Finding,
) -> Result<Disposition, LedgerError> {
    if let Some(Finding { disposition: Disposition::Acknowledged(ruling), level, .. }) = old
        && new.level <= *level
    {
        return Ok(Disposition::Acknowledged(ruling.clone()));
    }
    let waiver = get::<Waiver>(tx, Space::Finding, &rows.waiver(new), "a waiver")?;
    Ok(match waiver {
        Some(waiver) if waiver.covers(new) => waiver.disposition,
        _ => Disposition::Open,
    })
}

/// The finding that an event rules on.
fn known(
    tx: &dyn Transaction,
    rows: Rows<'_>,
    plan: &PlanHash,
    id: &FindingId,
) -> Result<Finding, LedgerError> {
    get(tx, Space::Finding, &rows.finding(plan, id), "a finding")?
        .ok_or_else(|| LedgerError::corrupt("the log", &format!("it rules on the unknown finding {id}")))
}

#[expect(clippy::too_many_arguments, reason = "one private step of `apply`, called twice")]
fn rule(
    tx: &mut dyn Transaction,
    rows: Rows<'_>,
    seq: u64,
    at: Timestamp,
    kind: &str,
    (plan, id): (&PlanHash, &FindingId),
    disposition: &Disposition,
    said: (&str, &str),
) -> Result<(), LedgerError> {
    let old = known(tx, rows, plan, id)?;
    let new = Finding { disposition: disposition.clone(), updated_at: at, ..old.clone() };
    if disposition.is_waiver() {
        let waiver = Waiver { disposition: disposition.clone(), level: new.level, snippets: snippets(&new) };
        put(tx, Space::Finding, &rows.waiver(&new), &waiver, "a waiver")?;
    } else if *disposition == Disposition::Open {
        tx.delete(Space::Finding, &rows.waiver(&new))?;
    }
    replace(tx, rows, plan, Some(&old), &new, at)?;
    step(tx, rows, plan, &new, seq, at, kind, said)
}

/// Replaces a finding, and updates indexes and tally.
fn replace(
    tx: &mut dyn Transaction,
    rows: Rows<'_>,
    plan: &PlanHash,
    old: Option<&Finding>,
    new: &Finding,
    at: Timestamp,
) -> Result<(), LedgerError> {
    let until = |finding: &Finding| finding.disposition.ruling().and_then(|Ruling { until, .. }| *until);
    if let Some(old) = old {
        if old.is_open() && !(new.is_open() && old.level == new.level) {
            tx.delete(Space::Finding, &rows.open(plan, old))?;
        }
        if old.title != new.title {
            tx.delete(Space::Finding, &rows.titled(plan, &old.agent, &old.title, old.id.as_str()))?;
        }
        if let Some(until) = until(old) {
            tx.delete(Space::Finding, &rows.expiry(until, plan, &old.id))?;
        }
    }
    if new.is_open() {
        put(tx, Space::Finding, &rows.open(plan, new), &Watch::of(new), "a list of open findings")?;
    }
    if old.is_none_or(|old| old.title != new.title) {
        tx.put(Space::Finding, &rows.titled(plan, &new.agent, &new.title, new.id.as_str()), &[])?;
    }
    if let Some(until) = until(new) {
        tx.put(Space::Finding, &rows.expiry(until, plan, &new.id), &[])?;
    }
    put(tx, Space::Finding, &rows.finding(plan, &new.id), new, "a finding")?;
    change_plan(tx, rows, plan, at, |row| {
        if let Some(old) = old.filter(|old| old.is_open()) {
            row.open.remove(old.level);
        }
        if new.is_open() {
            row.open.add(new.level);
        }
    })
}

fn change_plan(
    tx: &mut dyn Transaction,
    rows: Rows<'_>,
    plan: &PlanHash,
    at: Timestamp,
    change: impl FnOnce(&mut PlanRow),
) -> Result<(), LedgerError> {
    let key = rows.plan(plan);
    let old = get::<PlanRow>(tx, Space::Plan, &key, "a plan")?;
    let mut row = old.clone().unwrap_or_else(|| PlanRow {
        created_at: at,
        updated_at: at,
        open: Tally::default(),
        council: None,
        tree: None,
    });
    change(&mut row);
    row.updated_at = row.updated_at.max(at);
    if let Some(old) = old {
        tx.delete(Space::Plan, &rows.recent(plan, &old))?;
    }
    tx.put(Space::Plan, &rows.recent(plan, &row), &[])?;
    put(tx, Space::Plan, &key, &row, "a plan")
}

#[expect(clippy::too_many_arguments, reason = "one private step of `apply`, called twice")]
fn step(
    tx: &mut dyn Transaction,
    rows: Rows<'_>,
    plan: &PlanHash,
    finding: &Finding,
    seq: u64,
    at: Timestamp,
    kind: &str,
    (by, reason): (&str, &str),
) -> Result<(), LedgerError> {
    let step = Step {
        at,
        what: kind.split_once('.').map_or(kind, |(_, what)| what).to_owned(),
        by: by.to_owned(),
        level: finding.level,
        reason: reason.to_owned(),
    };
    put(tx, Space::Finding, &rows.step(plan, &finding.id, seq), &step, "a finding's history")
}
