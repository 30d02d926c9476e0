//! Decisions as they come, with filters in the address.

use std::time::{Duration, Instant};

use askama::Template;
use lictor::past::{Decided, Wanted, decided, title};
use lictor_core::{Decision, SessionKey};
use lictor_store::{Query, Store, StoreExt as _};

use super::words::{self, When};
use super::{Frame, Shown, Visit, explain, shown};
use crate::http::Problem;

/// Rows on one page.
const ROWS: usize = 60;
/// Records that are read at a time.
const PAGE: usize = 400;
/// How long a search looks before it says how far it got.
const PATIENCE: Duration = Duration::from_millis(80);

/// One decision.
pub(crate) struct Row {
    pub(crate) seq: u64,
    pub(crate) at: When,
    pub(crate) word: &'static str,
    pub(crate) title: String,
    pub(crate) agent: String,
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
    empty: bool,
    filtered: bool,
}

/// What the address asks for.
pub(crate) fn wanted(visit: &Visit) -> Wanted {
    let said = |name: &str| visit.asked(name).map(str::to_owned);
    Wanted {
        text: said("text"),
        path: said("path"),
        agent: said("agent"),
        rule: said("rule"),
        decision: visit.asked("decision").and_then(words::decision).filter(|least| *least > Decision::Pass),
        session: visit.asked("session").map(key),
        dry: true,
        ..Wanted::default()
    }
}

/// The session that an address names: `agent:id`.
pub(crate) fn key(text: &str) -> SessionKey {
    let (agent, id) = text.split_once(':').unwrap_or(("", text));
    SessionKey { agent: agent.to_owned(), id: id.to_owned() }
}

/// What a search came to.
pub(crate) struct Found {
    pub(crate) decided: Vec<Decided>,
    /// Where older ones go on; none when everything was looked through.
    pub(crate) before: Option<u64>,
    /// The search took too long, and ended here.
    pub(crate) tired: Option<When>,
}

/// The newest wanted decisions before a record, newest first.
pub(crate) fn newest(store: &dyn Store, wanted: &Wanted, before: u64, rows: usize) -> Result<Found, Problem> {
    let begun = Instant::now();
    let mut found = Found { decided: Vec::new(), before: Some(before), tired: None };
    loop {
        let mut query = Query::all().before(found.before.unwrap_or(u64::MAX)).newest_first().limit(PAGE);
        if let Some(key) = &wanted.session {
            query = query.session(key.clone());
        }
        let page = store.view(|view| view.records(&query))?;
        for record in &page {
            found.before = Some(record.seq);
            if let Some(decided) = decided(record).filter(|decided| wanted.fits(decided)) {
                found.decided.push(decided);
                if found.decided.len() == rows {
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

/// The wanted decisions after a record, newest first, and the record up to which that holds.
fn since(store: &dyn Store, wanted: &Wanted, after: u64) -> Result<(Vec<Decided>, u64), Problem> {
    let (mut found, mut head) = (Vec::new(), after);
    loop {
        let page = store.view(|view| view.records(&Query::all().after(head).limit(PAGE)))?;
        for record in &page {
            head = record.seq;
            found.extend(decided(record).filter(|decided| wanted.fits(decided)));
        }
        if page.len() < PAGE || found.len() >= ROWS {
            found.reverse();
            return Ok((found, head));
        }
    }
}

pub(super) fn list(visit: &Visit) -> Result<Shown, Problem> {
    let store = visit.store()?;
    let wanted = wanted(visit);
    let number = |name: &str| visit.asked(name).and_then(|text| text.parse::<u64>().ok());
    let (found, head) = match number("after") {
        Some(after) => {
            let (decided, head) = since(&*store, &wanted, after)?;
            (Found { decided, before: None, tired: None }, head)
        }
        None => {
            let head = store.view(|view| view.head())?.seq;
            let before = number("before").unwrap_or(head.saturating_add(1));
            (newest(&*store, &wanted, before, ROWS)?, head)
        }
    };
    let said = |name: &str| visit.asked(name).unwrap_or_default().to_owned();
    let filters = ["decision", "agent", "rule", "text", "session", "path"];
    let older = found.before.map(|before| with(visit, &filters, &format!("before={before}")));
    shown(&Feed {
        frame: visit.frame("Feed", "/feed"),
        rows: found.decided.iter().map(Row::of).collect(),
        head,
        older: older.map(|rest| format!("/feed{rest}")),
        looked_back_to: found.tired,
        decision: said("decision"),
        agent: said("agent"),
        rule: said("rule"),
        text: said("text"),
        session: said("session"),
        empty: head == 0,
        filtered: filters.iter().any(|name| visit.asked(name).is_some()),
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
