//! The inbox: pending questions, one card per question, and their answers.

use std::sync::Arc;

use askama::Template;
use axum::http::{Method, StatusCode};
use lictor::allow::AllowError;
use lictor::diff::{self, Change};
use lictor::log::{Approving, Evaluated, kind};
use lictor::remembered;
use lictor_core::approval::NoVote;
use lictor_core::{Action, Approval, ApprovalState, Lifetime, SessionKey, Timestamp, Who};
use lictor_store::{Query, Record, Store, StoreExt as _};
use serde_json::json;

use super::words::{self, When};
use super::{Frame, Shown, Visit, shown};
use crate::http::{Problem, ask, judge};
use crate::identity::Role;
use crate::tenants::{Open, now};

/// So many questions on one page.
const CARDS: usize = 50;
/// So many answers are shown below them.
const ANSWERED: usize = 8;
/// More of a text is shown on the card's own page.
const PREVIEW: usize = 2_000;
/// Longer texts are not shown in a page.
const WHOLE: usize = 200_000;
/// So many records of a session are looked through for the call that a question was about.
const NEAR: usize = 200;

/// The main fields of an action, in display order.
const MAIN: [&str; 6] = ["command", "patch", "path", "url", "code", "change"];

/// One question.
pub(crate) struct Card {
    pub(crate) id: String,
    pub(crate) short: String,
    pub(crate) address: String,
    pub(crate) project: String,
    pub(crate) wish: String,
    pub(crate) parts: Vec<Part>,
    /// Short arguments: name and value.
    pub(crate) arguments: Vec<(String, String)>,
    pub(crate) deeds: Vec<String>,
    pub(crate) unknown: Vec<String>,
    pub(crate) asks: Vec<Ask>,
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) session: Option<(String, String)>,
    pub(crate) asked_at: Option<When>,
    pub(crate) left: String,
    pub(crate) decision: Option<u64>,
    pub(crate) place: String,
    pub(crate) risk: Option<String>,
    pub(crate) seen: String,
    pub(crate) standing: Standing,
    pub(crate) may_answer: bool,
    /// Who has approved, while more approvals are needed.
    pub(crate) yes: Vec<String>,
    /// The total number of approvals needed.
    pub(crate) people: u32,
    /// Whether the tool can be made known, so that it is not asked about again.
    pub(crate) rememberable: bool,
    /// Why this reader's yes would not count.
    pub(crate) cannot: Option<&'static str>,
}

/// The state of a question.
pub(crate) enum Standing {
    Waiting,
    Approved { by: String, at: When, often: &'static str, used: Option<When> },
    Denied { by: String, at: When, reason: String },
    Elsewhere,
    Lapsed,
}

/// Why a person is asked.
pub(crate) struct Ask {
    pub(crate) rule: String,
    pub(crate) message: String,
}

/// A part of what would be done.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) lines: Vec<(&'static str, String)>,
    pub(crate) more: usize,
}

impl Part {
    /// Whether it is an argument that fits on a line, and not what the action is about.
    fn is_short(&self) -> bool {
        let on_a_line = |lines: &[(&str, String)]| lines.iter().all(|(_, line)| line.chars().count() <= 60);
        !MAIN.contains(&self.name.as_str())
            && self.lines.len() <= 1
            && self.more == 0
            && on_a_line(&self.lines)
    }

    fn argument(self) -> (String, String) {
        (self.name, self.lines.into_iter().map(|(_, line)| line).collect())
    }
}

/// An answer that was given.
pub(crate) struct Answered {
    pub(crate) address: String,
    pub(crate) word: &'static str,
    pub(crate) class: &'static str,
    pub(crate) by: String,
    pub(crate) at: When,
    pub(crate) what: String,
    pub(crate) project: String,
    pub(crate) used: &'static str,
}

#[derive(Template)]
#[template(path = "approvals.html")]
struct Inbox {
    frame: Frame,
    cards: Vec<Card>,
    more: usize,
    answered: Vec<Answered>,
    recorded: bool,
}

#[derive(Template)]
#[template(path = "approval.html")]
struct One {
    frame: Frame,
    card: Card,
}

/// The projects whose questions are shown, with what they are called.
fn places(visit: &Visit) -> Vec<(String, String)> {
    match &visit.server.tenants.local {
        None => vec![(visit.caller.tenant.clone(), visit.caller.tenant.clone())],
        Some(local) => {
            let chosen = visit.asked("project");
            let all = local.list().into_iter().filter(|one| chosen.is_none_or(|id| id == one.id));
            all.filter(|one| one.recorded).map(|one| (one.id, one.name)).collect()
        }
    }
}

pub(super) fn list(visit: &Visit) -> Result<Shown, Problem> {
    let (mut waiting, mut answered) = (Vec::new(), Vec::new());
    let places = places(visit);
    for (id, name) in &places {
        // A record that cannot be opened must not hide the questions of the others.
        let Ok(open) = visit.server.tenants.open(id) else { continue };
        for question in open.runtime.approvals().pending(now())? {
            if !is_over(&open, &question)? {
                waiting.push((question, Arc::clone(&open), id.clone(), name.clone()));
            }
        }
        answered.extend(recent(&open, id, name)?);
    }
    waiting.sort_by_key(|(question, ..)| question.requested_at);
    answered.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let more = waiting.len().saturating_sub(CARDS);
    let cards = waiting.iter().take(CARDS);
    let cards = cards
        .map(|(question, open, id, name)| card(visit, open, question, (id, name), PREVIEW))
        .collect::<Result<_, _>>()?;
    shown(&Inbox {
        frame: visit.frame("Approvals", "/approvals"),
        cards,
        more,
        answered: answered.into_iter().map(|(_, one)| one).take(ANSWERED).collect(),
        recorded: !places.is_empty(),
    })
}

/// A session that is over asks nothing any more.
fn is_over(open: &Open, question: &Approval) -> Result<bool, Problem> {
    Ok(match &question.request.session {
        Some(key) => open.runtime.session(key)?.ended,
        None => false,
    })
}

/// The question with that id, wherever it was asked.
fn find(visit: &Visit, id: &str) -> Result<(Approval, Arc<Open>, String, String), Problem> {
    for (place, name) in places(visit) {
        let Ok(open) = visit.server.tenants.open(&place) else { continue };
        if let Ok(found) = open.runtime.approvals().find(id) {
            return Ok((found, open, place, name));
        }
    }
    let text = format!("there is no question `{}`; it was answered, or has lapsed", words::clipped(id, 64));
    Err(Problem::new(StatusCode::NOT_FOUND, "not_found", text).fix("`/approvals` shows those that wait"))
}

pub(super) fn one(visit: &Visit) -> Result<Shown, Problem> {
    let (question, open, place, name) = find(visit, visit.part("id"))?;
    let card = card(visit, &open, &question, (&place, &name), WHOLE)?;
    shown(&One { frame: visit.frame(&card.wish, "/approvals"), card })
}

pub(super) fn answer(visit: &Visit) -> Result<Shown, Problem> {
    let (question, open, place, _) = find(visit, visit.part("id"))?;
    let caller = visit.caller_in(&place);
    let parts = [("id", question.id.as_str())];
    let said = |name: &str| visit.form.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
    let to = |what: &'static str| (Method::POST, what);
    match said("answer") {
        Some("deny") => {
            let body = json!({"reason": said("reason").map(|text| words::clipped(text, 2_000))});
            ask(&visit.server, &caller, to("/v1/approvals/{id}/deny"), &parts, body)?;
        }
        Some(often @ ("once" | "session")) => {
            let body = json!({"lifetime": often, "seen": said("seen")});
            ask(&visit.server, &caller, to("/v1/approvals/{id}/approve"), &parts, body)?;
        }
        Some("remember") if rememberable(visit, &question) => {
            let body = json!({"lifetime": "once", "seen": said("seen")});
            ask(&visit.server, &caller, to("/v1/approvals/{id}/approve"), &parts, body)?;
            match remembered::remember(open.runtime.project(), &question, &visit.caller.owner, now()) {
                // The others may still deny.
                Ok(_) | Err(AllowError::NotGranted(_)) => {}
                Err(error) => return Err(Problem::bad(error.to_string())),
            }
        }
        _ => return Err(Problem::bad("the form does not say yes or no")),
    }
    Ok(Shown::Go(address(visit, &question, &place)))
}

fn address(visit: &Visit, question: &Approval, place: &str) -> String {
    let keep = visit.server.tenants.local.is_some();
    let keep = if keep { format!("?project={}", words::in_address(place)) } else { String::new() };
    format!("/approvals/{}{keep}", question.id)
}

fn card(
    visit: &Visit,
    open: &Open,
    question: &Approval,
    (place, name): (&str, &str),
    most: usize,
) -> Result<Card, Problem> {
    let call = the_call(&*open.store, question)?;
    let recorded = call.as_ref().and_then(|record| serde_json::from_str::<Evaluated<'_>>(&record.body).ok());
    let shown = question.shown.as_deref();
    let action = shown.map(|shown| &shown.action).or(recorded.as_ref().map(|told| &*told.action));
    let facts = shown.map(|shown| &shown.facts).or(recorded.as_ref().map(|told| &*told.facts));
    let mut asks: Vec<Ask> = question
        .asked
        .iter()
        .map(|point| Ask {
            rule: point.rule.clone().unwrap_or_else(|| point.guard.clone()),
            message: words::clipped(&point.message, 1_000),
        })
        .collect();
    asks.dedup_by(|one, other| one.rule == other.rule && one.message == other.message);
    let key = question.request.session.as_ref();
    let (short, parts) =
        action.map(|action| parts(action, most)).unwrap_or_default().into_iter().partition(Part::is_short);
    Ok(Card {
        id: question.id.clone(),
        short: question.short().to_owned(),
        address: address(visit, question, place),
        project: name.to_owned(),
        wish: action.map_or_else(|| "Something that is not on record any more".to_owned(), words::wish),
        parts,
        arguments: Vec::into_iter(short).map(Part::argument).collect(),
        deeds: facts.map(words::deeds).unwrap_or_default(),
        unknown: facts.map(words::unknown).unwrap_or_default(),
        asks,
        facts: about(visit, action, key, question),
        session: key.map(|key| (words::clipped(&key.id, 24), format!("{}:{}", key.agent, key.id))),
        asked_at: Some(When(question.requested_at)),
        left: words::length(question.expires.millis_since(now())),
        decision: call.as_ref().map(|record| record.seq),
        place: words::in_address(place),
        risk: recorded
            .map(|told| told.evaluation.risk)
            .filter(|risk| !risk.is_none())
            .map(|risk| risk.to_string()),
        seen: judge::seen(question),
        standing: standing(&*open.store, question)?,
        // The operator manages, and answers nothing.
        may_answer: visit.has(Role::Approver) && visit.caller.person().is_some(),
        yes: question.yes.iter().map(|who| who.by.clone()).collect(),
        people: question.quorum.people,
        rememberable: rememberable(visit, question),
        cannot: cannot(visit, question),
    })
}

/// Whether the tool can be remembered. On a server, known tools are part of the published policy.
fn rememberable(visit: &Visit, question: &Approval) -> bool {
    visit.server.tenants.local.is_some() && remembered::is_about_unknown_tool(question)
}

/// Why a yes of the reader would not count.
fn cannot(visit: &Visit, question: &Approval) -> Option<&'static str> {
    let who = Who { by: visit.caller.owner.clone(), at: now(), from: "page".to_owned() };
    question.quorum.counts(&who, &question.yes, question.own()).err().map(|why| match why {
        NoVote::Own => "This would be done for you, so somebody else has to say yes.",
        NoVote::Again => "You have said yes already.",
    })
}

/// Who, with what, where.
fn about(
    visit: &Visit,
    action: Option<&Action>,
    key: Option<&SessionKey>,
    question: &Approval,
) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let agent = key.map(|key| key.agent.as_str()).filter(|agent| !agent.is_empty());
    let actor = action.map(|action| &action.actor);
    let agent = agent.or(actor.map(|actor| actor.agent.as_str())).unwrap_or_default();
    let mut tell = |name, text: &str| {
        if !text.is_empty() {
            facts.push((name, words::clipped(text, 300)));
        }
    };
    tell("agent", agent);
    if let Some(actor) = actor {
        tell("for", actor.user.as_deref().unwrap_or_default());
        tell("through", &actor.chain.join(" → "));
    }
    // A program elsewhere has no directory here.
    let cwd = action.map(|action| action.cwd.as_str()).filter(|cwd| !visit.server.tenants.is_nowhere(cwd));
    tell("directory", cwd.unwrap_or_default());
    for pin in &question.pins {
        tell("with", &format!("{} as it is now ({})", pin.path, pin.content.short()));
    }
    facts
}

/// The action as it was sent: its most important fields first.
fn parts(action: &Action, most: usize) -> Vec<Part> {
    let mut fields: Vec<(&String, &serde_json::Value)> = action.payload.iter().collect();
    fields.sort_by_key(|(name, _)| MAIN.iter().position(|known| known == name).unwrap_or(MAIN.len()));
    let text = |name: &str| action.text(name);
    let mut parts = Vec::new();
    if let (Some(old), Some(new)) = (text("old"), text("new")) {
        fields.retain(|(name, _)| *name != "old" && *name != "new");
        parts.push(changed(old, new, most));
    }
    for (name, value) in fields {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let said = words::clipped(&value, most);
        let more = value.chars().count().saturating_sub(most);
        let class = if name == "patch" { "patch" } else { "" };
        let lines = said.lines().map(|line| (line_class(class, line), line.to_owned())).collect();
        parts.push(Part { name: name.clone(), lines, more });
    }
    if let Some(task) = &action.task_type {
        parts.push(Part { name: "task".to_owned(), lines: vec![("", task.clone())], more: 0 });
    }
    // What would be done comes before how.
    parts.sort_by_key(|part| MAIN.iter().position(|known| *known == part.name).unwrap_or(MAIN.len()));
    parts
}

fn line_class(class: &str, line: &str) -> &'static str {
    match (class, line.chars().next()) {
        ("patch", Some('+')) => "added",
        ("patch", Some('-')) => "removed",
        _ => "",
    }
}

/// An edit, line by line.
fn changed(old: &str, new: &str, most: usize) -> Part {
    let (short_old, short_new) = (words::clipped(old, most), words::clipped(new, most));
    let more = old.chars().count().saturating_sub(most) + new.chars().count().saturating_sub(most);
    let hunks = diff::hunks(&short_old, &short_new, usize::MAX);
    let lines = hunks
        .into_iter()
        .flat_map(|hunk| hunk.lines)
        .map(|(change, line)| {
            let class = match change {
                Change::Removed => "removed",
                Change::Added => "added",
                Change::Kept => "",
            };
            (class, format!("{}{line}", change.sign()))
        })
        .collect();
    Part { name: "change".to_owned(), lines, more }
}

/// The record of the call that a question is about.
fn the_call(store: &dyn Store, question: &Approval) -> Result<Option<Record>, Problem> {
    let digest = question.request.action.to_string();
    let mut query = Query::all().newest_first().limit(NEAR);
    match &question.request.session {
        Some(key) => query = query.session(key.clone()),
        None => query = query.kind(kind::EVALUATED),
    }
    let near = store.view(|view| view.records(&query))?;
    Ok(near.into_iter().find(|record| record.kind == kind::EVALUATED && record.body.contains(&digest)))
}

fn standing(store: &dyn Store, question: &Approval) -> Result<Standing, Problem> {
    Ok(match &question.state {
        ApprovalState::Pending if question.is_pending(now()) => Standing::Waiting,
        ApprovalState::Pending => Standing::Lapsed,
        ApprovalState::Elsewhere => Standing::Elsewhere,
        ApprovalState::Denied { who, reason } => Standing::Denied {
            by: who.by.clone(),
            at: When(who.at),
            reason: reason.clone().unwrap_or_default(),
        },
        ApprovalState::Granted(who) => {
            let used = uses(store, &question.id)?.filter(|at| *at >= who.at);
            let often = match lifetime(store, question)? {
                Some(Lifetime::Session) => "while the session lasts",
                _ => "once",
            };
            Standing::Approved {
                by: everybody(question, &who.by),
                at: When(who.at),
                often,
                used: used.map(When),
            }
        }
    })
}

/// All approvers.
fn everybody(question: &Approval, last: &str) -> String {
    let names: Vec<&str> = question.yes.iter().map(|who| who.by.as_str()).collect();
    if names.is_empty() { last.to_owned() } else { names.join(" and ") }
}

/// When a yes was last used.
fn uses(store: &dyn Store, id: &str) -> Result<Option<Timestamp>, Problem> {
    Ok(newest(store, kind::GRANT_USED, id)?.map(|record| record.at))
}

fn newest(store: &dyn Store, kind: &str, id: &str) -> Result<Option<Record>, Problem> {
    let query = Query::all().kind(kind).newest_first().limit(NEAR);
    let found = store.view(|view| view.records(&query))?;
    Ok(found.into_iter().find(|record| record.body.contains(id)))
}

/// The lifetime of the latest approval.
fn lifetime(store: &dyn Store, question: &Approval) -> Result<Option<Lifetime>, Problem> {
    let given = newest(store, kind::APPROVAL_GRANTED, &question.id)?;
    let told = given.and_then(|record| {
        let told: Approving<'_> = serde_json::from_str(&record.body).ok()?;
        Some(told.grant?.lifetime)
    });
    Ok(told)
}

/// The latest answers, and their results.
fn recent(open: &Open, place: &str, name: &str) -> Result<Vec<(Timestamp, Answered)>, Problem> {
    let mut found = Vec::new();
    let used = open
        .store
        .view(|view| view.records(&Query::all().kind(kind::GRANT_USED).newest_first().limit(NEAR)))?;
    for (kind, word, class) in
        [(kind::APPROVAL_GRANTED, "approved", "pass"), (kind::APPROVAL_DENIED, "denied", "block")]
    {
        let query = Query::all().kind(kind).newest_first().limit(ANSWERED);
        for record in open.store.view(|view| view.records(&query))? {
            let Ok(told) = serde_json::from_str::<Approving<'_>>(&record.body) else { continue };
            let by = match (&told.grant, told.approval.as_deref().map(|asked| &asked.state)) {
                (Some(grant), _) => grant.who.by.clone(),
                (None, Some(ApprovalState::Denied { who, .. })) => who.by.clone(),
                _ => String::new(),
            };
            let was_used =
                used.iter().any(|use_of| use_of.seq > record.seq && use_of.body.contains(&*told.id));
            let request = told.grant.as_deref().map(|grant| &grant.request);
            let request = request.or(told.approval.as_deref().map(|asked| &asked.request));
            let what = match request {
                Some(request) => title(&*open.store, request)?,
                None => String::new(),
            };
            let local =
                if place == name { String::new() } else { format!("?project={}", words::in_address(place)) };
            let used = match (word, was_used) {
                ("approved", true) => "used",
                ("approved", false) => "not used yet",
                _ => "",
            };
            found.push((
                record.at,
                Answered {
                    address: format!("/approvals/{}{local}", told.id),
                    word,
                    class,
                    by,
                    at: When(record.at),
                    what,
                    project: name.to_owned(),
                    used,
                },
            ));
        }
    }
    Ok(found)
}

/// The action of an answer, in one line.
fn title(store: &dyn Store, request: &lictor_core::Request) -> Result<String, Problem> {
    let digest = request.action.to_string();
    let mut query = Query::all().newest_first().limit(NEAR);
    if let Some(key) = &request.session {
        query = query.session(key.clone());
    }
    let near = store.view(|view| view.records(&query))?;
    let call = near.iter().find(|record| record.kind == kind::EVALUATED && record.body.contains(&digest));
    let told = call.and_then(|record| serde_json::from_str::<Evaluated<'_>>(&record.body).ok());
    Ok(told.map(|told| words::clipped(&lictor::past::title(&told.action), 120)).unwrap_or_default())
}
