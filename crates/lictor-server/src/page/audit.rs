//! The audit view: search, verification and export of the record.

use askama::Template;
use lictor_store::{Record, Store, StoreExt as _};
use serde_json::Value;

use super::words::{self, When};
use super::{Choice, Frame, Shown, Visit, feed, shown};
use crate::http::filter::{KEYS, Wanted};
use crate::http::{Problem, export, verified};
use crate::identity::Role;

/// Records on one page.
const ROWS: usize = 100;

/// The kinds that people search for.
const KINDS: [&str; 15] = [
    "evaluated",
    "happened",
    "approval.requested",
    "approval.counted",
    "approval.granted",
    "approval.denied",
    "grant.used",
    "finding.recorded",
    "finding.cleared",
    "policy.changed",
    "session.started",
    "session.ended",
    "stop.checked",
    "decision.wrong",
    "request.refused",
];

/// One record.
struct Row {
    seq: u64,
    at: When,
    kind: String,
    session: Option<(String, String)>,
    /// What was decided, where something was.
    word: &'static str,
    text: String,
    hash: String,
}

/// The result of verification.
struct Checked {
    sound: bool,
    records: String,
    sealing: String,
    head: String,
    faults: Vec<String>,
}

#[derive(Template)]
#[template(path = "audit.html")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
    kinds: &'static [&'static str],
    kind: String,
    session: String,
    decision: String,
    user: String,
    text: String,
    from: String,
    until: String,
    zone: String,
    machines: Vec<Choice>,
    older: Option<String>,
    looked_back_to: Option<When>,
    head: u64,
    checked: Option<Checked>,
    may_verify: bool,
    filtered: bool,
    filters: String,
    formats: [(&'static str, &'static str); 4],
}

/// Filters of the address, besides project and machine.
pub(crate) const FILTERS: [&str; 11] =
    ["kind", "session", "decision", "user", "tool", "rule", "text", "from", "until", "zone", "since"];

/// Which records the address asks for.
pub(crate) fn wanted(visit: &Visit, store: &dyn Store) -> Result<Wanted, Problem> {
    let asked = visit.query.iter().filter(|(name, _)| KEYS.contains(&name.as_str()));
    let asked = asked.map(|(name, value)| (name.clone(), value.trim().to_owned()));
    let asked = asked.filter(|(_, value)| !value.is_empty()).collect();
    let since = visit.asked("since").and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let wanted = Wanted::of(&asked, &visit.zone())?.between(since.saturating_sub(1), u64::MAX);
    Ok(wanted.within(store)?)
}

pub(super) fn list(visit: &Visit) -> Result<Shown, Problem> {
    page(visit, None)
}

pub(super) fn verify(visit: &Visit) -> Result<Shown, Problem> {
    let told = verified(&*visit.store()?, 1..=u64::MAX)?;
    let text = |path: &str| match told.pointer(path) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let faults = told.get("faults").and_then(Value::as_array).into_iter().flatten();
    let checked = Checked {
        sound: told.get("sound").and_then(Value::as_bool).unwrap_or(false),
        records: words::number(told.get("records").and_then(Value::as_u64).unwrap_or(0)),
        sealing: text("/sealing"),
        head: format!("{} {}", text("/head/seq"), text("/head/hash")),
        faults: faults.filter_map(Value::as_str).take(50).map(|fault| words::clipped(fault, 400)).collect(),
    };
    page(visit, Some(checked))
}

/// The records that were searched for, to take away.
pub(super) fn export(visit: &Visit) -> Result<Shown, Problem> {
    let store = visit.store()?;
    let before = visit.asked("before").and_then(|text| text.parse().ok()).unwrap_or(u64::MAX);
    let wanted = wanted(visit, &*store)?.between(0, before);
    let filter = feed::with(visit, &FILTERS, "").trim_start_matches('?').to_owned();
    Ok(Shown::File(export::begin(store, wanted, filter, visit.asked("format").unwrap_or("jsonl"))?))
}

fn page(visit: &Visit, checked: Option<Checked>) -> Result<Shown, Problem> {
    let store = visit.store()?;
    let wanted = wanted(visit, &*store)?;
    let head = store.view(|view| view.head())?.seq;
    let before = visit.asked("before").and_then(|text| text.parse().ok()).unwrap_or(u64::MAX);
    let page = |before: u64, limit: usize| wanted.previous(before, limit);
    let found = feed::look_back(&*store, before, ROWS, page, |record| {
        wanted.fits(record, &crate::http::entry(record)).then(|| row(record))
    })?;
    let older = |before: u64| format!("/audit{}", feed::with(visit, &FILTERS, &format!("before={before}")));
    let said = |name: &str| visit.asked(name).unwrap_or_default().to_owned();
    let filters = feed::with(visit, &FILTERS, "");
    shown(&Page {
        frame: visit.frame("Audit", "/audit"),
        rows: found.rows,
        kinds: &KINDS,
        kind: said("kind"),
        session: said("session"),
        decision: said("decision"),
        user: said("user"),
        text: said("text"),
        from: said("from"),
        until: said("until"),
        zone: said("zone"),
        machines: visit.machines()?,
        older: found.before.map(older),
        looked_back_to: found.tired,
        head,
        checked,
        may_verify: visit.has(Role::Auditor),
        filtered: FILTERS.iter().any(|name| *name != "zone" && visit.asked(name).is_some()),
        filters: if filters.is_empty() { "?".to_owned() } else { format!("{filters}&") },
        formats: export::FORMATS,
    })
}

fn row(record: &Record) -> Row {
    let told = lictor::past::decided(record);
    let text = match &told {
        Some(decided) => lictor::past::title(&decided.action),
        None => summary(record),
    };
    Row {
        seq: record.seq,
        at: When(record.at),
        kind: record.kind.clone(),
        session: record.session.as_ref().map(super::explain::link),
        word: told.as_ref().map_or("", |decided| words::word(decided.decision)),
        text: words::clipped(&text, 200),
        hash: record.hash.short().to_string(),
    }
}

/// A summary of a record, in one line.
fn summary(record: &Record) -> String {
    let body: Value = serde_json::from_str(&record.body).unwrap_or_default();
    let text = |path: &str| body.pointer(path).and_then(Value::as_str).unwrap_or_default();
    if record.kind.starts_with("finding.") {
        return [text("/level"), text("/title")].join(" ").trim().to_owned();
    }
    match super::sessions::event(0, record) {
        Some(event) if event.is_told() => {
            [event.text.as_str(), event.note.as_str()].join(" ").trim().to_owned()
        }
        _ => record.body.clone(),
    }
}
