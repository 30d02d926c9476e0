//! The record to take away: JSON lines byte for byte, CSV, OCSF, CEF. Each names what was asked for, the first and the
//! last record and the head of the chain, so that one can see that nothing is missing.

use std::sync::Arc;

use axum::http::StatusCode;
use lictor_core::{Decision, Timestamp};
use lictor_store::{Query, Record, Store, StoreError, StoreExt as _};
use serde_json::{Value, json};

use super::{Shown, Visit, audit, feed};
use crate::http::Problem;
use crate::tenants::now;

/// Formats by the word in the address.
pub(crate) const FORMATS: [(&str, &str); 4] =
    [("jsonl", "JSON lines"), ("csv", "CSV"), ("ocsf", "OCSF 1.8"), ("cef", "CEF")];
/// Records that are read at a time.
const PAGE: usize = 500;
/// The version that is told to programs that read exports.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Jsonl,
    Csv,
    Ocsf,
    Cef,
}

impl Format {
    fn named(name: &str) -> Option<Self> {
        match name {
            "jsonl" => Some(Self::Jsonl),
            "csv" => Some(Self::Csv),
            "ocsf" => Some(Self::Ocsf),
            "cef" => Some(Self::Cef),
            _ => None,
        }
    }

    fn media(self) -> &'static str {
        match self {
            Self::Jsonl | Self::Ocsf => "application/x-ndjson",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Cef => "text/plain; charset=utf-8",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Ocsf => "ocsf.jsonl",
            Self::Cef => "cef",
        }
    }
}

/// What an export is about.
struct Manifest {
    filter: String,
    first: u64,
    last: u64,
    head: u64,
    hash: String,
    at: Timestamp,
}

impl Manifest {
    fn value(&self) -> Value {
        json!({"filter": self.filter, "first": self.first, "last": self.last,
               "head": {"seq": self.head, "hash": self.hash}, "exported_at": self.at, "version": VERSION})
    }
}

pub(super) fn download(visit: &Visit) -> Result<Shown, Problem> {
    let bad = || Problem::new(StatusCode::BAD_REQUEST, "bad_request", "a format is jsonl, csv, ocsf or cef");
    let format = Format::named(visit.asked("format").unwrap_or("jsonl")).ok_or_else(bad)?;
    let store = visit.store()?;
    let query = audit::query(visit);
    let (head, first, last) = store.view(|view| {
        let end =
            |query: Query| Ok::<_, StoreError>(view.records(&query.limit(1))?.first().map(|one| one.seq));
        Ok((view.head()?, end(query.clone())?, end(query.clone().newest_first())?))
    })?;
    let filter = feed::with(visit, &["kind", "session", "since", "until"], "");
    let manifest = Manifest {
        filter: filter.trim_start_matches('?').to_owned(),
        first: first.unwrap_or(0),
        last: last.unwrap_or(0),
        head: head.seq,
        hash: head.hash.to_string(),
        at: now(),
    };
    let name =
        format!("lictor-{}-{}-{}.{}", manifest.first, manifest.last, head.hash.short(), format.ending());
    let (sender, chunks) = tokio::sync::mpsc::channel(4);
    std::thread::spawn(move || {
        write(&store, &query, format, &manifest, |chunk| sender.blocking_send(chunk).is_ok())
    });
    Ok(Shown::Stream { name, kind: format.media(), chunks })
}

/// Writes the export piece by piece, until nobody takes it any more. What cannot be read ends it with an error, so that it
/// is not taken for a whole one.
fn write(
    store: &Arc<dyn Store>,
    query: &Query,
    format: Format,
    manifest: &Manifest,
    mut take: impl FnMut(Result<String, std::io::Error>) -> bool,
) {
    if !take(Ok(opening(format, manifest))) {
        return;
    }
    let mut after = manifest.first.saturating_sub(1);
    loop {
        let page = query.clone().after(after).before(manifest.last.saturating_add(1)).limit(PAGE);
        let page = match store.view(|view| view.records(&page)) {
            Ok(page) => page,
            Err(error) => {
                take(Err(std::io::Error::other(error.to_string())));
                return;
            }
        };
        let Some(last) = page.last() else { return };
        after = last.seq;
        let text: String = page.iter().map(|record| line(format, record)).collect();
        if !take(Ok(text)) || page.len() < PAGE {
            return;
        }
    }
}

fn opening(format: Format, manifest: &Manifest) -> String {
    match format {
        Format::Jsonl => format!("{}\n", json!({"export": manifest.value()})),
        Format::Csv => format!(
            "# {}\r\nseq,at,kind,agent,session,user,tool,action,decision,rule,reason,hash\r\n",
            manifest.value()
        ),
        // A lifecycle event of the application: readers of the format know what to do with it.
        Format::Ocsf => format!(
            "{}\n",
            json!({"class_uid": 6002, "category_uid": 6, "activity_id": 99, "type_uid": 600_299, "severity_id": 1,
                   "time": manifest.at, "metadata": metadata(), "message": "export", "unmapped": manifest.value()})
        ),
        Format::Cef => format!(
            "CEF:0|lictor|lictor|{VERSION}|export|export|1|rt={} cs1Label=manifest cs1={}\n",
            manifest.at.0,
            value(&manifest.value().to_string())
        ),
    }
}

fn metadata() -> Value {
    json!({"version": "1.8.0", "product": {"name": "Lictor", "vendor_name": "Lictor", "version": VERSION}})
}

/// One record in a format.
fn line(format: Format, record: &Record) -> String {
    let told = crate::http::entry(record);
    let text = |name: &str| match told.get(name) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    };
    match format {
        Format::Jsonl => format!("{}\n", serde_json::to_string(record).unwrap_or_default()),
        Format::Csv => {
            let (agent, session) =
                record.session.as_ref().map_or(("", ""), |key| (key.agent.as_str(), key.id.as_str()));
            let title = lictor::past::decided(record).map(|decided| lictor::past::title(&decided.action));
            let fields = [
                record.seq.to_string(),
                iso(record.at),
                record.kind.clone(),
                agent.to_owned(),
                session.to_owned(),
                text("user"),
                text("tool"),
                title.unwrap_or_default(),
                text("decision"),
                text("rule"),
                text("reason"),
                record.hash.to_string(),
            ];
            format!("{}\r\n", fields.map(|field| cell(&field)).join(","))
        }
        Format::Ocsf => format!("{}\n", ocsf(record, &told)),
        Format::Cef => {
            let decision = text("decision");
            let rule = match text("rule") {
                rule if rule.is_empty() => record.kind.clone(),
                rule => rule,
            };
            let reason = match text("reason") {
                reason if reason.is_empty() => record.kind.clone(),
                reason => reason,
            };
            let act = if decision.is_empty() { String::new() } else { format!(" act={}", value(&decision)) };
            let session = record.session.as_ref().map(ToString::to_string).unwrap_or_default();
            format!(
                "CEF:0|lictor|lictor|{VERSION}|{}|{}|{}|rt={}{act} duser={} externalId={} cs1Label=session cs1={} \
                 cs2Label=hash cs2={}\n",
                header(&rule),
                header(&reason),
                severity(&decision),
                record.at.0,
                value(&text("user")),
                record.seq,
                value(&session),
                record.hash
            )
        }
    }
}

/// A decision as an OCSF event: a finding where something was stopped, API activity otherwise.
fn ocsf(record: &Record, told: &Value) -> Value {
    let decision = told.get("decision").and_then(Value::as_str).unwrap_or_default();
    let stopped = matches!(decision, "ask" | "block");
    let (class, category, activity) = if stopped { (2004, 2, 1) } else { (6003, 6, 99) };
    let severity_id = match decision {
        "block" => 4,
        "ask" => 3,
        "warn" => 2,
        _ => 1,
    };
    json!({
        "class_uid": class, "category_uid": category, "activity_id": activity, "type_uid": class * 100 + activity,
        "time": record.at, "severity_id": severity_id, "metadata": metadata(),
        "actor": {"user": {"name": told.get("user"), "email_addr": told.get("email")},
                  "app_name": record.session.as_ref().map(|key| key.agent.clone()),
                  "session": {"uid": record.session.as_ref().map(|key| key.id.clone())}},
        "api": {"operation": told.get("tool")},
        "finding_info": stopped.then(|| json!({"uid": record.seq.to_string(), "title": told.get("reason"),
                                               "analytic": {"uid": told.get("rule"), "type_id": 1}})),
        "disposition": match decision { "block" => "Blocked", "ask" => "Approval required", "" => "Logged", _ => "Allowed" },
        "message": told.get("reason"), "unmapped": {"kind": record.kind, "seq": record.seq, "hash": record.hash},
    })
}

fn severity(decision: &str) -> u8 {
    match super::words::decision(decision) {
        Some(Decision::Block) => 8,
        Some(Decision::Ask) => 6,
        Some(Decision::Warn) => 4,
        _ => 2,
    }
}

/// A cell of a CSV file; one that a spreadsheet would take for a formula is text.
fn cell(text: &str) -> String {
    let safe =
        if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() };
    if safe.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", safe.replace('"', "\"\"")) } else { safe }
}

/// A part of CEF's head.
fn header(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// A value of CEF's extension.
fn value(text: &str) -> String {
    text.replace('\\', "\\\\").replace('=', "\\=").replace('\r', "\\r").replace('\n', "\\n")
}

fn iso(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_values_cannot_break_out() {
        assert_eq!(cell("a,\"b\"\nc"), "\"a,\"\"b\"\"\nc\"");
        assert_eq!(cell("=HYPERLINK(1)"), "'=HYPERLINK(1)");
        assert_eq!(cell("plain"), "plain");
        assert_eq!(header("a|b\\c\nd"), "a\\|b\\\\c d");
        assert_eq!(value("a=b\\\nc"), "a\\=b\\\\\\nc");
    }
}
