//! Findings of reviewers, and people's rulings.

use axum::http::StatusCode;
use lictor::ledger::ledger::{Ledger, Verb};
use lictor::ledger::{LedgerError, Level, PlanVerdict, render};
use serde::Deserialize;
use serde_json::{Value, json};

use super::judge::not_a_program;
use super::{Answer, Call, Problem};

/// Plans in one answer.
pub(super) const MOST: u64 = 1_000;

/// A plan with its findings, as `lictor verdict show --json` prints it.
fn shown(verdict: &PlanVerdict) -> Result<Value, Problem> {
    let unreadable = |error: serde_json::Error| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", error.to_string())
    };
    serde_json::from_str(&render::json::verdict(verdict, |_| &[])).map_err(unreadable)
}

pub(super) fn list(call: &Call) -> Answer {
    let limit = usize::try_from(call.number("limit", 1..=MOST)?.unwrap_or(100)).unwrap_or(usize::MAX);
    let least: Level = match call.query.get("level") {
        None => Level::Low,
        Some(text) => text.parse().map_err(|error| Problem::bad(format!("{error}")))?,
    };
    let open = call.server.tenants.open(&call.caller.tenant)?;
    let ledger = open.runtime.ledger();
    let ledger = ledger.reading();
    let plans: Vec<String> = match call.query.get("plan") {
        Some(plan) => vec![plan.clone()],
        None => {
            let recent = ledger.retro(limit, least).map_err(lictor::Error::from)?;
            recent.into_iter().map(|recent| recent.plan.to_string()).collect()
        }
    };
    let plans = plans.iter().map(|plan| shown(&ledger.verdict(plan).map_err(lictor::Error::from)?));
    Ok(json!({"plans": plans.collect::<Result<Vec<Value>, Problem>>()?}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ruling {
    reason: String,
}

/// What a person says to a finding.
fn ruled(
    call: &Call,
    say: impl FnOnce(&Ledger<'_>, &str, &str, &str) -> Result<bool, LedgerError>,
) -> Answer {
    not_a_program(call)?;
    let Ruling { reason } = call.read()?;
    if reason.trim().is_empty() {
        return Err(Problem::bad("a ruling needs a reason"));
    }
    let open = call.server.tenants.open(&call.caller.tenant)?;
    let ledger = open.runtime.ledger();
    let (plan, id) = (call.part("plan"), call.part("id"));
    let done = say(&ledger.writing()?, plan, id, &reason).map_err(lictor::Error::from)?;
    call.server.tenants.changed();
    if !done {
        let text = format!("plan `{plan}` has no open finding `{id}`");
        return Err(Problem::new(StatusCode::NOT_FOUND, "not_found", text));
    }
    Ok(json!({"plan": plan, "id": id, "by": call.caller.owner}))
}

pub(super) fn clear(call: &Call) -> Answer {
    let by = &call.caller.owner;
    ruled(call, |ledger, plan, id, reason| Ok(ledger.clear(plan, id, by, reason)?.is_some()))
}

pub(super) fn waive(call: &Call) -> Answer {
    let by = &call.caller.owner;
    ruled(call, |ledger, plan, id, reason| {
        ledger.rule(plan, id, Verb::AcceptRisk, by, reason, None).map(|_| true)
    })
}
