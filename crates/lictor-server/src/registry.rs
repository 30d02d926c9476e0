//! Tenants, people, tokens and policies: what the server knows itself, kept on record in a chain of its own.

mod callers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use callers::{Callers, Known};
use lictor_core::{Digest, Timestamp};
use lictor_store::{Draft, Durability, Keys, Space, Store, StoreError, StoreExt as _, Transaction, View};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::identity::{Caller, Kind, Role};
use crate::notify::{Letter, Target};
use crate::password::Hashed;
use crate::random;

/// So many tokens that have ended are removed at a time.
const MOST_FORGOTTEN: usize = 50;

/// What a client does while the server is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Away {
    /// Nothing passes.
    Block,
    /// The last policy that was fetched judges, until it is too old; then nothing passes.
    #[default]
    LastGood,
    /// Everything passes, and is recorded as ungoverned.
    Pass,
}

/// An organisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tenant {
    /// What people call it.
    #[serde(default)]
    pub name: String,
    /// What its clients do while the server is away.
    #[serde(default)]
    pub away: Away,
    /// How long a fetched policy counts, in seconds.
    #[serde(default = "a_week")]
    pub max_age: u64,
    /// Where its people sign in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oidc: Option<Oidc>,
}

/// An OpenID provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oidc {
    /// Its address, as tokens name it.
    pub issuer: String,
    /// What it calls this server.
    pub client_id: String,
    /// The file on this machine that holds what this server proves itself with; none for a public client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_file: Option<String>,
    /// The roles that come with a group of the provider. Without any, roles are given here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, Vec<Role>>,
}

impl Default for Tenant {
    fn default() -> Self {
        Self { name: String::new(), away: Away::default(), max_age: a_week(), oidc: None }
    }
}

fn a_week() -> u64 {
    7 * 24 * 60 * 60
}

/// A person of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    /// The name that policies and records use.
    pub uid: String,
    /// The address.
    #[serde(default)]
    pub email: Option<String>,
    /// The role in policies.
    #[serde(default)]
    pub role: Option<String>,
    /// What the person may do, in the words of policies.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The person's groups.
    #[serde(default)]
    pub groups: Vec<String>,
    /// What the person may do on the server.
    #[serde(default)]
    pub roles: Vec<Role>,
    /// Cannot sign in or act any more; stays for the record.
    #[serde(default)]
    pub disabled: bool,
}

/// A token as it is kept: never the secret, only its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Its name.
    pub id: String,
    /// The tenant.
    pub tenant: String,
    /// Whose it is.
    pub kind: Kind,
    /// The person, machine or service.
    pub owner: String,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends.
    pub expires: Option<Timestamp>,
}

/// A policy that is or was in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// Counts up from 1 for each tenant.
    pub version: u64,
    /// The text.
    pub text: String,
    /// Who published it.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// Why the registry refuses.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no such thing.
    #[error("there is no {what} `{name}`")]
    Missing {
        /// What kind of thing.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A name that cannot be one.
    #[error("`{0}` cannot be a name; use letters, digits, `.`, `_`, `-` and `@`, at most 100 of them")]
    Name(String),
    /// Nobody can be told that way.
    #[error("nobody can be told that way: {0}")]
    Target(&'static str),
    /// The system has no random numbers.
    #[error("no random numbers: {0}")]
    Random(#[from] std::io::Error),
}

/// What the server knows itself.
#[derive(Clone)]
pub struct Registry {
    store: Arc<dyn Store>,
    callers: Arc<Callers>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Registry")
    }
}

/// Names that are safe in keys, addresses and logs.
///
/// # Errors
/// [`RegistryError::Name`].
pub fn name(text: &str) -> Result<&str, RegistryError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '@');
    if text.is_empty() || text.len() > 100 || !text.chars().all(plain) {
        return Err(RegistryError::Name(text.chars().take(120).collect()));
    }
    Ok(text)
}

fn get<T: DeserializeOwned>(view: &dyn View, key: &str) -> Result<Option<T>, StoreError> {
    let found = view.get(Space::Meta, key.as_bytes())?;
    found.map(|value| serde_json::from_slice(&value).map_err(StoreError::other)).transpose()
}

fn put(tx: &mut dyn Transaction, key: &str, value: &impl Serialize) -> Result<(), StoreError> {
    tx.put(Space::Meta, key.as_bytes(), &serde_json::to_vec(value).map_err(StoreError::other)?)
}

fn list<T: DeserializeOwned>(view: &dyn View, prefix: &str) -> Result<Vec<T>, StoreError> {
    let mut keys = Keys::prefix(prefix).limit(500);
    let mut found = Vec::new();
    loop {
        let page = view.scan(Space::Meta, &keys)?;
        let Some((last, _)) = page.last() else { return Ok(found) };
        keys = keys.beyond(last.clone());
        for (_, value) in page {
            found.push(serde_json::from_slice(&value).map_err(StoreError::other)?);
        }
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

/// Writes down who did what.
fn note(
    tx: &mut dyn Transaction,
    at: Timestamp,
    kind: &str,
    by: &str,
    what: Value,
) -> Result<(), StoreError> {
    let body = json!({"by": by, "what": what}).to_string();
    tx.append(Draft { at, session: None, kind: kind.to_owned(), body }).map(drop)
}

impl Registry {
    /// Over this store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, callers: Arc::default() }
    }

    /// A change by somebody, with its record.
    fn change<T>(
        &self,
        at: Timestamp,
        kind: &str,
        by: &str,
        f: impl FnOnce(&mut dyn Transaction) -> Result<(T, Value), RegistryError>,
    ) -> Result<T, RegistryError> {
        let changed = self.store.try_update(Durability::Power, |tx| {
            let (value, what) = f(tx)?;
            note(tx, at, kind, by, what)?;
            Ok(value)
        });
        // Also after an error: whether a commit got through is not always known.
        self.callers.forget();
        changed
    }

    /// Makes a tenant, or changes it.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn put_tenant(
        &self,
        id: &str,
        tenant: &Tenant,
        by: &str,
        at: Timestamp,
    ) -> Result<(), RegistryError> {
        name(id)?;
        self.change(at, "tenant.changed", by, |tx| {
            put(tx, &format!("tenant/{id}"), tenant)?;
            Ok(((), json!({"tenant": id, "settings": tenant})))
        })
    }

    /// A tenant.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn tenant(&self, id: &str) -> Result<Tenant, RegistryError> {
        let found = self.store.view(|view| get(view, &format!("tenant/{id}")))?;
        found.ok_or_else(|| RegistryError::Missing { what: "tenant", name: id.to_owned() })
    }

    /// The names of all tenants.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn tenants(&self) -> Result<Vec<String>, RegistryError> {
        let found =
            self.store.view(|view| view.scan(Space::Meta, &Keys::prefix("tenant/").limit(usize::MAX)))?;
        let name = |key: Vec<u8>| String::from_utf8(key).ok()?.strip_prefix("tenant/").map(str::to_owned);
        Ok(found.into_iter().filter_map(|(key, _)| name(key)).collect())
    }

    /// Adds people to a tenant, or changes them. Those who are not named stay.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn put_people(
        &self,
        tenant: &str,
        people: &[Person],
        by: &str,
        at: Timestamp,
    ) -> Result<(), RegistryError> {
        for person in people {
            name(&person.uid)?;
        }
        self.change(at, "people.changed", by, |tx| {
            if get::<Tenant>(tx, &format!("tenant/{tenant}"))?.is_none() {
                return Err(RegistryError::Missing { what: "tenant", name: tenant.to_owned() });
            }
            for person in people {
                put(tx, &format!("person/{tenant}/{}", person.uid), person)?;
            }
            Ok(((), json!({"tenant": tenant, "people": people})))
        })
    }

    /// The people of a tenant.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn people(&self, tenant: &str) -> Result<Vec<Person>, RegistryError> {
        Ok(self.store.view(|view| list(view, &format!("person/{tenant}/")))?)
    }

    /// A person of a tenant.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn person(&self, tenant: &str, uid: &str) -> Result<Option<Person>, RegistryError> {
        Ok(self.store.view(|view| get(view, &format!("person/{tenant}/{uid}")))?)
    }

    /// Gives a person a password, or takes it away. Only what it hashes to is kept.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn put_password(
        &self,
        tenant: &str,
        uid: &str,
        hashed: Option<&Hashed>,
        by: &str,
        at: Timestamp,
    ) -> Result<(), RegistryError> {
        self.change(at, "password.changed", by, |tx| {
            if get::<Person>(tx, &format!("person/{tenant}/{uid}"))?.is_none() {
                return Err(RegistryError::Missing { what: "person", name: uid.to_owned() });
            }
            let key = format!("password/{tenant}/{uid}");
            match hashed {
                Some(hashed) => put(tx, &key, hashed)?,
                None => tx.delete(Space::Meta, key.as_bytes())?,
            }
            Ok(((), json!({"tenant": tenant, "uid": uid, "has_password": hashed.is_some()})))
        })
    }

    /// What a person's password hashes to.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn password(&self, tenant: &str, uid: &str) -> Result<Option<Hashed>, RegistryError> {
        Ok(self.store.view(|view| get(view, &format!("password/{tenant}/{uid}")))?)
    }

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

    /// Who has this secret; `None` when nobody has, or not any more.
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
        let mark = match self.callers.get(digest) {
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
            self.callers.keep(digest, known, mark);
        }
        Ok(found)
    }

    /// Puts a policy in force.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn publish(
        &self,
        tenant: &str,
        text: &str,
        by: &str,
        at: Timestamp,
    ) -> Result<Published, RegistryError> {
        self.change(at, "policy.published", by, |tx| {
            if get::<Tenant>(tx, &format!("tenant/{tenant}"))?.is_none() {
                return Err(RegistryError::Missing { what: "tenant", name: tenant.to_owned() });
            }
            let key = format!("policy/{tenant}/current");
            let version = get::<u64>(tx, &key)?.unwrap_or(0) + 1;
            let published = Published { version, text: text.to_owned(), by: by.to_owned(), at };
            put(tx, &format!("policies/{tenant}/{version:010}"), &published)?;
            put(tx, &key, &version)?;
            let digest = Digest::of(text.as_bytes());
            Ok((published, json!({"tenant": tenant, "version": version, "digest": digest})))
        })
    }

    /// The policy in force, or an earlier one.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn policy(&self, tenant: &str, version: Option<u64>) -> Result<Option<Published>, RegistryError> {
        Ok(self.store.view(|view| {
            let version = match version {
                Some(version) => Some(version),
                None => get(view, &format!("policy/{tenant}/current"))?,
            };
            match version {
                None => Ok(None),
                Some(version) => get(view, &format!("policies/{tenant}/{version:010}")),
            }
        })?)
    }

    /// All policies that a tenant has had.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn policies(&self, tenant: &str) -> Result<Vec<Published>, RegistryError> {
        Ok(self.store.view(|view| list(view, &format!("policies/{tenant}/")))?)
    }

    /// Remembers that a machine of a tenant sends records.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn note_machine(&self, tenant: &str, machine: &str) -> Result<(), RegistryError> {
        let key = format!("machine/{tenant}/{machine}");
        if self.store.view(|view| view.get(Space::Meta, key.as_bytes()))?.is_none() {
            self.store.update(Durability::Power, |tx| put(tx, &key, &machine))?;
        }
        Ok(())
    }

    /// The machines of a tenant that sent records.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn machines(&self, tenant: &str) -> Result<Vec<String>, RegistryError> {
        Ok(self.store.view(|view| list(view, &format!("machine/{tenant}/")))?)
    }

    /// Who is told about the questions of a tenant.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn targets(&self, tenant: &str) -> Result<Vec<Target>, RegistryError> {
        Ok(self.store.view(|view| list(view, &format!("target/{tenant}/")))?)
    }

    /// The tenants about whose questions somebody is told.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn told(&self) -> Result<BTreeSet<String>, RegistryError> {
        let found =
            self.store.view(|view| view.scan(Space::Meta, &Keys::prefix("target/").limit(usize::MAX)))?;
        let tenant = |key: Vec<u8>| String::from_utf8(key).ok()?.split('/').nth(1).map(str::to_owned);
        Ok(found.into_iter().filter_map(|(key, _)| tenant(key)).collect())
    }

    /// Lets somebody be told. What is secret about it is not on record.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn put_target(
        &self,
        tenant: &str,
        target: &Target,
        by: &str,
        at: Timestamp,
    ) -> Result<(), RegistryError> {
        name(&target.name)?;
        if let Some(why) = target.way.wrong() {
            return Err(RegistryError::Target(why));
        }
        self.change(at, "target.changed", by, |tx| {
            put(tx, &format!("target/{tenant}/{}", target.name), target)?;
            let what = json!({"name": target.name, "way": target.way.word(), "to": target.way.place()});
            Ok(((), json!({"tenant": tenant, "target": what})))
        })
    }

    /// Tells somebody no more.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn delete_target(
        &self,
        tenant: &str,
        target: &str,
        by: &str,
        at: Timestamp,
    ) -> Result<(), RegistryError> {
        self.change(at, "target.removed", by, |tx| {
            tx.delete(Space::Meta, format!("target/{tenant}/{target}").as_bytes())?;
            Ok(((), json!({"tenant": tenant, "target": target})))
        })
    }

    /// What is sent to a target about a question, as far as it got.
    pub(crate) fn letter(
        &self,
        tenant: &str,
        target: &str,
        id: &str,
    ) -> Result<Option<Letter>, RegistryError> {
        Ok(self.store.view(|view| get(view, &format!("letter/{tenant}/{target}/{id}")))?)
    }

    pub(crate) fn put_letter(
        &self,
        tenant: &str,
        target: &str,
        letter: &Letter,
    ) -> Result<(), RegistryError> {
        let key = format!("letter/{tenant}/{target}/{}", letter.message.id);
        Ok(self.store.update(Durability::Process, |tx| put(tx, &key, letter))?)
    }

    /// Forgets what was sent about questions that wait no more.
    pub(crate) fn forget_letters(&self, tenant: &str, waiting: &[String]) -> Result<(), RegistryError> {
        let prefix = format!("letter/{tenant}/");
        let all = self
            .store
            .view(|view| view.scan(Space::Meta, &Keys::prefix(prefix.as_str()).limit(usize::MAX)))?;
        let done = |key: &[u8]| {
            let key = String::from_utf8_lossy(key);
            !waiting.iter().any(|id| key.ends_with(&format!("/{id}")))
        };
        let over: Vec<Vec<u8>> = all.into_iter().map(|(key, _)| key).filter(|key| done(key)).collect();
        if over.is_empty() {
            return Ok(());
        }
        Ok(self
            .store
            .update(Durability::Process, |tx| over.iter().try_for_each(|key| tx.delete(Space::Meta, key)))?)
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
