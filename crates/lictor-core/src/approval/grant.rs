use serde::{Deserialize, Serialize};

use super::{Point, Who};
use crate::action::SessionKey;
use crate::clock::Timestamp;
use crate::digest::Digest;

/// Exactly what an approval is about: an action, in a session, under a policy.
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
    /// The id that approvals and grants of this request are kept under. It names, it does not authorise.
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
        .short()
    }
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
    /// What it is for.
    pub request: Request,
    /// The points that were said yes to. A grant lifts these and no others.
    pub asked: Vec<Point>,
    /// How often.
    pub lifetime: Lifetime,
    /// Not usable from then on.
    pub expires: Timestamp,
    /// Who gave it.
    pub who: Who,
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
    /// Too late.
    #[error("it has expired")]
    Expired,
    /// Something is asked now that was not asked then.
    #[error("something is asked now that was not asked then")]
    Points,
}

impl Grant {
    /// Whether it covers this request, which asks these points, now.
    ///
    /// # Errors
    /// The first thing that does not match.
    pub fn covers(
        &self,
        request: &Request,
        mut asked: impl Iterator<Item = Point>,
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
        if asked.any(|point| !self.asked.contains(&point)) {
            return Err(Mismatch::Points);
        }
        Ok(())
    }
}
