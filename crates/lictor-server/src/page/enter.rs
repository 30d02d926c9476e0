//! Signing in and out.

use std::sync::Arc;

use askama::Template;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;

use super::{Shown, Visit, assets, failed, gate, go, page, rendered};
use crate::http::{Problem, Server, parse_query};
use crate::identity::Kind;
use crate::registry::Person;
use crate::tenants::now;

/// What the one person on this machine is called where a server has tenants.
pub(crate) const LOCAL: &str = "local";

#[derive(Template)]
#[template(path = "sign-in.html")]
struct SignIn {
    asset: fn(&str) -> String,
    next: String,
    local: bool,
    wrong: bool,
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
    let wrong = query.contains_key("wrong");
    let local = server.tenants.local.is_some();
    let template = SignIn { asset: assets::address, next: own(query.get("next")), local, wrong };
    match rendered(&template) {
        Ok(html) => page(StatusCode::OK, html, false),
        Err(problem) => failed(&problem),
    }
}

pub(super) async fn sign_in(State(server): State<Server>, headers: HeaderMap, body: Bytes) -> Response {
    let refused = gate::own_address(&server, &headers).and_then(|()| gate::own_origin(&headers));
    if let Err(problem) = refused {
        return failed(&problem);
    }
    let form = parse_query(&String::from_utf8_lossy(&body));
    let next = own(form.get("next"));
    let token = form.get("token").map(|token| token.trim().to_owned()).unwrap_or_default();
    let work = tokio::task::spawn_blocking(move || -> Result<Option<String>, Problem> {
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

fn entered(headers: &HeaderMap, secret: &str, next: &str) -> Response {
    let mut response = go(next);
    if let Some(cookie) = gate::set_cookie(headers, Some(secret)) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
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
        // Whoever is in already may follow the link again.
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
