//! The current and earlier policies of a tenant.

use lictor_core::{Digest, Timestamp};
use lictor_store::StoreExt as _;
use serde_json::json;

use super::{Published, Registry, RegistryError, Tenant, get, list, put};

impl Registry {
    /// Publishes a policy.
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

    /// The current policy, or an earlier one.
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
}
