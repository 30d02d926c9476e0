//! The sessions of a tenant, for callers with read access.

use axum::http::StatusCode;
use lictor::rpc;
use lictor_core::SessionKey;
use serde_json::json;

use super::{Answer, Call, Problem};

/// Sessions in one answer.
pub(super) const MOST: u64 = 1_000;

pub(super) fn list(call: &Call) -> Answer {
    let limit = call.number("limit", 1..=MOST)?.unwrap_or(100);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let open = call.server.tenants.open(&call.caller.tenant)?;
    let mut keys = lictor_engine::past::sessions(&*open.store)?;
    keys.sort();
    if let Some(since) = call.query.get("since") {
        let since = named(since);
        keys.retain(|key| *key > since);
    }
    let more = keys.len() > limit;
    keys.truncate(limit);
    let next = keys.last().filter(|_| more).map(ToString::to_string);
    Ok(json!({"sessions": keys.iter().map(ToString::to_string).collect::<Vec<_>>(), "next": next}))
}

pub(super) fn one(call: &Call) -> Answer {
    let key = named(call.part("session"));
    let open = call.server.tenants.open(&call.caller.tenant)?;
    let state = open.runtime.session(&key)?;
    if state.started.is_none() {
        return Err(Problem::new(StatusCode::NOT_FOUND, "not_found", format!("there is no session `{key}`"))
            .fix("look at `GET /v1/sessions`"));
    }
    Ok(rpc::session_form(&key, &state))
}

/// `agent:id`.
fn named(text: &str) -> SessionKey {
    let (agent, id) = text.split_once(':').unwrap_or(("", text));
    SessionKey { agent: agent.to_owned(), id: id.to_owned() }
}
