//! Signing in with an OpenID provider: the code flow with PKCE.
//!
//! The provider's token is accepted only if signature, issuer, audience, nonce and times are right. A person must
//! already exist in the tenant, by the address that the provider has verified or by their uid.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::Value;

use crate::random;
use crate::registry::Oidc;

/// How long somebody may take to sign in.
const PATIENCE: Duration = Duration::from_secs(600);
/// Clocks of servers differ.
const SLACK: i64 = 60;
/// Sign-ins under way at a time.
const MOST: usize = 10_000;

/// Why a sign-in failed.
#[derive(Debug, thiserror::Error)]
pub enum OidcError {
    /// The provider cannot be reached, or answers something else.
    #[error("the provider `{0}` does not answer as one: {1}")]
    Provider(String, String),
    /// The answer belongs to no sign-in that was begun here.
    #[error("this sign-in was not begun here, or took too long; begin again")]
    Unknown,
    /// The provider's token is invalid.
    #[error("what the provider said is not to be believed: {0}")]
    Unbelievable(&'static str),
    /// The system failed.
    #[error("signing in failed: {0}")]
    Failed(String),
}

/// A sign-in that was begun.
#[derive(Debug)]
struct Begun {
    tenant: String,
    verifier: String,
    nonce: String,
    redirect: String,
    next: String,
    at: Instant,
}

/// Sign-ins that are under way.
#[derive(Debug, Default)]
pub struct SignIns(Mutex<HashMap<String, Begun>>);

/// The signed-in person, according to the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The tenant that it was begun for.
    pub tenant: String,
    /// The name at the provider.
    pub subject: String,
    /// The address, when the provider has verified it.
    pub email: Option<String>,
    /// The groups.
    pub groups: Vec<String>,
    /// Where to go on.
    pub next: String,
}

#[derive(Debug, Deserialize)]
struct Discovery {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
}

#[derive(Debug, Deserialize)]
struct Keys {
    keys: Vec<Key>,
}

#[derive(Debug, Deserialize)]
struct Key {
    kty: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    crv: Option<String>,
    #[serde(default)]
    n: Option<String>,
    #[serde(default)]
    e: Option<String>,
    #[serde(default)]
    x: Option<String>,
    #[serde(default)]
    y: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Claims {
    iss: String,
    aud: Value,
    #[serde(default)]
    azp: Option<String>,
    sub: String,
    exp: i64,
    #[serde(default)]
    iat: Option<i64>,
    #[serde(default)]
    nonce: Option<String>,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    email_verified: Option<bool>,
    #[serde(default)]
    groups: Vec<String>,
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_secs(10)))
        .max_redirects(0)
        .http_status_as_error(false)
        .build()
        .into()
}

fn read<T: serde::de::DeserializeOwned>(
    issuer: &str,
    answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
) -> Result<T, OidcError> {
    let wrong = |error: String| OidcError::Provider(issuer.to_owned(), error);
    let mut response = answer.map_err(|error| wrong(error.to_string()))?;
    let status = response.status();
    if !status.is_success() {
        return Err(wrong(format!("it answered {status}")));
    }
    response.body_mut().read_json().map_err(|error| wrong(error.to_string()))
}

fn discover(oidc: &Oidc) -> Result<Discovery, OidcError> {
    let issuer = oidc.issuer.trim_end_matches('/');
    let encrypted = issuer.starts_with("https://");
    let local = ["http://127.0.0.1:", "http://[::1]:", "http://localhost:"];
    if !encrypted && !local.iter().any(|start| issuer.starts_with(start)) {
        return Err(OidcError::Provider(issuer.to_owned(), "its address is not `https://`".to_owned()));
    }
    let found: Discovery =
        read(issuer, agent().get(format!("{issuer}/.well-known/openid-configuration")).call())?;
    if found.issuer.trim_end_matches('/') != issuer {
        return Err(OidcError::Unbelievable("it calls itself something else"));
    }
    Ok(found)
}

/// URL-encoded.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn form(fields: &[(&str, &str)]) -> String {
    fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
}

impl SignIns {
    /// Begins a sign-in and returns the provider's URL. The second value must be returned by the same browser,
    /// which prevents login CSRF.
    ///
    /// # Errors
    /// See [`OidcError`].
    pub fn begin(
        &self,
        tenant: &str,
        oidc: &Oidc,
        redirect: &str,
        next: &str,
    ) -> Result<(String, String), OidcError> {
        let failed = |error: std::io::Error| OidcError::Failed(error.to_string());
        let found = discover(oidc)?;
        let (state, nonce) = (random::hex(16).map_err(failed)?, random::hex(16).map_err(failed)?);
        let verifier = random::hex(32).map_err(failed)?;
        let challenge =
            BASE64.encode(ring::digest::digest(&ring::digest::SHA256, verifier.as_bytes()).as_ref());
        let query = form(&[
            ("response_type", "code"),
            ("client_id", &oidc.client_id),
            ("redirect_uri", redirect),
            ("scope", "openid email profile groups"),
            ("state", &state),
            ("nonce", &nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        let begun = Begun {
            tenant: tenant.to_owned(),
            verifier,
            nonce,
            redirect: redirect.to_owned(),
            next: next.to_owned(),
            at: Instant::now(),
        };
        let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.retain(|_, begun| begun.at.elapsed() < PATIENCE);
        if under_way.len() >= MOST {
            return Err(OidcError::Failed("too many people sign in at once".to_owned()));
        }
        under_way.insert(state.clone(), begun);
        let joint = if found.authorization_endpoint.contains('?') { '&' } else { '?' };
        Ok((format!("{}{joint}{query}", found.authorization_endpoint), state))
    }

    /// The tenant that a sign-in was begun for.
    #[must_use]
    pub fn tenant(&self, state: &str) -> Option<String> {
        let under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.get(state).map(|begun| begun.tenant.clone())
    }

    /// Ends a sign-in with what the provider sent back. Each can be ended once.
    ///
    /// # Errors
    /// See [`OidcError`].
    pub fn finish(&self, oidc: &Oidc, state: &str, code: &str, now: i64) -> Result<Signed, OidcError> {
        let begun = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(state);
        let begun = begun.filter(|begun| begun.at.elapsed() < PATIENCE).ok_or(OidcError::Unknown)?;
        let found = discover(oidc)?;
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &begun.redirect),
            ("client_id", &oidc.client_id),
            ("code_verifier", &begun.verifier),
        ];
        let secret = oidc.client_secret_file.as_ref().map(std::fs::read_to_string).transpose();
        let secret = secret.map_err(|error| OidcError::Failed(format!("the client's secret: {error}")))?;
        if let Some(secret) = &secret {
            fields.push(("client_secret", secret.trim()));
        }
        let sent = agent()
            .post(&found.token_endpoint)
            .header("content-type", "application/x-www-form-urlencoded")
            .send(form(&fields));
        let answer: Value = read(&oidc.issuer, sent)?;
        let token = answer.get("id_token").and_then(Value::as_str);
        let token = token.ok_or(OidcError::Unbelievable("there is no id token"))?;
        let keys: Keys = read(&oidc.issuer, agent().get(&found.jwks_uri).call())?;
        let claims = believed(token, &keys, oidc, &begun.nonce, now)?;
        let email = claims.email.filter(|_| claims.email_verified == Some(true));
        Ok(Signed {
            tenant: begun.tenant,
            subject: claims.sub,
            email,
            groups: claims.groups,
            next: begun.next,
        })
    }
}

/// The claims of a valid token.
fn believed(token: &str, keys: &Keys, oidc: &Oidc, nonce: &str, now: i64) -> Result<Claims, OidcError> {
    let no = OidcError::Unbelievable;
    let mut parts = token.split('.');
    let (Some(head), Some(body), Some(seal), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(no("the token has not three parts"));
    };
    let decode = |part: &str| BASE64.decode(part).map_err(|_| no("the token cannot be decoded"));
    let header: Value = serde_json::from_slice(&decode(head)?).map_err(|_| no("the token has no header"))?;
    let named = header.get("kid").and_then(Value::as_str);
    let algorithm = header.get("alg").and_then(Value::as_str).unwrap_or_default();
    let signed = token.get(..head.len() + 1 + body.len()).unwrap_or_default().as_bytes();
    let seal = decode(seal)?;
    let fitting = keys.keys.iter().filter(|key| named.is_none() || key.kid.as_deref() == named);
    if !fitting.into_iter().any(|key| key.fits(algorithm, signed, &seal)) {
        return Err(no("no key of the provider fits its signature"));
    }
    let claims: Claims =
        serde_json::from_slice(&decode(body)?).map_err(|_| no("its claims cannot be read"))?;
    let audience = match &claims.aud {
        Value::String(one) => *one == oidc.client_id,
        Value::Array(all) => {
            all.iter().any(|one| one == oidc.client_id.as_str())
                && (all.len() == 1 || claims.azp.as_deref() == Some(oidc.client_id.as_str()))
        }
        _ => false,
    };
    if claims.iss.trim_end_matches('/') != oidc.issuer.trim_end_matches('/') {
        return Err(no("it was made by another provider"));
    }
    if !audience {
        return Err(no("it was made for another server"));
    }
    if claims.nonce.as_deref() != Some(nonce) {
        return Err(no("it was made for another sign-in"));
    }
    if claims.exp <= now.saturating_sub(SLACK) || claims.iat.is_some_and(|at| at > now.saturating_add(SLACK))
    {
        return Err(no("its time is not now"));
    }
    Ok(claims)
}

impl Key {
    /// Whether this key made the signature. The algorithm has to be one of the key's own.
    fn fits(&self, algorithm: &str, signed: &[u8], seal: &[u8]) -> bool {
        let part = |part: &Option<String>| part.as_deref().and_then(|text| BASE64.decode(text).ok());
        match (self.kty.as_str(), algorithm) {
            ("RSA", "RS256") => match (part(&self.n), part(&self.e)) {
                (Some(n), Some(e)) => RsaPublicKeyComponents { n, e }
                    .verify(&signature::RSA_PKCS1_2048_8192_SHA256, signed, seal)
                    .is_ok(),
                _ => false,
            },
            ("EC", "ES256") if self.crv.as_deref() == Some("P-256") => match (part(&self.x), part(&self.y)) {
                (Some(x), Some(y)) => {
                    let point = [&[4][..], &x, &y].concat();
                    let key = UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point);
                    key.verify(signed, seal).is_ok()
                }
                _ => false,
            },
            ("OKP", "EdDSA") if self.crv.as_deref() == Some("Ed25519") => part(&self.x)
                .is_some_and(|x| UnparsedPublicKey::new(&signature::ED25519, x).verify(signed, seal).is_ok()),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
