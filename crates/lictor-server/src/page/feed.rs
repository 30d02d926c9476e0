//! The live feed of decisions, with filters in the URL.

use std::time::{Duration, Instant};

use askama::Template;
use lictor::past::{Decided, Wanted, decided, first_since, title};
use lictor_core::{Decision, SessionKey, Timestamp};
use lictor_store::{Query, Record, Store, StoreExt as _};

use super::words::{self, When};
use super::{Choice, Frame, Shown, Visit, explain, shown};
use crate::http::Problem;

/// Rows on one page.
const ROWS: usize = 60;
/// Records that are read at a time.
const PAGE: usize = 400;
/// The time limit of a search before it returns partial results.
const PATIENCE: Duration = Duration::from_millis(80);

/// One decision.
pub(crate) struct Row {
    pub(crate) seq: u64,
    pub(crate) at: When,
    pub(crate) word: &'static str,
    pub(crate) title: String,
    pub(crate) agent: String,
    /// For whom, where that is known.
    pub(crate) user: String,
    pub(crate) session: Option<(String, String)>,
    pub(crate) rule: String,
    pub(crate) reason: String,
}

impl Row {
    pub(crate) fn of(decided: &Decided) -> Self {
        let spoke = decided.decision > Decision::Pass;
        Self {
            seq: decided.id,
            at: When(decided.at),
            word: words::word(decided.decision),
            title: words::clipped(&title(&decided.action), 300),
            agent: decided.session.as_ref().map_or(&decided.action.actor.agent, |key| &key.agent).clone(),
            user: decided.action.actor.user.clone().unwrap_or_default(),
            session: decided.session.as_ref().map(explain::link),
            rule: decided.rules.first().filter(|_| spoke).cloned().unwrap_or_default(),
            reason: if spoke { words::clipped(&decided.reason, 300) } else { String::new() },
        }
    }
}

#[derive(Template)]
#[template(path = "feed.html")]
struct Feed {
    frame: Frame,
    rows: Vec<Row>,
    head: u64,
    older: Option<String>,
    looked_back_to: Option<When>,
    decision: String,
    agent: String,
    rule: String,
    text: String,
    session: String,
    user: String,
    tool: String,
    from: String,
    until: String,
    zone: String,
    machines: Vec<Choice>,
    empty: bool,
    filtered: bool,
}

/// The query in the URL.
pub(crate) struct Sought {
    wanted: Wanted,
    user: Option<String>,
    tool: Option<String>,
    /// Only records after this one, and before that one.
    after: u64,
    before: u64,
}

impl Sought {
    /// Every decision of a rule.
    pub(crate) fn of_rule(rule: &str) -> Self {
        let wanted = Wanted { rule: Some(rule.to_owned()), ..Wanted::default() };
        Self { wanted, user: None, tool: None, after: 0, before: u64::MAX }
    }

    fn of(visit: &Visit, store: &dyn Store) -> Result<Self, Problem> {
        let said = |name: &str| visit.asked(name).map(str::to_owned);
        let (since, until) = (visit.moment("from", false)?, visit.moment("until", true)?);
        let wanted = Wanted {
            text: said("text"),
            path: said("path"),
            agent: said("agent"),
            rule: said("rule"),
            decision: visit
                .asked("decision")
                .and_then(words::decision)
                .filter(|least| *least > Decision::Pass),
            session: visit.asked("session").map(key),
            dry: true,
            since,
            until,
        };
        let first = |at: Option<Timestamp>| at.map(|at| first_since(store, at)).transpose();
        let (after, before) = (first(since)?.unwrap_or(1).saturating_sub(1), first(until)?);
        Ok(Self { wanted, user: said("user"), tool: said("tool"), after, before: before.unwrap_or(u64::MAX) })
    }

    fn fits(&self, decided: &Decided) -> bool {
        self.wanted.fits(decided)
            && self.user.as_ref().is_none_or(|user| decided.action.actor.user.as_ref() == Some(user))
            && self.tool.as_ref().is_none_or(|tool| decided.action.tool == *tool)
    }
}

/// The session that an address names: `agent:id`.
pub(crate) fn key(text: &str) -> SessionKey {
    let (agent, id) = text.split_once(':').unwrap_or(("", text));
    SessionKey { agent: agent.to_owned(), id: id.to_owned() }
}

/// The result of a search.
pub(crate) struct Found<T> {
    pub(crate) rows: Vec<T>,
    /// Where older ones continue; `None` when everything was scanned.
    pub(crate) before: Option<u64>,
    /// The search took too long, and ended here.
    pub(crate) tired: Option<When>,
}

/// Scans back from a record, newest first, until enough rows are found, everything was scanned, or the time limit
/// is reached. `page` returns the records before one.
pub(crate) fn look_back<T>(
    store: &dyn Store,
    before: u64,
    rows: usize,
    page: impl Fn(u64, usize) -> Query,
    mut row: impl FnMut(&Record) -> Option<T>,
) -> Result<Found<T>, Problem> {
    let begun = Instant::now();
    let mut found = Found { rows: Vec::new(), before: Some(before), tired: None };
    loop {
        let query = page(found.before.unwrap_or(u64::MAX), PAGE);
        let page = store.view(|view| view.records(&query))?;
        for record in &page {
            found.before = Some(record.seq);
            if let Some(row) = row(record) {
                found.rows.push(row);
                if found.rows.len() == rows {
                    found.before = found.before.filter(|seq| *seq > 1);
                    return Ok(found);
                }
            }
        }
        if page.len() < PAGE {
            found.before = None;
            return Ok(found);
        }
        if begun.elapsed() > PATIENCE {
            found.tired = page.last().map(|record| When(record.at));
            return Ok(found);
        }
    }
}

/// The newest wanted decisions before a record, newest first.
pub(crate) fn newest(
    store: &dyn Store,
    sought: &Sought,
    before: u64,
    rows: usize,
) -> Result<Found<Decided>, Problem> {
    let page = |before: u64, limit: usize| {
        let query =
            Query::all().after(sought.after).before(before.min(sought.before)).newest_first().limit(limit);
        match &sought.wanted.session {
            Some(key) => query.session(key.clone()),
            None => query,
        }
    };
    look_back(store, before, rows, page, |record| decided(record).filter(|decided| sought.fits(decided)))
}

/// The wanted decisions after a record, newest first, and the record up to which that holds.
fn since(store: &dyn Store, sought: &Sought, after: u64) -> Result<(Vec<Decided>, u64), Problem> {
    let (mut found, mut head) = (Vec::new(), after);
    loop {
        let page = store.view(|view| view.records(&Query::all().after(head).limit(PAGE)))?;
        for record in &page {
            head = record.seq;
            found.extend(decided(record).filter(|decided| sought.fits(decided)));
        }
        if page.len() < PAGE || found.len() >= ROWS {
            found.reverse();
            return Ok((found, head));
        }
    }
}

/// The filters of the address, besides project and machine.
const FILTERS: [&str; 11] =
    ["decision", "agent", "rule", "text", "session", "path", "user", "tool", "from", "until", "zone"];

pub(super) fn list(visit: &Visit) -> Result<Shown, Problem> {
    let store = visit.store()?;
    let sought = Sought::of(visit, &*store)?;
    let number = |name: &str| visit.asked(name).and_then(|text| text.parse::<u64>().ok());
    let (found, head) = match number("after") {
        Some(after) => {
            let (rows, head) = since(&*store, &sought, after)?;
            (Found { rows, before: None, tired: None }, head)
        }
        None => {
            let head = store.view(|view| view.head())?.seq;
            let before = number("before").unwrap_or(head.saturating_add(1));
            (newest(&*store, &sought, before, ROWS)?, head)
        }
    };
    let said = |name: &str| visit.asked(name).unwrap_or_default().to_owned();
    let older = found.before.map(|before| with(visit, &FILTERS, &format!("before={before}")));
    shown(&Feed {
        frame: visit.frame("Feed", "/feed"),
        rows: found.rows.iter().map(Row::of).collect(),
        head,
        older: older.map(|rest| format!("/feed{rest}")),
        looked_back_to: found.tired,
        decision: said("decision"),
        agent: said("agent"),
        rule: said("rule"),
        text: said("text"),
        session: said("session"),
        user: said("user"),
        tool: said("tool"),
        from: said("from"),
        until: said("until"),
        zone: said("zone"),
        machines: visit.machines()?,
        empty: head == 0,
        filtered: FILTERS.iter().any(|name| *name != "zone" && visit.asked(name).is_some()),
    })
}

/// The rest of an address with the filters that are set, and one thing more.
pub(crate) fn with(visit: &Visit, filters: &[&str], more: &str) -> String {
    let kept = ["project", "machine"].iter().chain(filters);
    let mut pairs: Vec<String> =
        kept.filter_map(|name| Some(format!("{name}={}", words::in_address(visit.asked(name)?)))).collect();
    if !more.is_empty() {
        pairs.push(more.to_owned());
    }
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}
