//! Notifications about pending questions: by webhook, Slack-compatible webhook, ntfy or mail.
//!
//! A message has one redacted line and a link that requires sign-in: the link itself grants nothing. Messages are
//! stored in an outbox, so that a restart loses none; failures are retried with increasing delays.

mod mail;
mod outbox;
mod send;

pub use outbox::Outbox;
pub(crate) use outbox::{Letter, run};

use serde::{Deserialize, Serialize};

/// A notification target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// How.
    pub way: Way,
}

/// How a message goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "way", rename_all = "snake_case")]
pub enum Way {
    /// JSON to an address, signed with a shared secret.
    Webhook {
        /// The address.
        url: String,
        /// The shared secret.
        secret: String,
    },
    /// The webhook format of Slack, Mattermost and others.
    Slack {
        /// The address.
        url: String,
    },
    /// A topic of an ntfy server.
    Ntfy {
        /// The address of the topic.
        url: String,
    },
    /// A mail, through a relay that takes it from this server. Over a network it goes with TLS or not at all.
    Mail {
        /// `host:port`.
        server: String,
        /// The mailbox.
        to: String,
    },
}

impl Way {
    /// Its name.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Webhook { .. } => "webhook",
            Self::Slack { .. } => "slack",
            Self::Ntfy { .. } => "ntfy",
            Self::Mail { .. } => "mail",
        }
    }

    /// The destination without secrets: some services put a secret into the path.
    #[must_use]
    pub fn place(&self) -> &str {
        match self {
            Self::Mail { to, .. } => to,
            Self::Webhook { url, .. } | Self::Slack { url } | Self::Ntfy { url } => {
                let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
                rest.split(['/', '?', '@']).next().unwrap_or_default()
            }
        }
    }

    /// Why it cannot be used, if it cannot.
    #[must_use]
    pub fn wrong(&self) -> Option<&'static str> {
        let (Self::Webhook { url, .. } | Self::Slack { url } | Self::Ntfy { url }) = self else {
            let Self::Mail { server, to } = self else { return None };
            let plain = |text: &str| !text.contains(['\r', '\n', '<', '>', ' ']) && !text.is_empty();
            return (!plain(to) || !to.contains('@') || !plain(server) || !server.contains(':'))
                .then_some("a mail needs a mailbox and a server as `host:port`");
        };
        if !url.starts_with("https://") && !url.starts_with("http://") {
            return Some("the address has to begin with `https://` or `http://`");
        }
        match self {
            Self::Webhook { secret, .. } if secret.len() < 8 => {
                Some("a webhook needs a secret of at least 8 characters, to sign with")
            }
            _ => None,
        }
    }
}

/// What is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The question.
    pub id: String,
    /// The tenant.
    pub tenant: String,
    /// One redacted line.
    pub summary: String,
    /// Which agent asks.
    pub agent: String,
    /// When the question lapses.
    pub expires: lictor_core::Timestamp,
    /// The link where a signed-in person can answer.
    pub link: String,
}

#[cfg(test)]
mod tests;
