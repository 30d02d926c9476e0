//! Notification targets, and what was sent to them.

use std::collections::BTreeSet;

use lictor_core::Timestamp;
use lictor_store::{Durability, Keys, Space, StoreExt as _};
use serde_json::json;

use super::{Registry, RegistryError, get, list, name, put};
use crate::notify::{Letter, Target};

impl Registry {
    /// The notification targets of a tenant.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn targets(&self, tenant: &str) -> Result<Vec<Target>, RegistryError> {
        Ok(self.store.view(|view| list(view, &format!("target/{tenant}/")))?)
    }

    /// The tenants with notification targets.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn told(&self) -> Result<BTreeSet<String>, RegistryError> {
        let found =
            self.store.view(|view| view.scan(Space::Meta, &Keys::prefix("target/").limit(usize::MAX)))?;
        let tenant = |key: Vec<u8>| String::from_utf8(key).ok()?.split('/').nth(1).map(str::to_owned);
        Ok(found.into_iter().filter_map(|(key, _)| tenant(key)).collect())
    }

    /// Adds a notification target. Its secrets are not recorded.
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

    /// Removes a notification target.
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

    /// The delivery state of a notification.
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
}
