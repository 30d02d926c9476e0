//! The people of a tenant and their passwords.

use lictor_core::Timestamp;
use lictor_store::{Space, StoreExt as _};
use serde_json::json;

use super::{Person, Registry, RegistryError, Tenant, get, list, name, put};
use crate::password::Hashed;

impl Registry {
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
}
