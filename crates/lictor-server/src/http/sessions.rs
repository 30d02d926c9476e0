//! The sessions of a tenant, for callers with read access.

use std::collections::BTreeSet;

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
    // Sorted by the displayed name, because that is the cursor.
    let keys = lictor_engine::past::sessions(&*open.store)?;
    let mut names: BTreeSet<String> = keys.iter().map(ToString::to_string).collect();
    if let Some(since) = call.query.get("since") {
        names = names.split_off(since);
        names.remove(since);
    }
    let sessions: Vec<&String> = names.iter().take(limit).collect();
    let next = sessions.last().filter(|_| names.len() > limit);
    Ok(json!({"sessions": sessions, "next": next}))
}

pub(super) fn one(call: &Call) -> Answer {
    let open = call.server.tenants.open(&call.caller.tenant)?;
    let mut key = named(call.part("session"));
    let mut state = open.runtime.session(&key)?;
    // The displayed name may differ from the stored one.
    if state.started.is_none()
        && let Some(shown) = lictor_engine::past::sessions(&*open.store)?
            .into_iter()
            .find(|known| known.to_string() == call.part("session"))
    {
        state = open.runtime.session(&shown)?;
        key = shown;
    }
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
