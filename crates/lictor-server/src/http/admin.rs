//! Tenants, people, tokens, and the first operator.

use std::sync::PoisonError;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use lictor_core::Digest;
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::entrance::unasked;
use super::{Answer, Call, Problem, Server, problem};
use crate::identity::{Kind, Need};
use crate::password::{Hashed, LONGEST, SHORTEST};
use crate::registry::{Away, Oidc, Person, Tenant, Token};
use crate::tenants::now;

pub(super) fn put_tenant(call: &Call) -> Answer {
    let tenant: Tenant = call.read()?;
    call.server.tenants.registry.put_tenant(call.part("tenant"), &tenant, &call.caller.owner, now())?;
    Ok(json!({"tenant": call.part("tenant"), "settings": tenant}))
}

/// Settings of a tenant to change. An absent one stays; null is a value only where a setting can be removed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    #[serde(default, deserialize_with = "named")]
    name: Option<String>,
    #[serde(default, deserialize_with = "named")]
    away: Option<Away>,
    #[serde(default, deserialize_with = "named")]
    max_age: Option<u64>,
    /// Absent leaves the provider, null removes it.
    #[serde(default, deserialize_with = "named")]
    oidc: Option<Option<Oidc>>,
}

fn named<'de, D: Deserializer<'de>, T: Deserialize<'de>>(value: D) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

pub(super) fn patch_tenant(call: &Call) -> Answer {
    let Settings { name, away, max_age, oidc } = call.read()?;
    let (id, registry) = (call.part("tenant"), &call.server.tenants.registry);
    let changed = registry.change_tenant(id, &call.caller.owner, now(), |before| Tenant {
        name: name.unwrap_or(before.name),
        away: away.unwrap_or(before.away),
        max_age: max_age.unwrap_or(before.max_age),
        oidc: oidc.unwrap_or(before.oidc),
    })?;
    Ok(json!({"tenant": id, "settings": changed}))
}

pub(super) fn tenant(call: &Call) -> Answer {
    let tenant = call.tenant()?;
    Ok(json!({"tenant": tenant, "settings": call.server.tenants.registry.tenant(tenant)?}))
}

pub(super) fn tenants(call: &Call) -> Answer {
    Ok(json!({"tenants": call.server.tenants.registry.tenants()?}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct People {
    people: Vec<Person>,
}

pub(super) fn put_people(call: &Call) -> Answer {
    let People { people } = call.read()?;
    call.server.tenants.registry.put_people(call.tenant()?, &people, &call.caller.owner, now())?;
    Ok(json!({"people": people}))
}

pub(super) fn people(call: &Call) -> Answer {
    Ok(json!({"people": call.server.tenants.registry.people(call.tenant()?)?}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Password {
    /// Removal must be explicit.
    #[serde(deserialize_with = "Option::deserialize")]
    password: Option<String>,
}

pub(super) fn put_password(call: &Call) -> Answer {
    let Password { password } = call.read()?;
    let bounds = SHORTEST..=LONGEST;
    if password
        .as_ref()
        .is_some_and(|password| !bounds.contains(&password.chars().count()) || password.len() > LONGEST)
    {
        return Err(Problem::bad(format!("a password has from {SHORTEST} to {LONGEST} characters")));
    }
    let hashed = password.as_deref().map(Hashed::of).transpose()?;
    let (tenant, uid) = (call.tenant()?, call.part("uid"));
    call.server.tenants.registry.put_password(tenant, uid, hashed.as_ref(), &call.caller.owner, now())?;
    Ok(json!({"uid": uid, "has_password": hashed.is_some()}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mint {
    kind: Kind,
    owner: String,
    for_seconds: Option<i64>,
}

pub(super) fn mint(call: &Call) -> Answer {
    let Mint { kind, owner, for_seconds } = call.read()?;
    if kind == Kind::Operator && !call.caller.may(Need::Operate) {
        return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", "only the operator makes operators"));
    }
    let tenant = call.tenant()?;
    let at = now();
    let expires = for_seconds.map(|seconds| at.plus_millis(seconds.max(0).saturating_mul(1000)));
    let registry = &call.server.tenants.registry;
    registry.tenant(tenant)?;
    let (secret, token) = registry.mint(tenant, kind, &owner, expires, &call.caller.owner, at)?;
    Ok(json!({"secret": secret, "token": token}))
}

pub(super) fn tokens(call: &Call) -> Answer {
    Ok(json!({"tokens": call.server.tenants.registry.tokens(call.tenant()?)?}))
}

pub(super) fn revoke(call: &Call) -> Answer {
    let (tenant, id) = (call.tenant()?, call.part("id"));
    let registry = &call.server.tenants.registry;
    // The token of the operator belongs to a tenant, but administrators of that tenant must not revoke it.
    let operates = |token: &Token| token.id == id && token.kind == Kind::Operator;
    if !call.caller.may(Need::Operate) && registry.tokens(tenant)?.iter().any(operates) {
        let text = "only the operator takes an operator's token back";
        return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", text));
    }
    registry.revoke(tenant, id, &call.caller.owner, now())?;
    Ok(json!({"revoked": call.part("id")}))
}

/// The body of `POST /v1/setup`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Setup {
    /// The word from the link that was printed at the first start.
    code: String,
    /// The operator's name.
    owner: String,
}

/// Creates the first operator, with the printed code. Works once.
pub(crate) fn become_operator(server: &Server, code: &str, owner: &str) -> Result<(String, Token), Problem> {
    let mut setup = server.setup.lock().unwrap_or_else(PoisonError::into_inner);
    // Digests are compared, so that timing reveals nothing about the code.
    let digest = |text: &str| Digest::of(text.as_bytes());
    if setup.as_deref().is_none_or(|known| digest(known) != digest(code)) {
        let text = "the link was used, or is not the one that was printed";
        return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", text));
    }
    let registry = &server.tenants.registry;
    let tenant = Tenant { name: "default".to_owned(), ..Tenant::default() };
    registry.put_tenant("default", &tenant, owner, now())?;
    let made = registry.mint("default", Kind::Operator, owner, None, owner, now())?;
    *setup = None;
    Ok(made)
}

/// Makes the first operator, once.
pub(super) async fn setup(State(server): State<Server>, address: Uri, body: Bytes) -> Response {
    let Setup { code, owner } = match unasked(&address, &body) {
        Ok(read) => read,
        Err(problem) => return problem.into_response(),
    };
    let made = tokio::task::spawn_blocking(move || {
        let (secret, token) = become_operator(&server, &code, &owner)?;
        Ok::<_, Problem>(json!({"secret": secret, "token": token}))
    });
    match made.await {
        Ok(Ok(value)) => problem::json(StatusCode::OK, "application/json", &value),
        Ok(Err(problem)) => problem.into_response(),
        Err(_) => {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the request failed inside Lictor")
                .into_response()
        }
    }
}
