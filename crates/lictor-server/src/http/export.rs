//! Exports of the record: JSON lines byte for byte, CSV, OCSF, CEF. Each contains the query, the first and the
//! last record and the head of the chain, so that missing records can be detected.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::tz::TimeZone;
use lictor_core::{Decision, Timestamp};
use lictor_store::{Head, Query, Record, Store, StoreError, StoreExt as _};
use serde_json::{Value, json};

use super::filter::{KEYS, Wanted};
use super::table::{EXPORT, FILTERS};
use super::{Problem, Server, admit};
use crate::identity::{Need, Role};
use crate::tenants::now;

/// Formats by the word in the address.
pub(crate) const FORMATS: [(&str, &str); 4] =
    [("jsonl", "JSON lines"), ("csv", "CSV"), ("ocsf", "OCSF 1.8"), ("cef", "CEF")];
/// The words alone.
pub(super) const WORDS: [&str; 4] = [FORMATS[0].0, FORMATS[1].0, FORMATS[2].0, FORMATS[3].0];
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

/// The manifest of an export.
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

/// A file to keep, piece by piece.
pub(crate) struct Download {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) chunks: Chunks,
}

pub(crate) type Chunks = tokio::sync::mpsc::Receiver<Result<String, std::io::Error>>;

/// Begins to write the wanted records in a format; `filter` is what was asked for, in words.
///
/// # Errors
/// When there is no such format, or the store cannot be read.
pub(crate) fn begin(
    store: Arc<dyn Store>,
    wanted: Wanted,
    filter: String,
    format: &str,
) -> Result<Download, Problem> {
    let bad = || Problem::bad("`format` is `jsonl`, `csv`, `ocsf` or `cef`");
    let format = Format::named(format).ok_or_else(bad)?;
    let head = store.view(|view| view.head())?;
    // Later records are not part of it.
    let wanted = wanted.between(0, head.seq.saturating_add(1));
    let name = format!("lictor-{}-{}.{}", head.seq, head.hash.short(), format.ending());
    let (sender, chunks) = tokio::sync::mpsc::channel(4);
    std::thread::spawn(move || {
        let mut take = |chunk| sender.blocking_send(chunk).is_ok();
        if let Err(error) = write(&*store, &wanted, format, (filter, head), &mut take) {
            // It ends with an error, so that a partial export is not mistaken for a complete one.
            take(Err(std::io::Error::other(error.to_string())));
        }
    });
    Ok(Download { name, kind: format.media(), chunks })
}

/// Writes the export piece by piece, until the client disconnects.
fn write(
    store: &dyn Store,
    wanted: &Wanted,
    format: Format,
    (filter, head): (String, Head),
    take: &mut dyn FnMut(Result<String, std::io::Error>) -> bool,
) -> Result<(), StoreError> {
    let (first, last) = ends(store, wanted)?;
    let manifest = Manifest { filter, first, last, head: head.seq, hash: head.hash.to_string(), at: now() };
    if !take(Ok(opening(format, &manifest))) || last == 0 {
        return Ok(());
    }
    let mut after = first.saturating_sub(1);
    while after < last {
        let page = store.view(|view| view.records(&wanted.next(after, PAGE)))?;
        let Some(end) = page.last() else { break };
        after = end.seq;
        let fitting = page.iter().filter_map(|record| {
            let told = crate::http::entry(record);
            wanted.fits(record, &told).then(|| line(format, record, &told))
        });
        if !take(Ok(fitting.collect())) {
            break;
        }
    }
    Ok(())
}

/// The numbers of the first and the last wanted record; 0 when there is none.
fn ends(store: &dyn Store, wanted: &Wanted) -> Result<(u64, u64), StoreError> {
    let fits = |record: &&Record| wanted.fits(record, &crate::http::entry(record));
    let find = |page: &dyn Fn(u64) -> Query, start: u64| -> Result<u64, StoreError> {
        let mut from = start;
        loop {
            let page = store.view(|view| view.records(&page(from)))?;
            if let Some(found) = page.iter().find(fits) {
                return Ok(found.seq);
            }
            match page.last() {
                Some(last) => from = last.seq,
                None => return Ok(0),
            }
        }
    };
    let first = find(&|after| wanted.next(after, PAGE), 0)?;
    if first == 0 {
        return Ok((0, 0));
    }
    Ok((first, find(&|before| wanted.previous(before, PAGE), u64::MAX)?))
}

/// `GET /v1/records/export`: what the page offers for download, for programs.
pub(super) async fn records(State(server): State<Server>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let begun = tokio::task::spawn_blocking(move || {
        let need = Need::Role(Role::Auditor);
        let (caller, asked) = admit(&server, &parts.headers, &parts.uri, need, &[EXPORT, FILTERS])?;
        let wanted = Wanted::of(&asked, &TimeZone::UTC)?;
        let store = super::records::store_of(&server, &caller, &asked)?;
        let wanted = wanted.within(&*store)?;
        let said = KEYS.iter().filter_map(|name| Some(format!("{name}={}", asked.get(*name)?)));
        let filter = said.collect::<Vec<_>>().join("&");
        begin(store, wanted, filter, asked.get("format").map_or("jsonl", String::as_str))
    });
    match begun.await {
        Ok(Ok(download)) => download.into_response(),
        Ok(Err(problem)) => problem.into_response(),
        Err(_) => {
            let text = "the request failed inside Lictor";
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", text).into_response()
        }
    }
}

impl IntoResponse for Download {
    fn into_response(self) -> Response {
        let mut response = Response::new(axum::body::Body::from_stream(Pieces(self.chunks)));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{}\"", self.name)) {
            headers.insert(header::CONTENT_DISPOSITION, value);
        }
        response
    }
}

/// A file as it is written.
struct Pieces(Chunks);

impl tokio_stream::Stream for Pieces {
    type Item = Result<String, std::io::Error>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
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
fn line(format: Format, record: &Record, told: &Value) -> String {
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
        Format::Ocsf => format!("{}\n", ocsf(record, told)),
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
    match serde_json::from_value::<Decision>(json!(decision)).ok() {
        Some(Decision::Block) => 8,
        Some(Decision::Ask) => 6,
        Some(Decision::Warn) => 4,
        _ => 2,
    }
}

/// A cell of a CSV file; a cell that a spreadsheet would parse as a formula is escaped.
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
