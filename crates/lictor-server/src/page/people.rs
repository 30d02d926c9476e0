//! People, their tokens, and notification targets: for administrators. The operator creates teams here too.

use askama::Template;
use axum::http::{Method, StatusCode};
use lictor_core::Timestamp;
use serde_json::{Value, json};

use super::words::{self, When};
use super::{Choice, Frame, Shown, Visit, shown};
use crate::http::{Problem, ask};
use crate::identity::{Kind, Role};
use crate::notify::{Target, Way};
use crate::registry::{Person, Token};
use crate::tenants::now;

/// Tokens on one page.
const TOKENS: usize = 50;

/// A person as they are listed.
struct Listed {
    person: Person,
    roles: String,
    change: String,
}

/// A token as it is listed.
struct Line {
    id: String,
    kind: &'static str,
    owner: String,
    made: When,
    ends: Option<When>,
}

/// What a person may do, as a box to tick.
struct Tick {
    name: &'static str,
    about: &'static str,
    role: Role,
}

const ROLES: [Tick; 6] = [
    Tick { name: "viewer", about: "sees everything", role: Role::Viewer },
    Tick { name: "auditor", about: "verifies and exports", role: Role::Auditor },
    Tick { name: "approver", about: "answers questions", role: Role::Approver },
    Tick { name: "author", about: "tries policies out", role: Role::Author },
    Tick { name: "publisher", about: "puts policies in force", role: Role::Publisher },
    Tick { name: "admin", about: "manages people and tokens", role: Role::Admin },
];

/// The person in the form.
struct Edited {
    person: Person,
    known: bool,
    scopes: String,
    groups: String,
}

impl Edited {
    fn has(&self, role: &Role) -> bool {
        self.person.roles.contains(role)
    }

    fn email(&self) -> &str {
        self.person.email.as_deref().unwrap_or_default()
    }

    fn role(&self) -> &str {
        self.person.role.as_deref().unwrap_or_default()
    }
}

#[derive(Template)]
#[template(path = "people.html")]
struct Page {
    frame: Frame,
    /// Where forms go.
    here: String,
    team: String,
    /// All teams, for the operator.
    teams: Vec<Choice>,
    people: Vec<Listed>,
    edited: Edited,
    tokens: Vec<Line>,
    older: Option<String>,
    roles: [Tick; 6],
    secret: String,
    notice: String,
    targets: Vec<Target>,
    failing: Vec<(String, String)>,
}

/// The result message on the page.
#[derive(Default)]
struct Done {
    secret: String,
    notice: String,
}

fn is_operator(visit: &Visit) -> bool {
    visit.caller.kind == Kind::Operator
}

/// The team that is managed: one's own; the operator chooses.
fn team(visit: &Visit) -> String {
    let chosen = visit.asked("team").filter(|_| is_operator(visit));
    chosen.map_or_else(|| visit.caller.tenant.clone(), str::to_owned)
}

fn here(visit: &Visit) -> String {
    match visit.asked("team").filter(|_| is_operator(visit)) {
        Some(team) => format!("/people?team={}", words::in_address(team)),
        None => "/people".to_owned(),
    }
}

/// The address of the same page with one thing more.
fn with(here: &str, more: &str) -> String {
    format!("{here}{}{more}", if here.contains('?') { '&' } else { '?' })
}

pub(super) fn list(visit: &Visit) -> Result<Shown, Problem> {
    page(visit, Done::default())
}

fn page(visit: &Visit, done: Done) -> Result<Shown, Problem> {
    let registry = &visit.server.tenants.registry;
    let (team, here) = (team(visit), here(visit));
    registry.tenant(&team)?;
    let people = registry.people(&team)?;
    let edited = edited(&people, visit.asked("edit").unwrap_or_default());
    let from = visit.asked("tokens").and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
    let tokens = current(registry.tokens(&team)?, now());
    let older = (tokens.len() > from.saturating_add(TOKENS))
        .then(|| with(&here, &format!("tokens={}#tokens", from.saturating_add(TOKENS))));
    let teams = if is_operator(visit) { registry.tenants()? } else { Vec::new() };
    let choice = |id: String| Choice { chosen: id == team, name: id.clone(), id, about: String::new() };
    shown(&Page {
        frame: visit.frame("People", "/people"),
        teams: teams.into_iter().map(choice).collect(),
        people: people.into_iter().map(|person| listed(person, &here)).collect(),
        edited,
        tokens: tokens.into_iter().skip(from).take(TOKENS).map(line).collect(),
        older,
        roles: ROLES,
        secret: done.secret,
        notice: done.notice,
        targets: registry.targets(&team)?,
        failing: visit.server.outbox.failing(&team),
        here,
        team,
    })
}

fn listed(person: Person, here: &str) -> Listed {
    let roles = ROLES.iter().filter(|tick| person.roles.contains(&tick.role)).map(|tick| tick.name);
    Listed {
        roles: roles.collect::<Vec<_>>().join(", "),
        change: with(here, &format!("edit={}#person", words::in_address(&person.uid))),
        person,
    }
}

/// The person in the form: a new one unless one is named.
fn edited(people: &[Person], uid: &str) -> Edited {
    let known = people.iter().find(|person| person.uid == uid).cloned();
    let is_known = known.is_some();
    let person = known.unwrap_or_else(|| Person {
        uid: String::new(),
        email: None,
        role: None,
        scopes: Vec::new(),
        groups: Vec::new(),
        roles: Vec::new(),
        disabled: false,
    });
    let (scopes, groups) = (person.scopes.join(" "), person.groups.join(" "));
    Edited { person, known: is_known, scopes, groups }
}

/// Tokens that still count, the newest first.
fn current(mut tokens: Vec<Token>, now: Timestamp) -> Vec<Token> {
    tokens.retain(|token| token.expires.is_none_or(|end| end > now));
    tokens.sort_by_key(|token| std::cmp::Reverse(token.created));
    tokens
}

fn line(token: Token) -> Line {
    Line {
        kind: match token.kind {
            Kind::Person => "person",
            Kind::Machine => "machine",
            Kind::Service => "service",
            Kind::Operator => "operator",
        },
        id: token.id,
        owner: token.owner,
        made: When(token.created),
        ends: token.expires.map(When),
    }
}

pub(super) fn act(visit: &Visit) -> Result<Shown, Problem> {
    match said(visit, "do") {
        "team" => return make_team(visit),
        "person" => save_person(visit)?,
        "token" => return make_token(visit),
        "revoke" => {
            let parts = [("id", said(visit, "id"))];
            do_as(visit, (Method::DELETE, "/v1/tenants/{tenant}/tokens/{id}"), &parts, json!({}))?;
        }
        "target" => {
            let target = Target { name: said(visit, "name").to_owned(), way: way(visit)? };
            let registry = &visit.server.tenants.registry;
            registry.put_target(&team(visit), &target, &visit.caller.owner, now())?;
        }
        "test" => return test_target(visit),
        "forget" => {
            let registry = &visit.server.tenants.registry;
            registry.delete_target(&team(visit), said(visit, "id"), &visit.caller.owner, now())?;
        }
        _ => return Err(Problem::bad("the form does not say what to do")),
    }
    Ok(Shown::Go(here(visit)))
}

fn said<'v>(visit: &'v Visit, name: &str) -> &'v str {
    visit.form.get(name).map(|text| text.trim()).unwrap_or_default()
}

/// Asks an endpoint, about the team that is managed.
fn do_as(
    visit: &Visit,
    to: (Method, &'static str),
    parts: &[(&str, &str)],
    body: Value,
) -> Result<Value, Problem> {
    let team = team(visit);
    let parts: Vec<(&str, &str)> =
        [("tenant", team.as_str())].into_iter().chain(parts.iter().copied()).collect();
    ask(&visit.server, &visit.caller, to, &parts, body)
}

/// Words between spaces and commas.
fn words_of(text: &str) -> Vec<&str> {
    text.split([' ', ',', '\n', '\r', '\t']).filter(|word| !word.is_empty()).collect()
}

fn save_person(visit: &Visit) -> Result<(), Problem> {
    let uid = said(visit, "uid");
    let roles: Vec<&str> =
        ROLES.iter().map(|role| role.name).filter(|name| visit.form.contains_key(*name)).collect();
    let some = |name: &str| Some(said(visit, name)).filter(|text| !text.is_empty());
    let person = json!({
        "uid": uid, "email": some("email"), "role": some("role"), "scopes": words_of(said(visit, "scopes")),
        "groups": words_of(said(visit, "groups")), "roles": roles, "disabled": visit.form.contains_key("disabled"),
    });
    let body = json!({"people": [person]});
    do_as(visit, (Method::PUT, "/v1/tenants/{tenant}/people"), &[], body)?;
    if let Some(password) = visit.form.get("password").filter(|password| !password.is_empty()) {
        let to = (Method::PUT, "/v1/tenants/{tenant}/people/{uid}/password");
        do_as(visit, to, &[("uid", uid)], json!({"password": password}))?;
    }
    Ok(())
}

fn make_token(visit: &Visit) -> Result<Shown, Problem> {
    let days = said(visit, "days");
    let lasts = match days.parse::<i64>() {
        _ if days.is_empty() => None,
        Ok(days) if (1..=36_500).contains(&days) => Some(days.saturating_mul(86_400)),
        _ => {
            return Err(Problem::bad(
                "a token lasts a number of days, or has no end when that is left empty",
            ));
        }
    };
    let owner = said(visit, "owner");
    let body = json!({"kind": said(visit, "kind"), "owner": owner, "for_seconds": lasts});
    let made = do_as(visit, (Method::POST, "/v1/tenants/{tenant}/tokens"), &[], body)?;
    let secret = made.get("secret").and_then(Value::as_str).unwrap_or_default().to_owned();
    page(visit, Done { secret, notice: format!("A token for {owner}. It is shown once; copy it now.") })
}

/// Creates a team with its first administrator.
fn make_team(visit: &Visit) -> Result<Shown, Problem> {
    let (name, uid) = (said(visit, "name"), said(visit, "uid"));
    if visit.server.tenants.registry.tenant(name).is_ok() {
        let text = format!("there is a team `{}` already", words::clipped(name, 100));
        return Err(Problem::new(StatusCode::CONFLICT, "exists", text));
    }
    let to = |method: Method, path: &'static str| (method, path);
    let parts = [("tenant", name)];
    let (server, caller) = (&visit.server, &visit.caller);
    ask(server, caller, to(Method::PUT, "/v1/tenants/{tenant}"), &parts, json!({}))?;
    let roles: Vec<&str> = ROLES.iter().map(|role| role.name).collect();
    let people = json!({"people": [{"uid": uid, "roles": roles}]});
    ask(server, caller, to(Method::PUT, "/v1/tenants/{tenant}/people"), &parts, people)?;
    let token = json!({"kind": "person", "owner": uid});
    let made = ask(server, caller, to(Method::POST, "/v1/tenants/{tenant}/tokens"), &parts, token)?;
    let secret = made.get("secret").and_then(Value::as_str).unwrap_or_default().to_owned();
    let notice = format!(
        "The team {name} has its first administrator. {uid} signs in with this token; it is shown once, copy it now."
    );
    page(visit, Done { secret, notice })
}

fn way(visit: &Visit) -> Result<Way, Problem> {
    let said = |name: &str| said(visit, name).to_owned();
    Ok(match said("way").as_str() {
        "webhook" => Way::Webhook { url: said("to"), secret: said("secret") },
        "slack" => Way::Slack { url: said("to") },
        "ntfy" => Way::Ntfy { url: said("to") },
        "mail" => Way::Mail { server: said("server"), to: said("to") },
        _ => return Err(Problem::bad("a notification goes by webhook, slack, ntfy or mail")),
    })
}

/// Sends one message now, so that a wrong address shows before a question waits.
fn test_target(visit: &Visit) -> Result<Shown, Problem> {
    let (team, name) = (team(visit), said(visit, "id"));
    let targets = visit.server.tenants.registry.targets(&team)?;
    let missing = || {
        let text = format!("nobody named `{}` is told", words::clipped(name, 100));
        Problem::new(StatusCode::NOT_FOUND, "not_found", text)
    };
    let target = targets.into_iter().find(|target| target.name == name).ok_or_else(missing)?;
    let notice = match visit.server.outbox.test(&target, &team) {
        Ok(()) => format!("A test message went to {name}."),
        Err(why) => format!("{name} cannot be told: {why}"),
    };
    page(visit, Done { notice, ..Done::default() })
}
