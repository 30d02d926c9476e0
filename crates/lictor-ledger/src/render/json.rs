//! JSON for programs. Field names and their order are stable.

use lictor_core::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::evidence::Evidence;
use crate::finding::{Disposition, Finding};
use crate::gate::GateOutcome;
use crate::identity::{FindingId, PlanHash};
use crate::ledger::{Recent, Step};
use crate::level::Level;
use crate::verdict::PlanVerdict;

/// Seconds since 1970.
fn seconds(at: Timestamp) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "exact for 285 000 years")]
    let millis = at.0 as f64;
    millis / 1_000.0
}

#[derive(Serialize)]
struct VerdictOut<'a> {
    plan_hash: &'a PlanHash,
    level: Level,
    summary: String,
    findings: Vec<FindingOut<'a>>,
    created_at: f64,
    updated_at: f64,
    blocks: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    closed: Vec<FindingOut<'a>>,
}

#[derive(Serialize)]
struct FindingOut<'a> {
    id: &'a FindingId,
    level: Level,
    title: &'a str,
    agent: &'a str,
    evidence: &'a [Evidence],
    rationale: &'a str,
    created_at: f64,
    updated_at: f64,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ruling: Option<Ruled<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<Stepped<'a>>,
}

#[derive(Serialize)]
struct Ruled<'a> {
    by: &'a str,
    reason: &'a str,
    at: f64,
    until: Option<f64>,
}

#[derive(Serialize)]
struct Stepped<'a> {
    at: f64,
    what: &'a str,
    by: &'a str,
    level: Level,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
}

fn ruled(disposition: &Disposition) -> Option<Ruled<'_>> {
    disposition.ruling().map(|ruling| Ruled {
        by: &ruling.by,
        reason: &ruling.reason,
        at: seconds(ruling.at),
        until: ruling.until.map(seconds),
    })
}

fn finding_out<'a>(finding: &'a Finding, evidence: &'a [Evidence], history: &'a [Step]) -> FindingOut<'a> {
    FindingOut {
        id: &finding.id,
        level: finding.level,
        title: &finding.title,
        agent: &finding.agent,
        evidence,
        rationale: &finding.rationale,
        created_at: seconds(finding.created_at),
        updated_at: seconds(finding.updated_at),
        status: finding.disposition.as_str(),
        ruling: ruled(&finding.disposition),
        history: history
            .iter()
            .map(|step| Stepped {
                at: seconds(step.at),
                what: &step.what,
                by: &step.by,
                level: step.level,
                reason: &step.reason,
            })
            .collect(),
    }
}

/// A verdict. `history` gives each finding's history; empty for none.
#[must_use]
pub fn verdict<'a>(verdict: &'a PlanVerdict, history: impl Fn(&FindingId) -> &'a [Step]) -> String {
    let out = |finding: &'a Finding| finding_out(finding, &finding.evidence, history(&finding.id));
    let tally = verdict.tally();
    pretty(&VerdictOut {
        plan_hash: &verdict.plan,
        level: tally.level(),
        summary: tally.summary(),
        findings: verdict.open.iter().map(out).collect(),
        created_at: seconds(verdict.created_at),
        updated_at: seconds(verdict.updated_at),
        blocks: tally.level().blocks(),
        closed: verdict.closed.iter().map(out).collect(),
    })
}

/// The plans that changed last.
#[must_use]
pub fn retro(recent: &[Recent]) -> String {
    #[derive(Serialize)]
    struct Out<'a> {
        plan_hash: &'a PlanHash,
        level: Level,
        summary: String,
        blocks: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        council: Option<&'a str>,
        created_at: f64,
        updated_at: f64,
    }
    let out: Vec<Out<'_>> = recent
        .iter()
        .map(|entry| Out {
            plan_hash: &entry.plan,
            level: entry.tally.level(),
            summary: entry.tally.summary(),
            blocks: entry.tally.level().blocks(),
            council: entry.council.as_deref(),
            created_at: seconds(entry.created_at),
            updated_at: seconds(entry.updated_at),
        })
        .collect();
    pretty(&out)
}

/// The gate's outcome.
#[must_use]
pub fn gate(event: &str, outcome: &GateOutcome) -> String {
    let value: Value = match outcome {
        GateOutcome::Ok(seen) => json!({
            "outcome": "ok", "event": event, "trees": seen.trees, "attestations": seen.attestations, "notes": seen.notes,
        }),
        GateOutcome::Blocked(blocked, seen) => {
            let findings: Vec<Value> = blocked
                .findings
                .iter()
                .map(|blocker| {
                    let finding = finding_out(&blocker.finding, &blocker.evidence, &[]);
                    let mut value = serde_json::to_value(finding).unwrap_or_default();
                    if let Some(object) = value.as_object_mut() {
                        object.insert("plan_hash".to_owned(), json!(blocker.plan));
                    }
                    value
                })
                .collect();
            json!({
                "outcome": "blocked", "event": event, "trees": seen.trees, "findings": findings, "more": blocked.more,
                "reasons": blocked.reasons, "next": blocked.next, "attestations": seen.attestations,
                "notes": seen.notes,
            })
        }
        GateOutcome::Error { reason } => json!({ "outcome": "error", "event": event, "reasons": [reason] }),
    };
    pretty(&value)
}

/// Two-space indented JSON with a line end.
#[must_use]
pub fn pretty(value: &impl Serialize) -> String {
    let mut text =
        serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"));
    text.push('\n');
    text
}
