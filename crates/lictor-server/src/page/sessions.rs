//! The list of sessions, and the timeline of one: prompts, calls, decisions, outcomes, feedback, stop checks,
//! with subagents in separate lanes.

use std::cell::LazyCell;

use askama::Template;
use axum::http::StatusCode;
use lictor::log::kind;
use lictor::past::{Decided, decided};
use lictor_core::{Decision, SessionKey};
use lictor_store::{Query, Record, Store, StoreExt as _};
use serde_json::Value;

use super::plot::{self, Mark};
use super::words::{self, When};
use super::{Choice, Frame, Shown, Visit, feed, shown};
use crate::http::Problem;

/// Sessions on one page.
const SESSIONS: usize = 40;
/// Records on one page of a timeline.
const RECORDS: usize = 250;
/// Subagents of one session that have a lane.
const LANES: usize = 12;

/// One session in the list.
struct Line {
    name: String,
    key: String,
    agent: String,
    below: bool,
    started: When,
    latest: Option<When>,
    counts: [u64; 5],
    ended: bool,
}

#[derive(Template)]
#[template(path = "sessions.html")]
struct List {
    frame: Frame,
    lines: Vec<Line>,
    older: Option<u64>,
    machines: Vec<Choice>,
}

pub(super) fn list(visit: &Visit) -> Result<Shown, Problem> {
    let store = visit.store()?;
    let before = visit.asked("before").and_then(|text| text.parse().ok()).unwrap_or(u64::MAX);
    let query = |kind: &str| Query::all().kind(kind).newest_first().before(before).limit(SESSIONS);
    let mut begun = store.view(|view| view.records(&query(kind::SESSION_STARTED)))?;
    begun.extend(store.view(|view| view.records(&query(kind::SESSION_FORKED)))?);
    begun.sort_by_key(|record| std::cmp::Reverse(record.seq));
    begun.truncate(SESSIONS);
    let older = begun.last().filter(|_| begun.len() == SESSIONS).map(|record| record.seq);
    let mut lines = Vec::new();
    for record in begun {
        let Some(key) = record.session else { continue };
        let state = visit.session(&*store, &key)?;
        lines.push(Line {
            name: words::clipped(&key.id, 40),
            agent: key.agent.clone(),
            key: format!("{}:{}", key.agent, key.id),
            below: state.parent.as_ref().is_some_and(|parent| !parent.is_account()),
            started: When(record.at),
            latest: state.latest.map(When),
            counts: [
                state.action_count,
                state.warn_count,
                state.ask_count,
                state.block_count,
                state.ungoverned_count + state.bypass_count,
            ],
            ended: state.ended,
        });
    }
    shown(&List { frame: visit.frame("Sessions", "/sessions"), lines, older, machines: visit.machines()? })
}

/// One thing that happened.
pub(super) struct Event {
    seq: u64,
    at: When,
    lane: usize,
    class: &'static str,
    word: &'static str,
    pub(super) text: String,
    pub(super) note: String,
    link: bool,
}

impl Event {
    /// Whether there are words for what happened.
    pub(super) fn is_told(&self) -> bool {
        self.word != "note"
    }
}

#[derive(Template)]
#[template(path = "session.html")]
struct Timeline {
    frame: Frame,
    name: String,
    agent: String,
    counts: [u64; 5],
    events: Vec<Event>,
    lanes: Vec<String>,
    strip: String,
    next: Option<String>,
    since: Option<When>,
    over: bool,
    ungoverned: bool,
}

pub(super) fn one(visit: &Visit) -> Result<Shown, Problem> {
    let missing = || Problem::new(StatusCode::NOT_FOUND, "not_found", "there is no such session");
    let named = visit.asked("key").ok_or_else(missing)?;
    let key = feed::key(named);
    let store = visit.store()?;
    let state = visit.session(&*store, &key)?;
    let after = visit.asked("after").and_then(|text| text.parse().ok()).unwrap_or(0);
    let keys = family(&*store, &key)?;
    let mut records: Vec<(usize, Record)> = Vec::new();
    for (lane, key) in keys.iter().enumerate() {
        let query = Query::all().session(key.clone()).after(after).limit(RECORDS);
        let page = store.view(|view| view.records(&query))?;
        records.extend(page.into_iter().map(|record| (lane, record)));
    }
    if records.is_empty() && after == 0 {
        return Err(missing());
    }
    records.sort_by_key(|(_, record)| record.seq);
    let more = records.len() > RECORDS;
    records.truncate(RECORDS);
    let records: Vec<Read> = records.into_iter().map(Read::of).collect();
    let last = records.last().map(|read| read.record.seq);
    let next = last
        .filter(|_| more)
        .map(|last| format!("/session{}", feed::with(visit, &["key"], &format!("after={last}"))));
    shown(&Timeline {
        frame: visit.frame(&format!("Session {}", words::clipped(&key.id, 24)), "/sessions"),
        name: words::clipped(&key.id, 80),
        agent: key.agent.clone(),
        counts: [
            state.action_count,
            state.warn_count,
            state.ask_count,
            state.block_count,
            state.ungoverned_count + state.bypass_count,
        ],
        strip: strip(&records, keys.len()),
        events: records
            .iter()
            .filter_map(|read| told(read.lane, &read.record, read.decided.as_ref()))
            .collect(),
        lanes: keys.iter().map(|key| words::clipped(&key.id, 40)).collect(),
        next,
        since: state.started.map(When),
        over: state.ended,
        ungoverned: state.ungoverned_count + state.bypass_count > 0,
    })
}

/// The text in a session's record that names its parent; most sessions have none.
const HAS_PARENT: &str = "\"parent\":{";

/// A session and those that it started, the oldest first.
fn family(store: &dyn Store, key: &SessionKey) -> Result<Vec<SessionKey>, Problem> {
    let mut keys = vec![key.clone()];
    let begun = store.view(|view| view.records(&Query::all().session(key.clone()).limit(1)))?;
    let Some(first) = begun.first() else { return Ok(keys) };
    let query = Query::all().kind(kind::SESSION_STARTED).after(first.seq).limit(2_000);
    for record in store.view(|view| view.records(&query))? {
        let Some(own) = record.session.clone().filter(|_| record.body.contains(HAS_PARENT)) else { continue };
        let body: Value = serde_json::from_str(&record.body).unwrap_or_default();
        let parent = body.pointer("/event/parent").cloned().unwrap_or_default();
        let parent: Option<SessionKey> = serde_json::from_value(parent).ok().flatten();
        if parent.is_some_and(|parent| keys.contains(&parent)) && keys.len() < LANES {
            keys.push(own);
        }
    }
    Ok(keys)
}

fn strip(records: &[Read], lanes: usize) -> String {
    let (Some(Read { record: first, .. }), Some(Read { record: last, .. })) =
        (records.first(), records.last())
    else {
        return String::new();
    };
    let span = u64::try_from(last.at.millis_since(first.at)).unwrap_or(0).max(1);
    let marks: Vec<Mark> = records
        .iter()
        .filter_map(|Read { lane, record, decided }| {
            let at = u64::try_from(record.at.millis_since(first.at)).unwrap_or(0) * 1000 / span;
            let (class, label) = match record.kind.as_str() {
                kind::EVALUATED => {
                    let found = decided.as_ref()?;
                    let class = match found.decision {
                        Decision::Pass => "f-pass",
                        Decision::Warn => "f-warn",
                        Decision::Ask => "f-ask",
                        Decision::Block => "f-block",
                    };
                    (class, words::clipped(&lictor::past::title(&found.action), 80))
                }
                kind::PROMPTED => ("f-prompt", "prompt".to_owned()),
                kind::STOP_CHECKED => ("f-stop", "stop".to_owned()),
                kind::POLICY_CHANGED | kind::SESSION_REFRESHED => {
                    ("f-policy", "the policy changed".to_owned())
                }
                _ => return None,
            };
            Some(Mark { at, lane: *lane, class, label })
        })
        .collect();
    plot::strip(&marks, lanes, "What happened when, one line for each agent")
}

/// Colour, label, title and details.
type Told = (&'static str, &'static str, String, String);

/// A record of the timeline, and the decision in it. Reading it is most of what the view costs.
struct Read {
    lane: usize,
    record: Record,
    decided: Option<Decided>,
}

impl Read {
    fn of((lane, record): (usize, Record)) -> Self {
        let decided = decided(&record);
        Self { lane, record, decided }
    }
}

/// A record as one line of the timeline.
pub(super) fn event(lane: usize, record: &Record) -> Option<Event> {
    told(lane, record, decided(record).as_ref())
}

fn told(lane: usize, record: &Record, found: Option<&Decided>) -> Option<Event> {
    let body = LazyCell::new(|| serde_json::from_str::<Value>(&record.body).unwrap_or_default());
    let text = |path: &str| text_at(&body, path);
    let (class, word, said, note): Told = match record.kind.as_str() {
        kind::EVALUATED | kind::RESOLVED => {
            let found = found?;
            let spoke = found.decision > Decision::Pass;
            let note = if spoke { words::clipped(&found.reason, 300) } else { String::new() };
            let word = words::word(found.decision);
            (word, word, words::clipped(&lictor::past::title(&found.action), 300), note)
        }
        kind::HAPPENED => happened(&body),
        kind::PROMPTED => ("prompt", "prompt", "a person sent a prompt".to_owned(), String::new()),
        kind::FEEDBACK_GIVEN => {
            let advice = body.pointer("/event/advice").and_then(Value::as_array);
            let providers = advice.into_iter().flatten().filter_map(|one| one.get("provider")?.as_str());
            ("warn", "told", format!("feedback: {}", providers.collect::<Vec<_>>().join(", ")), String::new())
        }
        kind::STOP_CHECKED => stopped(&body),
        kind::POLICY_CHANGED | kind::SESSION_REFRESHED => {
            ("policy", "policy", "the policy changed".to_owned(), String::new())
        }
        kind::APPROVAL_REQUESTED => ("ask", "asked", "a person was asked".to_owned(), String::new()),
        kind::APPROVAL_COUNTED => {
            let yes = body.pointer("/approval/yes").and_then(Value::as_array);
            let by = yes.and_then(|yes| yes.last()?.get("by")?.as_str()).unwrap_or_default();
            ("ask", "yes", format!("{by} said yes; more people have to"), String::new())
        }
        kind::APPROVAL_GRANTED => {
            ("pass", "yes", format!("approved by {}", text("/grant/who/by")), String::new())
        }
        kind::APPROVAL_DENIED => (
            "block",
            "no",
            format!("denied by {}", text("/approval/state/by")),
            text("/approval/state/reason"),
        ),
        kind::GRANT_USED => ("pass", "used", "the agent used what was approved".to_owned(), String::new()),
        kind::SESSION_STARTED | kind::SESSION_FORKED => {
            ("", "begin", "the session began".to_owned(), String::new())
        }
        kind::SESSION_ENDED => ("", "end", "the session ended".to_owned(), String::new()),
        "decision.wrong" => ("warn", "wrong", format!("marked as wrong by {}", text("/by")), text("/reason")),
        other => ("", "note", other.to_owned(), String::new()),
    };
    Some(Event {
        seq: record.seq,
        at: When(record.at),
        lane: lane.min(6),
        class,
        word,
        text: said,
        note,
        link: matches!(record.kind.as_str(), kind::EVALUATED | kind::RESOLVED),
    })
}

fn text_at(body: &Value, path: &str) -> String {
    body.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn happened(body: &Value) -> Told {
    let done = body.pointer("/event/outcome/success").and_then(Value::as_bool).unwrap_or(false);
    let error = words::clipped(&text_at(body, "/event/outcome/error"), 300);
    let took = body.pointer("/event/outcome/millis").and_then(Value::as_i64);
    let took = took.map(|millis| format!(" in {}", words::length(millis))).unwrap_or_default();
    let word = if done { "done" } else { "failed" };
    let (class, said) = match text_at(body, "/event/standing").as_str() {
        "ungoverned" => ("block", "it happened without having been judged".to_owned()),
        "bypass" => ("block", "it happened although it was blocked".to_owned()),
        _ => ("", format!("{}{took}", if done { "the call succeeded" } else { "the call failed" })),
    };
    (class, word, said, error)
}

fn stopped(body: &Value) -> Told {
    let is = text_at(body, "/event/outcome/is");
    let reasons = body.pointer("/event/outcome/reasons").and_then(Value::as_array);
    let reasons: Vec<&str> = reasons.into_iter().flatten().filter_map(Value::as_str).collect();
    let class = if is == "incomplete" { "block" } else { "pass" };
    let said = match is.as_str() {
        "complete" => "the agent may stop: everything is there",
        "incomplete" => "the agent has to go on",
        "released_unmet" => "the agent stops, although something is missing",
        _ => "the agent stops; nothing was asked of it",
    };
    (class, "stop", said.to_owned(), words::clipped(&reasons.join("; "), 400))
}
