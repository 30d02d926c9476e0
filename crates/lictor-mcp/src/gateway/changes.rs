//! Notices for people that clients must not see: definitions that have changed since they were accepted, or that
//! hide something. Each is recorded once.

use lictor::store::{Draft, Durability, StoreExt as _};
use serde_json::json;

use super::Gateway;
use crate::pins::Server;

/// How much of a diff is recorded; `lictor mcp pins diff` shows all of it.
const MOST_LINES: usize = 60;
const LONGEST_LINE: usize = 400;

/// A definition that is not offered any more.
#[derive(Debug)]
pub(super) struct Change {
    server: String,
    key: String,
    reasons: Vec<String>,
    diff: Vec<String>,
}

/// The record about a pinned definition.
pub(super) fn of(server: &Server, key: &str) -> Option<Change> {
    let item = server.items.get(key)?;
    let now = item.changed.as_ref().unwrap_or(&item.accepted);
    let [before, after] = [&item.accepted, now].map(|definition| format!("{definition:#}\n"));
    let diff = lictor::diff::unified(&before, &after, 3).into_iter().take(MOST_LINES).collect();
    let (server, reasons) = (server.name.clone(), item.reasons.clone());
    Some(Change { key: key.to_owned(), server, reasons, diff })
}

impl Gateway {
    /// Records them. On failure the definition stays hidden, and in the pins.
    pub(super) fn record_changes(&self, changes: &[Change]) {
        if changes.is_empty() {
            return;
        }
        let at = self.runtime.project().options().now();
        let drafts = changes.iter().map(|change| {
            let kind = change.key.split_once('/').map_or("server", |(kind, _)| kind);
            let shown = |line: &String| lictor_core::text::clean(&self.runtime.redacted(line), LONGEST_LINE);
            let diff: Vec<String> = change.diff.iter().map(shown).collect();
            let Change { server, key, reasons, .. } = change;
            let body = json!({"server": server, "item": key, "reasons": reasons, "diff": diff});
            Draft { at, session: None, kind: format!("mcp.{kind}_changed"), body: body.to_string() }
        });
        let _ = self.runtime.store().update(Durability::Process, |tx| {
            drafts.clone().try_for_each(|draft| tx.append(draft).map(drop))
        });
    }
}
