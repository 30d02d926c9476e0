//! The explanation of one decision: its effects, the verdicts, and the trace through the graph.

use askama::Template;
use axum::http::StatusCode;
use lictor::drawing;
use lictor::log::Evaluated;
use lictor_core::{Evaluation, Value};
use lictor_store::{Query, Record, Store, StoreExt as _};

use super::words::{self, When};
use super::{Frame, Shown, Visit, shown};
use crate::http::Problem;

/// One node on the way.
pub(crate) struct Step {
    pub(crate) depth: usize,
    pub(crate) name: String,
    pub(crate) class: &'static str,
    pub(crate) word: &'static str,
    pub(crate) note: &'static str,
    pub(crate) quiet: bool,
}

/// One verdict that counts.
pub(crate) struct Said {
    pub(crate) class: &'static str,
    pub(crate) rule: String,
    pub(crate) reason: String,
    pub(crate) fix: String,
}

#[derive(Template)]
#[template(path = "decision.html")]
struct Page {
    frame: Frame,
    seq: u64,
    at: When,
    word: &'static str,
    title: String,
    command: String,
    agent: String,
    session: Option<(String, String)>,
    said: Vec<Said>,
    deeds: Vec<String>,
    unknown: Vec<String>,
    steps: Vec<Step>,
    risk: String,
    policy: String,
    digest: String,
    observed: bool,
    dry: bool,
    raw: String,
    may_mark: bool,
}

/// The record with that number.
pub(crate) fn record(store: &dyn Store, seq: &str) -> Result<Record, Problem> {
    let missing = || {
        let text = format!("there is no record `{}`", words::clipped(seq, 40));
        Problem::new(StatusCode::NOT_FOUND, "not_found", text).fix("`/feed` shows the newest ones")
    };
    let seq: u64 = seq.parse().map_err(|_| missing())?;
    let query = Query::all().after(seq.saturating_sub(1)).before(seq.saturating_add(1)).limit(1);
    store.view(|view| view.records(&query))?.into_iter().next().ok_or_else(missing)
}

pub(super) fn decision(visit: &Visit) -> Result<Shown, Problem> {
    let record = record(&*visit.store()?, visit.part("seq"))?;
    let raw = serde_json::from_str::<serde_json::Value>(&record.body)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| record.body.clone());
    let Ok(told) = serde_json::from_str::<Evaluated<'_>>(&record.body) else {
        return shown(&Page {
            frame: visit.frame(&format!("Record {}", record.seq), "/feed"),
            seq: record.seq,
            at: When(record.at),
            word: "",
            title: record.kind.clone(),
            command: String::new(),
            agent: String::new(),
            session: record.session.as_ref().map(link),
            said: Vec::new(),
            deeds: Vec::new(),
            unknown: Vec::new(),
            steps: Vec::new(),
            risk: String::new(),
            policy: String::new(),
            digest: record.hash.to_string(),
            observed: false,
            dry: false,
            raw: words::clipped(&raw, 100_000),
            may_mark: false,
        });
    };
    let evaluation = &told.evaluation;
    let main =
        ["command", "patch", "path", "url", "code"].into_iter().find_map(|field| told.action.text(field));
    shown(&Page {
        frame: visit.frame(&format!("Decision {}", record.seq), "/feed"),
        seq: record.seq,
        at: When(record.at),
        word: words::word(evaluation.decision),
        title: words::wish(&told.action),
        command: words::clipped(main.unwrap_or(&told.action.tool), 20_000),
        agent: record.session.as_ref().map_or(&told.action.actor.agent, |key| &key.agent).clone(),
        session: record.session.as_ref().map(link),
        said: said(evaluation),
        deeds: words::deeds(&told.facts),
        unknown: words::unknown(&told.facts),
        steps: steps(evaluation),
        risk: evaluation.risk.to_string(),
        policy: evaluation.policy.short().to_string(),
        digest: evaluation.action.short().to_string(),
        observed: evaluation.observed,
        dry: evaluation.dry,
        raw: words::clipped(&raw, 100_000),
        may_mark: visit.has(crate::identity::Role::Author) && visit.asked("machine").is_none(),
    })
}

/// A session as people see it, and as addresses name it.
pub(crate) fn link(key: &lictor_core::SessionKey) -> (String, String) {
    (words::clipped(&key.id, 24), format!("{}:{}", key.agent, key.id))
}

/// The verdicts that count, the strictest first.
pub(crate) fn said(evaluation: &Evaluation) -> Vec<Said> {
    let active = evaluation.active();
    let speaking = active.iter().filter(|given| !given.verdict.reason().is_empty());
    speaking
        .map(|given| Said {
            class: class(Some(given.verdict.value())),
            rule: given.verdict.rule().unwrap_or(given.guard()).to_owned(),
            reason: words::clipped(given.verdict.reason(), 2_000),
            fix: words::clipped(given.verdict.fix(), 2_000),
        })
        .collect()
}

fn class(value: Option<Value>) -> &'static str {
    match value {
        None => "skipped",
        Some(Value::Error) => "block",
        Some(value) => words::word(value.settle()),
    }
}

/// The path through the graph, parents before children.
pub(crate) fn steps(evaluation: &Evaluation) -> Vec<Step> {
    drawing::steps(evaluation).into_iter().map(step).collect()
}

fn step(step: drawing::Step) -> Step {
    Step {
        depth: step.depth.min(8),
        name: step.name,
        class: class(step.value),
        word: match step.value {
            None => "not asked",
            Some(Value::Error) => "error",
            value => class(value),
        },
        note: if step.superseded { "does not count" } else { "" },
        quiet: step.value.is_none_or(|value| value == Value::Pass),
    }
}
