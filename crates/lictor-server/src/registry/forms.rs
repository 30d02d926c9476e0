//! The stored formats of the registry.

use std::collections::BTreeMap;

use lictor_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::identity::{Kind, Role};

/// Greater numbers are not safe in every language.
const LONGEST_AGE: u64 = (1 << 53) - 1;

/// What a client does while the server is unreachable.
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
    /// What its clients do while the server is unreachable.
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
    /// The client id of this server.
    pub client_id: String,
    /// The file on this machine with the client secret; `None` for a public client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_file: Option<String>,
    /// The roles of the provider's groups. Without any, roles are assigned here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, Vec<Role>>,
}

impl Default for Tenant {
    fn default() -> Self {
        Self { name: String::new(), away: Away::default(), max_age: a_week(), oidc: None }
    }
}

impl Tenant {
    /// Why it cannot be used, if it cannot.
    #[must_use]
    pub fn wrong(&self) -> Option<&'static str> {
        if self.max_age > LONGEST_AGE {
            return Some("`max_age` is a number of seconds below 2^53");
        }
        let Oidc { issuer, client_id, .. } = self.oidc.as_ref()?;
        let address = issuer.strip_prefix("https://").or_else(|| issuer.strip_prefix("http://"));
        if address.is_none_or(str::is_empty) {
            return Some("the issuer has to begin with `https://` or `http://`");
        }
        client_id.is_empty().then_some("the provider knows this server by a `client_id`")
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

/// A current or earlier policy.
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

#[cfg(test)]
mod tests;
