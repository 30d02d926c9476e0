//! Tokens and their callers.

use std::sync::Arc;

use lictor_core::{Digest, Timestamp};
use lictor_store::{Keys, Space, StoreError, StoreExt as _, Transaction};
use serde_json::json;

use super::callers::Known;
use super::{Person, Registry, RegistryError, Token, get, list, name, put};
use crate::identity::{Caller, Kind};
use crate::random;

/// So many tokens that have ended are removed at a time.
const MOST_FORGOTTEN: usize = 50;

impl Registry {
    /// Makes a token and returns its secret, which is not kept. Only for people who are there.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn mint(
        &self,
        tenant: &str,
        kind: Kind,
        owner: &str,
        expires: Option<Timestamp>,
        by: &str,
        at: Timestamp,
    ) -> Result<(String, Token), RegistryError> {
        name(owner)?;
        let secret = format!("lictor_{}", random::hex(32)?);
        let token = Token {
            id: random::hex(6)?,
            tenant: tenant.to_owned(),
            kind,
            owner: owner.to_owned(),
            created: at,
            expires,
        };
        self.change(at, "token.made", by, |tx| {
            forget_ended(tx, at)?;
            if kind == Kind::Person && get::<Person>(tx, &format!("person/{tenant}/{owner}"))?.is_none() {
                return Err(RegistryError::Missing { what: "person", name: owner.to_owned() });
            }
            put(tx, &format!("token/{}", Digest::of(secret.as_bytes())), &token)?;
            Ok(((), json!({"token": token})))
        })?;
        Ok((secret, token))
    }

    /// Takes back a token of a tenant.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn revoke(&self, tenant: &str, id: &str, by: &str, at: Timestamp) -> Result<(), RegistryError> {
        self.change(at, "token.revoked", by, |tx| {
            let all = tx.scan(Space::Meta, &Keys::prefix("token/").limit(usize::MAX))?;
            let found = all.into_iter().find(|(_, value)| {
                serde_json::from_slice(value)
                    .is_ok_and(|token: Token| token.id == id && token.tenant == tenant)
            });
            let missing = || RegistryError::Missing { what: "token", name: id.to_owned() };
            let (key, _) = found.ok_or_else(missing)?;
            tx.delete(Space::Meta, &key)?;
            Ok(((), json!({"tenant": tenant, "token": id})))
        })
    }

    /// The tokens of a tenant.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn tokens(&self, tenant: &str) -> Result<Vec<Token>, RegistryError> {
        let all: Vec<Token> = self.store.view(|view| list(view, "token/"))?;
        Ok(all.into_iter().filter(|token| token.tenant == tenant).collect())
    }

    /// The caller with this secret; `None` when it is unknown or revoked.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn caller(&self, secret: &str, now: Timestamp) -> Result<Option<Caller>, RegistryError> {
        let Some(known) = self.known(secret)? else { return Ok(None) };
        let (token, person) = &*known;
        let over = token.expires.is_some_and(|end| end <= now);
        let gone = token.kind == Kind::Person && person.as_ref().is_none_or(|person| person.disabled);
        if over || gone {
            return Ok(None);
        }
        let (email, role, scopes, groups, roles) = match person.clone() {
            Some(person) => (person.email, person.role, person.scopes, person.groups, person.roles),
            None => (None, None, Vec::new(), Vec::new(), Vec::new()),
        };
        let Token { id, tenant, kind, owner, .. } = token.clone();
        Ok(Some(Caller { token: id, tenant, kind, owner, email, role, scopes, groups, roles }))
    }

    /// The token with this secret, and its person.
    fn known(&self, secret: &str) -> Result<Option<Known>, RegistryError> {
        let digest = Digest::of(secret.as_bytes());
        let end = self.end()?;
        let mark = match self.callers.get(digest, end) {
            Ok(known) => return Ok(Some(known)),
            Err(mark) => mark,
        };
        let found = self.store.view(|view| {
            let Some(token) = get::<Token>(view, &format!("token/{digest}"))? else { return Ok(None) };
            let person: Option<Person> = match token.kind {
                Kind::Person => get(view, &format!("person/{}/{}", token.tenant, token.owner))?,
                _ => None,
            };
            Ok(Some(Arc::new((token, person))))
        })?;
        if let Some(known) = &found {
            self.callers.keep(digest, known, end, mark);
        }
        Ok(found)
    }

    /// Whether an operator has been made.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn has_operator(&self) -> Result<bool, RegistryError> {
        let all: Vec<Token> = self.store.view(|view| list(view, "token/"))?;
        Ok(all.iter().any(|token| token.kind == Kind::Operator))
    }
}

/// Removes some of the tokens that have ended: each sign-in makes one.
fn forget_ended(tx: &mut dyn Transaction, now: Timestamp) -> Result<(), StoreError> {
    let all = tx.scan(Space::Meta, &Keys::prefix("token/").limit(usize::MAX))?;
    let ended = |value: &[u8]| {
        serde_json::from_slice(value).is_ok_and(|token: Token| token.expires.is_some_and(|end| end <= now))
    };
    let over = all.iter().filter(|(_, value)| ended(value)).take(MOST_FORGOTTEN);
    over.into_iter().try_for_each(|(key, _)| tx.delete(Space::Meta, key))
}
