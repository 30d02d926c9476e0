//! Authentication and browser security: cookies, form tokens, accepted hosts, and headers.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use lictor_core::Digest;

use crate::http::{Problem, Server};
use crate::identity::{Caller, Kind};
use crate::random;
use crate::tenants::now;

/// How long somebody stays signed in.
pub(super) const SIGNED_IN_SECONDS: i64 = 12 * 60 * 60;

/// Scripts, styles and connections of this server alone; nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Sign-in state of the page.
#[derive(Debug, Default)]
pub struct Entrance {
    /// The addresses that this server answers to (`127.0.0.1:4747`); any, when it serves a team.
    hosts: Vec<String>,
    /// The word that opens the page once, for the person who started it.
    once: Mutex<Option<String>>,
    /// Statistics of rules, as far as counted.
    pub(super) tallies: super::tally::Tallies,
}

impl Entrance {
    /// For one person on this machine: only these addresses count, and this word opens the page once.
    #[must_use]
    pub fn local(hosts: Vec<String>, once: String) -> Self {
        Self { hosts, once: Mutex::new(Some(once)), ..Self::default() }
    }

    /// The setup code, while it is unused.
    #[must_use]
    pub fn word(&self) -> Option<String> {
        self.once.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether that is the word. It is none afterwards.
    pub(super) fn opens(&self, word: &str) -> bool {
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        // Digests are compared, so that timing reveals nothing about the code.
        let same =
            once.as_deref().is_some_and(|known| Digest::of(known.as_bytes()) == Digest::of(word.as_bytes()));
        if same {
            *once = None;
        }
        same
    }
}

/// The cookie's name. Cookies do not know ports: two pages on one machine need two names.
fn cookie(headers: &HeaderMap) -> String {
    let port = host(headers).rsplit_once(':').map_or("", |(_, port)| port);
    let port: String = port.chars().filter(char::is_ascii_digit).collect();
    format!("__Host-lictor{port}")
}

fn host(headers: &HeaderMap) -> &str {
    headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// A name that was made to point at this machine is not its address.
pub(super) fn own_address(server: &Server, headers: &HeaderMap) -> Result<(), Problem> {
    let hosts = &server.entrance.hosts;
    if hosts.is_empty() || hosts.iter().any(|known| known == host(headers)) {
        return Ok(());
    }
    let text = "the page answers only to the address that `lictor ui` printed";
    Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "address", text))
}

/// The signed-in person, with the session secret.
pub(super) fn signed_in(server: &Server, headers: &HeaderMap) -> Result<Option<(Caller, String)>, Problem> {
    let name = cookie(headers);
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let found = cookies
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(known, _)| *known == name);
    let Some((_, secret)) = found else { return Ok(None) };
    let caller = server.tenants.registry.caller(secret, now())?;
    // Tokens of programs are for programs.
    let caller = caller.filter(|caller| matches!(caller.kind, Kind::Person | Kind::Operator));
    Ok(caller.map(|caller| (caller, secret.to_owned())))
}

/// The cookie that signs in, or out when there is no secret.
pub(super) fn set_cookie(headers: &HeaderMap, secret: Option<&str>) -> Option<HeaderValue> {
    let (secret, lasts) = secret.map_or(("", 0), |secret| (secret, SIGNED_IN_SECONDS));
    let name = cookie(headers);
    let text = format!("{name}={secret}; Path=/; Max-Age={lasts}; Secure; HttpOnly; SameSite=Lax");
    HeaderValue::from_str(&text).ok()
}

/// Only forms of this page are accepted: from its own origin, with its own token.
pub(super) fn own_form(
    server: &Server,
    headers: &HeaderMap,
    form: &HashMap<String, String>,
    secret: &str,
) -> Result<(), Problem> {
    own_address(server, headers)?;
    own_origin(server.address.as_deref(), headers)?;
    let given = form.get("csrf").map(String::as_str).unwrap_or_default();
    if is_token(secret, given) {
        return Ok(());
    }
    let text = "this form is too old, or does not come from this page";
    Err(Problem::new(StatusCode::FORBIDDEN, "form", text)
        .fix("go back, load the page again, and send it anew"))
}

/// Browsers send the origin of a form. A proxy may replace the host: then the configured address counts.
pub(super) fn own_origin(address: Option<&str>, headers: &HeaderMap) -> Result<(), Problem> {
    let origin = headers.get(header::ORIGIN).and_then(|value| value.to_str().ok());
    let outside = address.map(|address| address.trim_end_matches('/'));
    let own = |origin: &str| {
        origin.split_once("://").is_some_and(|(_, name)| name == host(headers)) || outside == Some(origin)
    };
    match origin {
        None => Ok(()),
        Some(origin) if own(origin) => Ok(()),
        Some(origin) => {
            let text = "the form was sent from another page";
            let fix = format!(
                "behind a proxy, start the server with `--address {}`",
                super::words::clipped(origin, 200)
            );
            Err(Problem::new(StatusCode::FORBIDDEN, "origin", text).fix(fix))
        }
    }
}

/// The form token of a person. Masked differently each time, so that compression reveals nothing about it.
pub(super) fn token(secret: &str) -> Result<String, Problem> {
    let mask = random::hex(32).map_err(|error| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", format!("no random numbers: {error}"))
    })?;
    let masked = mixed(&mask, &form_key(secret));
    Ok(format!("{mask}{masked}"))
}

fn form_key(secret: &str) -> String {
    let digest = Digest::of_parts([b"lictor form 1".as_slice(), secret.as_bytes()]).to_string();
    digest.chars().filter(char::is_ascii_hexdigit).take(64).collect()
}

/// XOR of hexadecimal digits; applying it twice restores the input.
fn mixed(one: &str, other: &str) -> String {
    let digits = one.chars().zip(other.chars());
    digits.filter_map(|(a, b)| char::from_digit(a.to_digit(16)? ^ b.to_digit(16)?, 16)).collect()
}

fn is_token(secret: &str, given: &str) -> bool {
    let (Some(mask), Some(masked)) = (given.get(..64), given.get(64..)) else { return false };
    let key = form_key(secret);
    Digest::of(mixed(mask, masked).as_bytes()) == Digest::of(key.as_bytes())
}

/// The security headers of every response.
pub(super) async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    protect(response.headers_mut());
    response
}

/// The headers of a page.
pub(super) fn protect(headers: &mut HeaderMap) {
    let fixed = [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_token_belongs_to_one_person_and_looks_new_each_time() {
        let (one, again) = (token("secret").unwrap(), token("secret").unwrap());
        assert_ne!(one, again);
        assert!(is_token("secret", &one) && is_token("secret", &again));
        assert!(
            !is_token("another", &one)
                && !is_token("secret", "")
                && !is_token("secret", one.get(..127).unwrap())
        );
    }

    #[test]
    fn the_word_opens_once() {
        let entrance = Entrance::local(Vec::new(), "word".to_owned());
        assert!(!entrance.opens("other") && entrance.opens("word") && !entrance.opens("word"));
        assert!(!Entrance::default().opens(""));
    }

    #[test]
    fn another_pages_form_does_not_count() {
        let headers = |origin: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1:4747"));
            headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
            headers
        };
        assert!(own_origin(None, &headers("http://127.0.0.1:4747")).is_ok());
        let outside = Some("https://lictor.example.com/");
        assert!(own_origin(outside, &headers("https://lictor.example.com")).is_ok(), "through a proxy");
        for other in
            ["http://127.0.0.1:3000", "null", "http://evil.example", "http://127.0.0.1:4747.evil.example"]
        {
            assert!(own_origin(None, &headers(other)).is_err(), "{other}");
            assert!(own_origin(outside, &headers(other)).is_err(), "{other}");
        }
    }
}
