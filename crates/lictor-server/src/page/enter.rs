//! Signing in and out.

use std::sync::{Arc, PoisonError};

use askama::Template;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;

use super::{Shown, Visit, assets, failed, gate, go, page, rendered};
use crate::http::{Problem, Server, become_operator, parse_query, with_password};
use crate::identity::Kind;
use crate::registry::Person;
use crate::tenants::now;

/// The tenant name of the one person on this machine.
pub(crate) const LOCAL: &str = "local";

#[derive(Template)]
#[template(path = "sign-in.html")]
struct SignIn {
    asset: fn(&str) -> String,
    next: String,
    step: Step,
}

/// The sign-in step.
enum Step {
    /// Nothing: `lictor ui` has links instead.
    Link,
    /// A name and a password, or a token. `wrong` after a failed attempt; `unclaimed`: there is no operator yet.
    Enter { wrong: bool, unclaimed: bool },
    /// A name, from the person with the link of the first start, which contains the code.
    Claim { code: String },
    /// To keep the operator's token, which is shown once.
    Keep { secret: String },
}

fn show(next: &str, step: Step) -> Response {
    match rendered(&SignIn { asset: assets::address, next: next.to_owned(), step }) {
        Ok(html) => page(StatusCode::OK, html, false),
        Err(problem) => failed(&problem),
    }
}

/// Whether there is no operator yet.
fn is_unclaimed(server: &Server) -> bool {
    server.setup.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// An address of this page, and of no other.
fn own(next: Option<&String>) -> String {
    let next = next.map(String::as_str).unwrap_or("/approvals");
    let plain = next.starts_with('/') && !next.starts_with("//") && !next.contains(['\\', '\r', '\n']);
    if plain { next.to_owned() } else { "/approvals".to_owned() }
}

pub(super) async fn form(State(server): State<Server>, request: Request) -> Response {
    if let Err(problem) = gate::own_address(&server, request.headers()) {
        return failed(&problem);
    }
    let query = parse_query(request.uri().query().unwrap_or_default());
    let step = if server.tenants.local.is_some() {
        Step::Link
    } else {
        Step::Enter { wrong: query.contains_key("wrong"), unclaimed: is_unclaimed(&server) }
    };
    show(&own(query.get("next")), step)
}

pub(super) async fn sign_in(State(server): State<Server>, headers: HeaderMap, body: Bytes) -> Response {
    let refused = gate::own_address(&server, &headers)
        .and_then(|()| gate::own_origin(server.address.as_deref(), &headers));
    if let Err(problem) = refused {
        return failed(&problem);
    }
    let form = parse_query(&String::from_utf8_lossy(&body));
    let next = own(form.get("next"));
    let said = |name: &str| form.get(name).map(|text| text.trim().to_owned()).unwrap_or_default();
    let (team, uid, password, token) = (said("team"), said("uid"), said("password"), said("token"));
    if form.contains_key("provider") {
        let (team, next) =
            (super::words::in_address(&team).replace('/', "%2F"), super::words::in_address(&next));
        return go(&format!("/oidc/{team}/start?next={next}"));
    }
    let Ok(_turn) = server.judging.acquire().await else { return go("/sign-in") };
    let server = Arc::clone(&server);
    let work = tokio::task::spawn_blocking(move || -> Result<Option<String>, Problem> {
        if !uid.is_empty() {
            return match with_password(&server, &team, &uid, &password) {
                Ok((secret, _)) => Ok(Some(secret)),
                Err(problem) if problem.told().0 == StatusCode::UNAUTHORIZED => Ok(None),
                Err(problem) => Err(problem),
            };
        }
        let registry = &server.tenants.registry;
        let caller = registry.caller(&token, now())?;
        let Some(caller) = caller.filter(|caller| matches!(caller.kind, Kind::Person | Kind::Operator))
        else {
            return Ok(None);
        };
        let until = now().plus_millis(gate::SIGNED_IN_SECONDS * 1000);
        let (secret, _) =
            registry.mint(&caller.tenant, caller.kind, &caller.owner, Some(until), &caller.owner, now())?;
        Ok(Some(secret))
    });
    match work.await {
        Ok(Ok(Some(secret))) => entered(&headers, &secret, &next),
        Ok(Ok(None)) => go(&format!("/sign-in?wrong=1&next={}", super::words::in_address(&next))),
        Ok(Err(problem)) => failed(&problem),
        Err(_) => failed(&Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "signing in failed")),
    }
}

/// Signs in, and goes on.
pub(crate) fn entered(headers: &HeaderMap, secret: &str, next: &str) -> Response {
    let mut response = go(next);
    if let Some(cookie) = gate::set_cookie(headers, Some(secret)) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// The link of a first start.
pub(super) async fn setup(State(server): State<Server>, request: Request) -> Response {
    if !is_unclaimed(&server) {
        return go("/sign-in");
    }
    let mut query = parse_query(request.uri().query().unwrap_or_default());
    show("/people", Step::Claim { code: query.remove("code").unwrap_or_default() })
}

/// Makes the person with the code the operator, once.
pub(super) async fn begin(State(server): State<Server>, headers: HeaderMap, body: Bytes) -> Response {
    if let Err(problem) = gate::own_origin(server.address.as_deref(), &headers) {
        return failed(&problem);
    }
    let form = parse_query(&String::from_utf8_lossy(&body));
    let said = |name: &str| form.get(name).map(|text| text.trim().to_owned()).unwrap_or_default();
    let (code, owner) = (said("code"), said("owner"));
    let made = tokio::task::spawn_blocking(move || become_operator(&server, &code, &owner)).await;
    match made {
        Ok(Ok((secret, _))) => show("/people", Step::Keep { secret }),
        Ok(Err(problem)) => failed(&problem),
        Err(_) => failed(&Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "setting up failed")),
    }
}

/// The link that `lictor ui` makes: good once, for the person at this machine.
pub(super) async fn once(State(server): State<Server>, request: Request) -> Response {
    if let Err(problem) = gate::own_address(&server, request.headers()) {
        return failed(&problem);
    }
    let (parts, _) = request.into_parts();
    let query = parse_query(parts.uri.query().unwrap_or_default());
    let word = query.get("once").cloned().unwrap_or_default();
    let work = Arc::clone(&server);
    let made = tokio::task::spawn_blocking(move || -> Result<Option<String>, Problem> {
        if !work.entrance.opens(&word) {
            return Ok(None);
        }
        let until = now().plus_millis(gate::SIGNED_IN_SECONDS * 1000);
        let person = local_person(&work)?;
        let (secret, _) =
            work.tenants.registry.mint(LOCAL, Kind::Person, &person, Some(until), &person, now())?;
        Ok(Some(secret))
    });
    match made.await {
        Ok(Ok(Some(secret))) => entered(&parts.headers, &secret, &own(query.get("next"))),
        // A signed-in person may follow the link again.
        Ok(Ok(None)) => go("/approvals"),
        Ok(Err(problem)) => failed(&problem),
        Err(_) => {
            failed(&Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the page cannot be opened"))
        }
    }
}

/// The one person of a page on this machine.
fn local_person(server: &Server) -> Result<String, Problem> {
    let people: Vec<Person> = server.tenants.registry.people(LOCAL)?;
    let missing = || Problem::new(StatusCode::NOT_FOUND, "not_found", "this page serves a team");
    people.into_iter().next().map(|person| person.uid).ok_or_else(missing)
}

pub(super) fn sign_out(visit: &Visit) -> Result<Shown, Problem> {
    visit.server.tenants.registry.revoke(
        &visit.caller.tenant,
        &visit.caller.token,
        &visit.caller.owner,
        now(),
    )?;
    Ok(Shown::Go("/sign-in".to_owned()))
}
