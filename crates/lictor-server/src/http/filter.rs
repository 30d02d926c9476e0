//! Filters for records. The same keys apply in `/v1/records`, in its stream, in the audit view of the page and in
//! exports.

use std::collections::HashMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use lictor_core::{Decision, SessionKey, Timestamp};
use lictor_engine::past::first_since;
use lictor_store::{Query, Record, Store, StoreError, StoreExt as _};
use serde_json::{Value, json};

use super::Problem;

/// The keys that are compared with a field of the record.
const FIELDS: [&str; 3] = ["user", "tool", "rule"];
/// Every key that narrows a search.
pub(crate) const KEYS: [&str; 9] =
    ["kind", "session", "decision", "user", "tool", "rule", "text", "from", "until"];

/// Which records are wanted.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// The part that the store can filter.
    query: Query,
    /// Only records after this one, and before that one.
    after: u64,
    before: u64,
    least: Option<Decision>,
    fields: Vec<(&'static str, String)>,
    /// In small letters, as it is and as JSON writes it.
    text: Option<(String, String)>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl Wanted {
    /// By the keys of a query. Days without a time zone are those of `zone`.
    ///
    /// # Errors
    /// When a value is none that the key can have.
    pub(crate) fn of(asked: &HashMap<String, String>, zone: &TimeZone) -> Result<Self, Problem> {
        let mut query = Query::all();
        if let Some(kind) = asked.get("kind") {
            query = query.kind(kind);
        }
        if let Some(session) = asked.get("session") {
            let (agent, id) = session.split_once(':').unwrap_or(("", session));
            query = query.session(SessionKey { agent: agent.to_owned(), id: id.to_owned() });
        }
        let least = match asked.get("decision") {
            None => None,
            Some(text) => {
                let bad = |_| Problem::bad("`decision` is `pass`, `warn`, `ask` or `block`");
                Some(serde_json::from_value(json!(text)).map_err(bad)?)
            }
        };
        let fields = FIELDS.into_iter().filter_map(|name| Some((name, asked.get(name)?.clone()))).collect();
        let text = asked.get("text").map(|text| {
            let plain = text.to_lowercase();
            let quoted = json!(plain).to_string();
            (plain, quoted.trim_matches('"').to_owned())
        });
        let moment = |name: &str, end: bool| match asked.get(name) {
            None => Ok(None),
            Some(text) => {
                let bad = || {
                    Problem::bad(format!(
                        "`{name}` is a day, `2026-11-17`, or a time, `2026-11-17T09:30:00Z`"
                    ))
                };
                moment(text, zone, end).ok_or_else(bad).map(Some)
            }
        };
        let (from, until) = (moment("from", false)?, moment("until", true)?);
        Ok(Self { query, after: 0, before: u64::MAX, least, fields, text, from, until })
    }

    /// The same, where only records between two numbers count.
    #[must_use]
    pub(crate) fn between(self, after: u64, before: u64) -> Self {
        Self { after: self.after.max(after), before: self.before.min(before), ..self }
    }

    /// The same, with time filters turned into record numbers: records are ordered by time.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn within(self, store: &dyn Store) -> Result<Self, StoreError> {
        let after =
            self.from.map_or(Ok(0), |from| first_since(store, from).map(|seq| seq.saturating_sub(1)))?;
        let before = match self.until {
            None => u64::MAX,
            Some(until) => {
                let first = first_since(store, until)?;
                // Future records may match.
                if first > store.view(|view| view.head())?.seq { u64::MAX } else { first }
            }
        };
        Ok(self.between(after, before))
    }

    /// The next records after one, oldest first.
    pub(crate) fn next(&self, after: u64, limit: usize) -> Query {
        self.query.clone().after(after.max(self.after)).before(self.before).limit(limit)
    }

    /// The records before one, newest first.
    pub(crate) fn previous(&self, before: u64, limit: usize) -> Query {
        self.query.clone().after(self.after).before(before.min(self.before)).newest_first().limit(limit)
    }

    /// Whether a record that the store found is wanted; `entry` is what [`entry`](super::entry) tells of it.
    pub(crate) fn fits(&self, record: &Record, entry: &Value) -> bool {
        let decision = || serde_json::from_value(entry.get("decision").cloned().unwrap_or_default());
        let holds = |(plain, quoted): &(String, String)| {
            let body = record.body.to_lowercase();
            body.contains(quoted.as_str()) || record.kind.contains(plain.as_str())
        };
        self.from.is_none_or(|from| record.at >= from)
            && self.until.is_none_or(|until| record.at < until)
            && self.least.is_none_or(|least| decision().is_ok_and(|decision: Decision| decision >= least))
            && self.fields.iter().all(|(name, value)| entry.get(*name) == Some(&json!(value)))
            && self.text.as_ref().is_none_or(holds)
    }
}

/// A time, or the beginning of a day; of the following one, when a day is the end.
pub(crate) fn moment(text: &str, zone: &TimeZone, end: bool) -> Option<Timestamp> {
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Some(Timestamp(at.as_millisecond()));
    }
    let day: Date = text.parse().ok().filter(|_| text.len() == 10)?;
    let day = if end { day.tomorrow().ok()? } else { day };
    let at = day.to_zoned(zone.clone()).ok()?;
    Some(Timestamp(at.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests;
