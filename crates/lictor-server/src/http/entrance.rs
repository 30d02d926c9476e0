//! Sign-in with a password or an OpenID provider.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use lictor_core::text::visible_line;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::{Problem, Server, parse_query, problem};
use crate::identity::Kind;
use crate::oidc::{OidcError, Signed};
use crate::password::{Hashed, LONGEST, PasswordError};
use crate::registry::{Oidc, Person, RegistryError, Tenant, Token};
use crate::tenants::now;

/// How long somebody stays signed in.
const SIGNED_IN: i64 = 12 * 60 * 60 * 1_000;
/// The cookie that ties the end of a sign-in to the browser in which it was begun.
const COOKIE: &str = "lictor-sign-in";

fn wrong() -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", "nobody has this name and this password")
}

fn internal(why: impl std::fmt::Display) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", why.to_string())
}

impl From<PasswordError> for Problem {
    fn from(error: PasswordError) -> Self {
        internal(error)
    }
}

impl From<OidcError> for Problem {
    fn from(error: OidcError) -> Self {
        let status = match error {
            OidcError::Unknown | OidcError::Unbelievable(_) => StatusCode::FORBIDDEN,
            OidcError::Provider(..) => StatusCode::BAD_GATEWAY,
            OidcError::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, "sign_in", error.to_string())
    }
}

/// The body of `POST /v1/sign-in`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SignIn {
    tenant: String,
    uid: String,
    password: String,
}

/// The body of a request without a token. Such addresses take no parameters.
pub(super) fn unasked<T: DeserializeOwned>(address: &Uri, body: &Bytes) -> Result<T, Problem> {
    super::query::asked(address.query().unwrap_or_default(), &[])?;
    super::body::read(&super::body::parse(body).map_err(Problem::bad)?).map_err(Problem::bad)
}

/// A token for a while, for a person with a password.
pub(crate) fn with_password(
    server: &Server,
    tenant: &str,
    uid: &str,
    password: &str,
) -> Result<(String, Token), Problem> {
    let whose = format!("{tenant}/{uid}");
    if !server.guesses.may(&whose) {
        let text = "too many wrong passwords for this person";
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_fast", text).retry_after(60));
    }
    let registry = &server.tenants.registry;
    let known = registry.password(tenant, uid)?.filter(|_| password.len() <= LONGEST);
    // The same work for people who are not there: how long it takes tells nothing.
    let right = match known {
        Some(known) => known.fits(password)?,
        None => {
            Hashed::of("somebody else's")?;
            false
        }
    };
    let person = registry.person(tenant, uid)?.filter(|person| !person.disabled);
    server.guesses.note(&whose, right);
    match person.filter(|_| right) {
        Some(person) => let_in(server, tenant, &person),
        None => Err(wrong()),
    }
}

/// A token that ends by itself.
fn let_in(server: &Server, tenant: &str, person: &Person) -> Result<(String, Token), Problem> {
    let at = now();
    let until = Some(at.plus_millis(SIGNED_IN));
    Ok(server.tenants.registry.mint(tenant, Kind::Person, &person.uid, until, &person.uid, at)?)
}

pub(super) async fn sign_in(State(server): State<Server>, address: Uri, body: Bytes) -> Response {
    let SignIn { tenant, uid, password } = match unasked(&address, &body) {
        Ok(read) => read,
        Err(problem) => return problem.into_response(),
    };
    let work = Arc::clone(&server);
    let Ok(_turn) = server.judging.acquire().await else {
        return internal("the server is ending").into_response();
    };
    let made = tokio::task::spawn_blocking(move || with_password(&work, &tenant, &uid, &password));
    match made.await {
        Ok(Ok((secret, token))) => {
            problem::json(StatusCode::OK, "application/json", &json!({"secret": secret, "token": token}))
        }
        Ok(Err(problem)) => problem.into_response(),
        Err(_) => internal("the request failed inside Lictor").into_response(),
    }
}

fn provider(server: &Server, tenant: &str) -> Result<Oidc, Problem> {
    // Non-members must not learn whether a team exists.
    let settings: Tenant = match server.tenants.registry.tenant(tenant) {
        Err(RegistryError::Missing { .. }) => Tenant::default(),
        found => found?,
    };
    let missing = || {
        let text = format!("the people of `{tenant}` do not sign in with a provider");
        Problem::new(StatusCode::NOT_FOUND, "not_found", text)
    };
    settings.oidc.ok_or_else(missing)
}

/// The address under which the browser reaches this server.
fn outside(server: &Server, headers: &HeaderMap) -> Result<String, Problem> {
    if let Some(address) = &server.address {
        return Ok(address.trim_end_matches('/').to_owned());
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let local = ["127.0.0.1:", "localhost:", "[::1]:"].iter().any(|name| host.starts_with(name));
    if !local {
        let text = format!("the request says that this server is `{}`", visible_line(host));
        return Err(
            Problem::bad(text).fix("start it with `--address https://…`: providers send people back there")
        );
    }
    Ok(format!("http://{host}"))
}

/// Sends the browser to the provider.
pub(super) async fn begin(
    State(server): State<Server>,
    Path(tenant): Path<String>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let headers = parts.headers.clone();
    let begun = tokio::task::spawn_blocking(move || -> Result<(String, String), Problem> {
        let oidc = provider(&server, &tenant)?;
        let redirect = format!("{}/oidc/callback", outside(&server, &parts.headers)?);
        let next = parse_query(parts.uri.query().unwrap_or_default()).remove("next");
        let next =
            next.filter(|next| next.starts_with('/') && !next.starts_with("//") && !next.contains('\\'));
        let next = next.unwrap_or_else(|| "/approvals".to_owned());
        Ok(server.sign_ins.begin(&tenant, &oidc, &redirect, &next)?)
    });
    match begun.await {
        Ok(Ok((address, state))) => {
            let cookie = format!("{COOKIE}={state}; Path=/oidc; Max-Age=600; HttpOnly; SameSite=Lax");
            went(&address, &cookie)
        }
        Ok(Err(problem)) => crate::page::refused(&headers, problem),
        Err(_) => crate::page::refused(&headers, internal("the request failed inside Lictor")),
    }
}

fn went(address: &str, cookie: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    if let (Ok(address), Ok(cookie)) = (HeaderValue::from_str(address), HeaderValue::from_str(cookie)) {
        headers.insert(header::LOCATION, address);
        headers.append(header::SET_COOKIE, cookie);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Where the provider sends the browser back to. A browser is signed in to the page; a program gets the token.
pub(super) async fn callback(State(server): State<Server>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let headers = parts.headers.clone();
    let accepts = headers.get(header::ACCEPT).and_then(|accepts| accepts.to_str().ok()).unwrap_or_default();
    let browser = accepts.contains("text/html");
    let ended = tokio::task::spawn_blocking(move || finish(&server, &parts.headers, parts.uri.query()));
    match ended.await {
        Ok(Ok((secret, _, next))) if browser => crate::page::entered(&headers, &secret, &next),
        Ok(Ok((secret, token, next))) => {
            let body = json!({"secret": secret, "token": token, "next": next});
            problem::json(StatusCode::OK, "application/json", &body)
        }
        Ok(Err(problem)) => crate::page::refused(&headers, problem),
        Err(_) => crate::page::refused(&headers, internal("the request failed inside Lictor")),
    }
}

/// Ends a sign-in: a token for the person that the provider names, and the redirect target.
pub(crate) fn finish(
    server: &Server,
    headers: &HeaderMap,
    query: Option<&str>,
) -> Result<(String, Token, String), Problem> {
    let query = parse_query(query.unwrap_or_default());
    let part = |name: &str| query.get(name).map(String::as_str).unwrap_or_default();
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let own = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let own = own.filter(|(name, _)| *name == COOKIE).any(|(_, state)| state == part("state"));
    let tenant = server.sign_ins.tenant(part("state")).filter(|_| own).ok_or(OidcError::Unknown)?;
    let oidc = provider(server, &tenant)?;
    let signed = server.sign_ins.finish(&oidc, part("state"), part("code"), now().0 / 1_000)?;
    let person = known(server, &oidc, &signed)?;
    let (secret, token) = let_in(server, &signed.tenant, &person)?;
    Ok((secret, token, signed.next))
}

/// The tenant's person that the provider names, with the provider's groups.
fn known(server: &Server, oidc: &Oidc, signed: &Signed) -> Result<Person, Problem> {
    let registry = &server.tenants.registry;
    let people = registry.people(&signed.tenant)?;
    let by_email = |person: &&Person| {
        let (one, other) = (person.email.as_deref(), signed.email.as_deref());
        one.zip(other).is_some_and(|(one, other)| one.eq_ignore_ascii_case(other))
    };
    let found =
        people.iter().find(|person| person.uid == signed.subject).or_else(|| people.iter().find(by_email));
    let stranger = || {
        let text = format!("`{}` is not one of the people of `{}`", signed.subject, signed.tenant);
        Problem::new(StatusCode::FORBIDDEN, "forbidden", text)
            .fix("an administrator of the tenant adds people")
    };
    let mut person = found.filter(|person| !person.disabled).cloned().ok_or_else(stranger)?;
    if !oidc.roles.is_empty() {
        let mut roles: Vec<_> =
            signed.groups.iter().filter_map(|group| oidc.roles.get(group)).flatten().copied().collect();
        roles.sort_unstable();
        roles.dedup();
        if roles != person.roles || signed.groups != person.groups {
            person.roles = roles;
            person.groups.clone_from(&signed.groups);
            registry.put_people(&signed.tenant, std::slice::from_ref(&person), &oidc.issuer, now())?;
        }
    }
    Ok(person)
}
