use serde::{Deserialize, Serialize};

use super::{CheckSeal, Point, Seal, Sign, Who};
use crate::action::SessionKey;
use crate::canonical;
use crate::clock::Timestamp;
use crate::digest::Digest;

/// What an approval is about: one action, in one session, under one policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Digest of the action.
    pub action: Digest,
    /// Its session, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionKey>,
    /// Digest of the policy.
    pub policy: Digest,
}

impl Request {
    /// The id under which approvals and grants of this request are stored: a whole digest, so that no two
    /// requests share one. It identifies; it does not authorise.
    #[must_use]
    pub fn id(&self) -> String {
        let (present, agent, id) = match &self.session {
            Some(session) => ([1], session.agent.as_bytes(), session.id.as_bytes()),
            None => ([0], b"".as_slice(), b"".as_slice()),
        };
        Digest::of_parts([
            b"lictor request 1".as_slice(),
            self.action.as_bytes(),
            self.policy.as_bytes(),
            &present,
            agent,
            id,
        ])
        .to_string()
    }
}

/// A file with its content when a person was asked about running or reading it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pin {
    /// Its absolute path.
    pub path: String,
    /// The digest of its content.
    pub content: Digest,
}

/// How long a grant can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// Once, and not after it expires.
    Once,
    /// Any number of times until it expires.
    UntilExpiry,
    /// Any number of times as long as the session lasts, and not after it expires.
    Session,
}

/// What a person has allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// What it allows.
    pub request: Request,
    /// The points that were approved. A grant lifts these and no others.
    pub asked: Vec<Digest>,
    /// The files that must be unchanged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<Pin>,
    /// The lifetime.
    pub lifetime: Lifetime,
    /// When it expires.
    pub expires: Timestamp,
    /// Who gave it.
    pub who: Who,
    /// The end of the log when it was given. The records of giving and using it come later.
    #[serde(default)]
    pub after: u64,
    /// The signature over all fields above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
}

/// Why a grant does not cover a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// Another action: one changed byte of the payload is enough.
    #[error("it was given for another action")]
    Action,
    /// Another session.
    #[error("it was given in another session")]
    Session,
    /// Another policy.
    #[error("the policy has changed since it was given")]
    Policy,
    /// The grant has expired.
    #[error("it has expired")]
    Expired,
    /// The action now asks a point that the person did not see.
    #[error("something is asked now that was not asked then")]
    Points,
    /// A file that the action runs or reads has changed.
    #[error("a file that it runs or reads has changed since")]
    Files,
}

impl Grant {
    /// The bytes that are signed.
    fn message(&self) -> Vec<u8> {
        let unsealed = Self { seal: None, ..self.clone() };
        let mut message = b"lictor grant 1\n".to_vec();
        if let Ok(value) = serde_json::to_value(&unsealed) {
            message.extend(canonical::bytes(&value));
        }
        message
    }

    /// The same grant, signed.
    #[must_use]
    pub fn signed(mut self, signer: &dyn Sign) -> Self {
        self.seal = Some(signer.sign(&self.message()));
        self
    }

    /// Whether a person signed exactly this grant.
    #[must_use]
    pub fn is_signed(&self, check: &dyn CheckSeal) -> bool {
        self.seal.as_ref().is_some_and(|seal| check.is_theirs(&self.message(), seal))
    }

    /// Whether it covers this request with these points and these files at this time.
    ///
    /// # Errors
    /// The first part that does not match.
    pub fn covers(
        &self,
        request: &Request,
        mut asked: impl Iterator<Item = Point>,
        pins: &[Pin],
        now: Timestamp,
    ) -> Result<(), Mismatch> {
        if self.request.action != request.action {
            return Err(Mismatch::Action);
        }
        if self.request.session != request.session {
            return Err(Mismatch::Session);
        }
        if self.request.policy != request.policy {
            return Err(Mismatch::Policy);
        }
        if now >= self.expires {
            return Err(Mismatch::Expired);
        }
        if asked.any(|point| !self.asked.contains(&point.digest())) {
            return Err(Mismatch::Points);
        }
        if self.pins != pins {
            return Err(Mismatch::Files);
        }
        Ok(())
    }
}
