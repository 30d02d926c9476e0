//! The record: search, verification, and ingestion from machines.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::http::StatusCode;
use jiff::tz::TimeZone;
use lictor_store::{Draft, Durability, Head, Query, Record, Store, StoreExt as _, verify};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::Wanted;
use super::table::MOST_SEQ;
use super::{Answer, Call, Problem, Server};
use crate::identity::{Caller, Kind};

/// Records in one answer.
pub(super) const MOST: u64 = 1_000;
/// The maximum number of records scanned per response.
const MOST_SEEN: usize = 50_000;

/// The tenant's own record, or that of a machine.
pub(super) fn store(call: &Call) -> Result<Arc<dyn Store>, Problem> {
    store_of(&call.server, &call.caller, &call.query)
}

/// The same for a caller and a query.
pub(super) fn store_of(
    server: &Server,
    caller: &Caller,
    query: &HashMap<String, String>,
) -> Result<Arc<dyn Store>, Problem> {
    match query.get("machine") {
        Some(machine) => Ok(server.tenants.sent_by(&caller.tenant, machine)?),
        None => Ok(Arc::clone(&server.tenants.open(&caller.tenant)?.store)),
    }
}

/// A record with its searchable fields.
pub(crate) fn entry(record: &Record) -> Value {
    let body: Value = serde_json::from_str(&record.body).unwrap_or(Value::Null);
    let at = |path: &str| body.pointer(path).cloned().unwrap_or(Value::Null);
    let decision = match at("/event/decision") {
        Value::Null => at("/evaluation/decision"),
        found => found,
    };
    let verdicts = body.pointer("/evaluation/verdicts").and_then(Value::as_array);
    let stopping = verdicts.into_iter().flatten().find(|given| {
        given.get("status") == Some(&json!("active"))
            && given.get("value").is_some_and(|value| value != "pass")
    });
    let of_verdict =
        |field: &str| stopping.and_then(|given| given.get(field)).cloned().unwrap_or(Value::Null);
    let correlation = match at("/event/tool_use_id") {
        Value::Null => at("/action/tool_use_id"),
        found => found,
    };
    let reason = match of_verdict("reason") {
        Value::Null => at("/reason"),
        reason => reason,
    };
    let rule = match of_verdict("rule") {
        Value::Null => of_verdict("guard"),
        rule => rule,
    };
    json!({
        "seq": record.seq, "at": record.at, "kind": record.kind, "session": record.session, "hash": record.hash,
        "tenant": at("/action/actor/tenant"), "user": at("/action/actor/user"), "email": at("/action/actor/email"),
        "chain": at("/action/actor/chain"), "tier": at("/action/tier"), "tool": at("/action/tool"),
        "action_kind": at("/action/kind"), "decision": decision, "reason": reason,
        "rule": rule, "correlation_id": correlation, "standing": at("/event/standing"),
    })
}

pub(super) fn list(call: &Call) -> Answer {
    let limit = usize::try_from(call.number("limit", 1..=MOST)?.unwrap_or(100)).unwrap_or(usize::MAX);
    let mut after = call.number("since", 0..=MOST_SEQ)?.unwrap_or(0);
    let before = call.number("before", 0..=MOST_SEQ)?.unwrap_or(u64::MAX);
    let wanted = Wanted::of(&call.query, &TimeZone::UTC)?.between(0, before);
    let store = store(call)?;
    let wanted = wanted.within(&*store)?;
    let (mut found, mut seen) = (Vec::new(), 0);
    let mut more = true;
    while more && found.len() < limit && seen < MOST_SEEN {
        let page = store.view(|view| view.records(&wanted.next(after, 200)))?;
        more = page.len() == 200;
        for record in &page {
            (after, seen) = (record.seq, seen + 1);
            let entry = entry(record);
            if wanted.fits(record, &entry) {
                found.push(entry);
            }
            if found.len() >= limit {
                more = true;
                break;
            }
        }
    }
    Ok(json!({"records": found, "next": more.then_some(after)}))
}

pub(super) fn one(call: &Call) -> Answer {
    let bad = || Problem::bad("the number of a record is a number");
    let seq: u64 = call.part("seq").parse().ok().filter(|seq| *seq <= MOST_SEQ).ok_or_else(bad)?;
    let query = Query::all().after(seq.saturating_sub(1)).before(seq.saturating_add(1)).limit(1);
    let found = store(call)?.view(|view| view.records(&query))?;
    let missing = || Problem::new(StatusCode::NOT_FOUND, "not_found", format!("there is no record {seq}"));
    let record = found.first().ok_or_else(missing)?;
    let body: Value = serde_json::from_str(&record.body).unwrap_or_else(|_| json!(record.body));
    let mut whole = entry(record);
    if let Some(fields) = whole.as_object_mut() {
        fields.insert("body".to_owned(), body);
        fields.insert("prev".to_owned(), json!(record.prev));
    }
    Ok(whole)
}

pub(super) fn verify_all(call: &Call) -> Answer {
    let since = call.number("since", 0..=MOST_SEQ)?.unwrap_or(0);
    let until = call.number("until", 0..=MOST_SEQ)?.unwrap_or(u64::MAX);
    verified(&*store(call)?, since.saturating_add(1)..=until)
}

/// The result of verifying a record, or a part of it.
pub(crate) fn verified(store: &dyn Store, range: RangeInclusive<u64>) -> Answer {
    let result = store.view(|view| verify(view, range, None))?;
    let faults: Vec<String> = result.faults.iter().map(ToString::to_string).collect();
    Ok(json!({"sound": result.is_sound(), "records": result.records, "faults": faults,
              "head": {"seq": result.head.seq, "hash": result.head.hash}, "sealing": result.sealing.to_string()}))
}

/// Machines that sent records, with the newest one of each.
pub(super) fn machines(call: &Call) -> Answer {
    let tenants = &call.server.tenants;
    let mut rows = Vec::new();
    for name in tenants.registry.machines(&call.caller.tenant)? {
        let store = tenants.stores.machine(&call.caller.tenant, &name)?;
        let newest = store.view(|view| view.records(&Query::all().newest_first().limit(1)))?;
        let head = newest.first().map(|record| json!({"seq": record.seq, "hash": record.hash}));
        rows.push(json!({"name": name, "head": head, "newest_at": newest.first().map(|record| record.at)}));
    }
    Ok(json!({"machines": rows}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ingest {
    records: Vec<Record>,
}

/// Takes the records that a machine wrote, if they follow those that are here already. Records that are already
/// here are skipped.
pub(super) fn ingest(call: &Call) -> Answer {
    let machine = call.part("machine");
    // The operator has no records.
    if call.caller.kind == Kind::Operator {
        let text = format!("the token is not that of `{machine}`");
        return Err(Problem::new(StatusCode::FORBIDDEN, "not_yours", text));
    }
    let Ingest { records } = call.read()?;
    let machine = crate::registry::chain(&call.caller, machine)?;
    let tenants = &call.server.tenants;
    let store = tenants.stores.machine(&call.caller.tenant, &machine)?;
    tenants.registry.note_machine(&call.caller.tenant, &machine)?;
    let head = store.try_update(Durability::Power, |tx| take(tx, records))?;
    call.server.tenants.changed();
    Ok(json!({"head": {"seq": head.seq, "hash": head.hash}}))
}

fn take(tx: &mut dyn lictor_store::Transaction, records: Vec<Record>) -> Result<Head, Problem> {
    let mut head = tx.head()?;
    let conflict = |head: Head, why: String| {
        let here = json!({"seq": head.seq, "hash": head.hash});
        Problem::new(StatusCode::CONFLICT, "fork", format!("{why}; this server has {here}"))
    };
    for record in records {
        if record.computed_hash() != record.hash {
            return Err(conflict(head, format!("record {} does not match its hash", record.seq)));
        }
        if record.seq <= head.seq {
            let query = Query::all().after(record.seq.saturating_sub(1)).limit(1);
            let known = tx.records(&query)?.into_iter().next();
            match known {
                Some(known) if known.hash != record.hash => {
                    return Err(conflict(head, format!("record {} is another one here", record.seq)));
                }
                _ => continue,
            }
        }
        if record.seq != head.seq + 1 || record.prev != head.hash {
            return Err(conflict(head, format!("record {} does not follow", record.seq)));
        }
        let Record { at, session, kind, body, .. } = record;
        head = tx.append(Draft { at, session, kind, body })?.head();
    }
    Ok(head)
}
