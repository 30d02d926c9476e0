//! Tenants, people, tokens and policies: the server's own data, recorded in a separate chain.

mod callers;
mod end;
mod forms;
mod people;
mod policies;
mod targets;
mod tokens;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use callers::Callers;
use end::End;
pub use forms::{Away, Oidc, Person, Published, Tenant, Token};
use lictor_core::Timestamp;
use lictor_store::{
    Draft, Durability, Head, Keys, Space, Store, StoreError, StoreExt as _, Transaction, View,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::identity::Caller;

/// The longest name of a machine's chain; a database has no room for longer ones.
pub(crate) const LONGEST_CHAIN: usize = 190;
/// How many machines are cached: each sends repeatedly.
const MOST_NOTED: usize = 10_000;

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
    /// A name that no machine can have.
    #[error(
        "`{0}` cannot be the name of a machine; use letters, digits, `_`, `-` and `@`, with the owner at most 190 of them"
    )]
    Machine(String),
    /// Settings of a tenant that cannot be used.
    #[error("these settings cannot be used: {0}")]
    Settings(&'static str),
    /// The target is invalid.
    #[error("nobody can be told that way: {0}")]
    Target(&'static str),
    /// The system has no random numbers.
    #[error("no random numbers: {0}")]
    Random(#[from] std::io::Error),
}

/// The server's own data.
#[derive(Clone)]
pub struct Registry {
    store: Arc<dyn Store>,
    callers: Arc<Callers>,
    end: Arc<End>,
    /// Machines that are on record, by their keys.
    machines: Arc<Mutex<HashSet<String>>>,
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

/// The name of the chain that a machine of a caller sends. Machine names have no dots, so the last dot separates owner and
/// machine, and two callers cannot have the same chain.
///
/// # Errors
/// [`RegistryError::Machine`].
pub fn chain(caller: &Caller, machine: &str) -> Result<String, RegistryError> {
    if name(machine).is_err() || machine.contains('.') {
        return Err(RegistryError::Machine(machine.chars().take(120).collect()));
    }
    chain_name(&format!("{}.{machine}", caller.unique_name())).map(str::to_owned)
}

/// Checks the name of such a chain.
///
/// # Errors
/// [`RegistryError::Machine`].
pub fn chain_name(text: &str) -> Result<&str, RegistryError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '@' | '=');
    if text.is_empty() || text.len() > LONGEST_CHAIN || !text.chars().all(plain) {
        return Err(RegistryError::Machine(text.chars().take(120).collect()));
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
        Self { store, callers: Arc::default(), end: Arc::default(), machines: Arc::default() }
    }

    /// A change with its author and its record.
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
        self.end.forget();
        self.callers.forget();
        changed
    }

    /// The end of the record as it is, or was a moment ago. As long as it stays the same, tenants, people, tokens and
    /// policies do.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn end(&self) -> Result<Head, RegistryError> {
        Ok(self.end.get(Instant::now(), || self.store.view(|view| view.head()))?)
    }

    /// Makes a tenant, or replaces all of its settings.
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
        if let Some(why) = tenant.wrong() {
            return Err(RegistryError::Settings(why));
        }
        self.change(at, "tenant.changed", by, |tx| {
            put(tx, &format!("tenant/{id}"), tenant)?;
            Ok(((), json!({"tenant": id, "settings": tenant})))
        })
    }

    /// Changes a tenant that there is.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn change_tenant(
        &self,
        id: &str,
        by: &str,
        at: Timestamp,
        change: impl FnOnce(Tenant) -> Tenant,
    ) -> Result<Tenant, RegistryError> {
        self.change(at, "tenant.changed", by, |tx| {
            let key = format!("tenant/{id}");
            let missing = || RegistryError::Missing { what: "tenant", name: id.to_owned() };
            let tenant = change(get(tx, &key)?.ok_or_else(missing)?);
            if let Some(why) = tenant.wrong() {
                return Err(RegistryError::Settings(why));
            }
            put(tx, &key, &tenant)?;
            let what = json!({"tenant": id, "settings": tenant});
            Ok((tenant, what))
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

    /// Whether a machine of a tenant has sent records.
    ///
    /// # Errors
    /// When it has not, or the store cannot be read.
    pub fn machine(&self, tenant: &str, machine: &str) -> Result<(), RegistryError> {
        let key = format!("machine/{tenant}/{machine}");
        let found = self.store.view(|view| view.get(Space::Meta, key.as_bytes()))?;
        let missing = || RegistryError::Missing { what: "machine", name: machine.to_owned() };
        found.map(drop).ok_or_else(missing)
    }

    /// Remembers that a machine of a tenant sends records.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn note_machine(&self, tenant: &str, machine: &str) -> Result<(), RegistryError> {
        let key = format!("machine/{tenant}/{machine}");
        let noted = || self.machines.lock().unwrap_or_else(PoisonError::into_inner);
        if noted().contains(&key) {
            return Ok(());
        }
        if self.store.view(|view| view.get(Space::Meta, key.as_bytes()))?.is_none() {
            self.store.update(Durability::Power, |tx| put(tx, &key, &machine))?;
        }
        let mut noted = noted();
        if noted.len() >= MOST_NOTED {
            noted.clear();
        }
        noted.insert(key);
        Ok(())
    }

    /// The machines of a tenant that sent records.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn machines(&self, tenant: &str) -> Result<Vec<String>, RegistryError> {
        Ok(self.store.view(|view| list(view, &format!("machine/{tenant}/")))?)
    }
}
