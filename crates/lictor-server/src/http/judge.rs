//! Judging, sessions, findings and questions.

use axum::http::StatusCode;
use lictor::rpc::{GateParams, PromptParams, RecordParams, ResolveParams, SessionParams, StopParams};
use lictor_core::{Approval, Digest};
use lictor_engine::{ApprovalError, Lifetime, Who};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::{Answer, Call, Problem, unwritten};
use crate::identity::Kind;
use crate::tenants::now;

pub(super) fn evaluate(call: &Call) -> Result<Box<RawValue>, Problem> {
    let answered = call.server.tenants.evaluate(&call.caller, call.read()?)?;
    call.server.metrics.decision(answered.evaluation.decision.as_str());
    to_raw_value(&answered).map_err(unwritten)
}

pub(super) fn post(call: &Call) -> Answer {
    Ok(call.server.tenants.post(&call.caller, call.read()?)?)
}

pub(super) fn delegate(call: &Call) -> Answer {
    Ok(call.server.tenants.delegate(&call.caller, call.read()?)?)
}

fn dispatch<T: DeserializeOwned>(call: &Call, method: &str) -> Answer {
    // Reports invalid fields with their place.
    call.read::<T>()?;
    Ok(call.server.tenants.dispatch(&call.caller, method, call.body.clone())?)
}

pub(super) fn stop(call: &Call) -> Answer {
    dispatch::<StopParams>(call, "stop")
}

pub(super) fn prompt(call: &Call) -> Answer {
    dispatch::<PromptParams>(call, "prompt")
}

pub(super) fn session(call: &Call) -> Answer {
    dispatch::<SessionParams>(call, "session")
}

pub(super) fn end(call: &Call) -> Answer {
    dispatch::<SessionParams>(call, "end")
}

pub(super) fn reset(call: &Call) -> Answer {
    dispatch::<SessionParams>(call, "reset")
}

pub(super) fn gate(call: &Call) -> Answer {
    // A list could be parsed as an entry without commits, which would pass the gate.
    let pushed = call.body.pointer("/event/pre-push").and_then(Value::as_array);
    if pushed.into_iter().flatten().any(|entry| !entry.is_object()) {
        return Err(Problem::bad("an entry of `pre-push` is an object with `local` and `remote`"));
    }
    dispatch::<GateParams>(call, "gate")
}

pub(super) fn record(call: &Call) -> Answer {
    dispatch::<RecordParams>(call, "record")
}

pub(super) fn resolve(call: &Call) -> Answer {
    not_a_program(call)?;
    dispatch::<ResolveParams>(call, "resolve")
}

pub(super) fn approvals(call: &Call) -> Answer {
    let open = call.server.tenants.open(&call.caller.tenant)?;
    let rows = lictor::rpc::dispatch(&open.runtime, "approvals", json!({}))
        .map_err(crate::tenants::CallError::from)?;
    Ok(json!({"approvals": rows}))
}

/// A yes or no is a person's.
pub(super) fn not_a_program(call: &Call) -> Result<(), Problem> {
    match call.caller.kind {
        Kind::Person => Ok(()),
        _ => Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", "only a person can answer questions")),
    }
}

fn who(call: &Call) -> Who {
    Who { by: call.caller.owner.clone(), at: now(), from: call.from.to_owned() }
}

fn unanswered(error: ApprovalError) -> Problem {
    let status = match error {
        ApprovalError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
        ApprovalError::Unknown { .. } => StatusCode::NOT_FOUND,
        _ => StatusCode::CONFLICT,
    };
    Problem::new(status, "approval", error.to_string()).fix("look at `GET /v1/approvals`")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Approve {
    #[serde(default)]
    lifetime: Length,
    for_seconds: Option<i64>,
    /// What the person saw ([`seen`]): a changed question is not answered.
    seen: Option<String>,
}

/// Identifies what a person is shown of a question.
pub(crate) fn seen(approval: &Approval) -> String {
    Digest::of(json!([approval.request, approval.asked, approval.pins]).to_string().as_bytes()).to_string()
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "snake_case")]
enum Length {
    #[default]
    Once,
    Session,
}

pub(super) fn approve(call: &Call) -> Answer {
    not_a_program(call)?;
    let Approve { lifetime, for_seconds, seen: looked_at } = call.read()?;
    let lifetime = match lifetime {
        Length::Once => Lifetime::Once,
        Length::Session => Lifetime::Session,
    };
    let lasts = for_seconds.unwrap_or(600).clamp(1, 86_400).saturating_mul(1000);
    let open = call.server.tenants.open(&call.caller.tenant)?;
    let approvals = open.runtime.approvals();
    let question = approvals.find(call.part("id")).map_err(unanswered)?;
    if looked_at.is_some_and(|looked_at| looked_at != seen(&question)) {
        return Err(unanswered(ApprovalError::Changed { id: question.short().to_owned() }));
    }
    let said = approvals.approve_seen(&question, who(call), lifetime, lasts).map_err(unanswered)?;
    call.server.tenants.changed();
    let missing = said.missing();
    Ok(json!({"grant": said.grant(), "missing": missing}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Deny {
    reason: Option<String>,
}

pub(super) fn deny(call: &Call) -> Answer {
    not_a_program(call)?;
    let Deny { reason } = call.read()?;
    let open = call.server.tenants.open(&call.caller.tenant)?;
    let approval = open.runtime.approvals().deny(call.part("id"), who(call), reason).map_err(unanswered)?;
    call.server.tenants.changed();
    Ok(json!({"approval": approval}))
}

pub(super) fn whoami(call: &Call) -> Answer {
    let caller = &call.caller;
    Ok(json!({
        "tenant": caller.tenant, "kind": caller.kind, "owner": caller.owner, "email": caller.email,
        "role": caller.role, "scopes": caller.scopes, "groups": caller.groups, "roles": caller.roles,
    }))
}
