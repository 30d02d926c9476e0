//! The record itself: looked through, checked, and taken away.

use askama::Template;
use axum::http::Method;
use lictor_store::{Query, Record, StoreExt as _};
use serde_json::{Value, json};

use super::words::{self, When};
use super::{Frame, Shown, Visit, export, feed, shown};
use crate::http::{Problem, ask};
use crate::identity::Role;

/// Records on one page.
const ROWS: usize = 100;

/// The kinds that people look for.
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

/// What checking came to.
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
    since: String,
    until: String,
    older: Option<String>,
    head: u64,
    checked: Option<Checked>,
    may_verify: bool,
    filters: String,
    formats: [(&'static str, &'static str); 4],
}

/// Filters of the address.
const FILTERS: [&str; 4] = ["kind", "session", "since", "until"];

/// Which records the address asks for.
pub(crate) fn query(visit: &Visit) -> Query {
    let mut query = Query::all();
    if let Some(kind) = visit.asked("kind") {
        query = query.kind(kind);
    }
    if let Some(session) = visit.asked("session") {
        query = query.session(feed::key(session));
    }
    let number = |name: &str| visit.asked(name).and_then(|text| text.parse::<u64>().ok());
    if let Some(since) = number("since") {
        query = query.after(since.saturating_sub(1));
    }
    if let Some(until) = number("until") {
        query = query.before(until.saturating_add(1));
    }
    query
}

pub(super) fn list(visit: &Visit) -> Result<Shown, Problem> {
    page(visit, None)
}

pub(super) fn verify(visit: &Visit) -> Result<Shown, Problem> {
    let caller = visit.caller_in(&visit.project());
    let told = ask(&visit.server, &caller, (Method::GET, "/v1/verify"), &[], json!({}))?;
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

fn page(visit: &Visit, checked: Option<Checked>) -> Result<Shown, Problem> {
    let store = visit.store()?;
    let mut wanted = query(visit).newest_first().limit(ROWS);
    if let Some(before) = visit.asked("before").and_then(|text| text.parse().ok()) {
        wanted = wanted.before(before);
    }
    let (head, records) = store.view(|view| Ok((view.head()?.seq, view.records(&wanted)?)))?;
    let older = records.last().filter(|last| records.len() == ROWS && last.seq > 1);
    let older =
        older.map(|last| format!("/audit{}", feed::with(visit, &FILTERS, &format!("before={}", last.seq))));
    let said = |name: &str| visit.asked(name).unwrap_or_default().to_owned();
    let filters = feed::with(visit, &FILTERS, "");
    shown(&Page {
        frame: visit.frame("Audit", "/audit"),
        rows: records.iter().map(row).collect(),
        kinds: &KINDS,
        kind: said("kind"),
        session: said("session"),
        since: said("since"),
        until: said("until"),
        older,
        head,
        checked,
        may_verify: visit.has(Role::Auditor),
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

/// What a record says, in a line.
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
