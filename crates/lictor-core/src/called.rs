//! The JSON protocol of the programs that a policy names: the same input and output for guards, callbacks,
//! feedback and completion checks.
//!
//! Every document has `lictor` (the protocol version), `for`, `name` and `session`. Fields may be added within a
//! version; nothing else changes.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::action::{Action, SessionKey};
use crate::clock::Timestamp;
use crate::context::Context;
use crate::decision::Decision;
use crate::policy::{Call, CallbackResult};
use crate::remarks::Remarks;
use crate::risk::Risk;
use crate::session::SessionState;
use crate::text;
use crate::trace::GivenVerdict;

/// The protocol version.
pub const FORM: u32 = 1;

/// How many characters of a reason or a fix are kept.
const WORDS: usize = 500;
/// How many annotations, and how many tags, one answer may set.
const MAX_REMARKS: usize = 32;

/// A session as it is passed to programs.
#[must_use]
pub fn session(key: &SessionKey, state: &SessionState, now: Timestamp) -> Json {
    json!({
        "agent": key.agent,
        "id": key.id,
        "parent": state.parent,
        "prompt": state.prompt,
        "started": state.started,
        "elapsed_ms": state.started.map_or(0, |started| now.millis_since(started)),
        "actions": state.action_count,
        "passed": state.pass_count,
        "warned": state.warn_count,
        "asked": state.ask_count,
        "blocked": state.block_count,
        "tasks": state.task_count,
        "succeeded": state.success_count,
        "failed": state.failure_count,
        "failures_in_a_row": state.feedback.failures_in_a_row,
        "peak_risk": state.peak_risk.as_fraction(),
        "streaks": state.streaks,
        "usage": {"tokens": state.usage.tokens, "cost": state.usage.cost()},
        "stop_rounds": state.completion.rounds,
    })
}

/// The input of a guard's program.
#[must_use]
pub fn guard(name: &str, action: &Action, context: &Context<'_>) -> Json {
    let said = |given: &GivenVerdict| json!({"guard": given.guard(), "decision": given.verdict.value().as_str(), "reason": given.verdict.reason()});
    json!({
        "lictor": FORM,
        "for": "guard",
        "name": name,
        "guard": name,
        "action": action,
        "facts": context.facts(),
        "session": action.session.as_ref().map(|key| session(key, context.session(), context.now())),
        "risk": context.risk().as_fraction(),
        "annotations": context.annotations(),
        "verdicts": context.verdicts().iter().filter(|given| !given.verdict.reason().is_empty()).map(said).collect::<Vec<_>>(),
        "violations": context.violations(),
    })
}

/// The input of a callback's program.
#[must_use]
pub fn callback(call: &Call<'_>) -> Json {
    let context = call.context;
    json!({
        "lictor": FORM,
        "for": "callback",
        "name": call.policy,
        "policy": call.policy,
        "definition": call.definition,
        "deed": call.deed,
        "action": context.action,
        "facts": call.facts,
        "session": context.action.session.as_ref().map(|key| session(key, context.session, context.now)),
        "risk": context.risk.as_fraction(),
        "annotations": context.annotations,
        "violations": context.violations,
    })
}

/// The output of a guard's or a callback's program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    passed: Option<bool>,
    decision: Option<Decision>,
    #[serde(alias = "reason")]
    message: Option<String>,
    fix: Option<String>,
    #[serde(default)]
    risk: f64,
    #[serde(default)]
    annotations: BTreeMap<String, Json>,
    #[serde(default)]
    tags: Vec<String>,
    evidence: Option<Json>,
}

/// Parses the output of a guard's or a callback's program: `{"passed": bool, "message"?}`, or `{"decision":
/// "pass" | "warn" | "ask" | "block", "reason"?, "fix"?, "risk"?, "annotations"?, "tags"?, "evidence"?}`.
///
/// # Errors
/// What is wrong with it. A missing answer never counts as a pass.
pub fn answer(printed: &[u8]) -> Result<CallbackResult, String> {
    let Ok(given) = serde_json::from_slice::<Given>(printed) else {
        let shown = text::clean(&text::visible_line(String::from_utf8_lossy(printed).trim()), 80);
        return Err(format!(
            "it printed `{shown}` instead of {{\"passed\": true}} or {{\"decision\": \"block\", \"reason\": \"…\"}}"
        ));
    };
    let passed = match (given.passed, given.decision) {
        (None, None) => return Err("its answer has neither `passed` nor `decision`".to_owned()),
        (Some(passed), Some(decision)) if passed != decision.allows() => {
            return Err(format!(
                "its answer contradicts itself: `passed` is {passed}, `decision` {decision}"
            ));
        }
        (Some(passed), _) => passed,
        (None, Some(decision)) => decision.allows(),
    };
    let risk = Risk::from_fraction(given.risk).ok_or("its `risk` is not a number from 0 to 1")?;
    if given.annotations.len() > MAX_REMARKS || given.tags.len() > MAX_REMARKS {
        return Err(format!("it left more than {MAX_REMARKS} annotations or tags"));
    }
    let words = |text: Option<String>| text.map(|text| text::clean(&text, WORDS));
    Ok(CallbackResult {
        passed,
        message: words(given.message),
        decision: given.decision,
        fix: words(given.fix),
        remarks: Remarks { risk, annotations: given.annotations, tags: given.tags },
        evidence: given.evidence,
    })
}

#[cfg(test)]
mod tests;
