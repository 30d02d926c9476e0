//! Records and their hash chain.

use lictor_core::{Digest, SessionKey, Timestamp};
use serde::{Deserialize, Serialize};

/// A record to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// When it happened.
    pub at: Timestamp,
    /// The session it belongs to, if any.
    pub session: Option<SessionKey>,
    /// The kind of event: `evaluated`, `finding.recorded`, ….
    pub kind: String,
    /// The event itself as JSON text. Stored byte for byte.
    pub body: String,
}

/// One event of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Its number: 1 for the first record ever, then without gaps.
    pub seq: u64,
    /// When it happened.
    pub at: Timestamp,
    /// The session it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionKey>,
    /// The kind of event.
    pub kind: String,
    /// The event itself as JSON text.
    pub body: String,
    /// The hash of the record before this one; [`Digest::ZERO`] for the first.
    pub prev: Digest,
    /// The hash over all of the above.
    pub hash: Digest,
}

impl Record {
    /// The record that `draft` becomes right after `head`.
    #[must_use]
    pub fn after(head: Head, draft: Draft) -> Self {
        let Draft { at, session, kind, body } = draft;
        let mut record = Self {
            seq: head.seq.saturating_add(1),
            at,
            session,
            kind,
            body,
            prev: head.hash,
            hash: Digest::ZERO,
        };
        record.hash = record.computed_hash();
        record
    }

    /// The hash that this record must have, computed from all its other fields.
    ///
    /// SHA-256 over these parts, each preceded by its length as eight big-endian bytes: `lictor.record.1`, the
    /// previous hash, the number and the time (eight big-endian bytes each), one byte for whether there is a
    /// session, its agent, its id, kind, body.
    #[must_use]
    pub fn computed_hash(&self) -> Digest {
        let (present, agent, id) = match &self.session {
            Some(session) => ([1], session.agent.as_bytes(), session.id.as_bytes()),
            None => ([0], &[] as &[u8], &[] as &[u8]),
        };
        Digest::of_parts([
            b"lictor.record.1".as_slice(),
            self.prev.as_bytes(),
            &self.seq.to_be_bytes(),
            &self.at.0.to_be_bytes(),
            &present,
            agent,
            id,
            self.kind.as_bytes(),
            self.body.as_bytes(),
        ])
    }

    /// This record as the head that the next one follows.
    #[must_use]
    pub fn head(&self) -> Head {
        Head { seq: self.seq, hash: self.hash }
    }
}

/// A position in the chain: the number and hash of a record. [`Head::START`] is the position before the first
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Head {
    /// The number of the record.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}

impl Head {
    /// Before the first record.
    pub const START: Self = Self { seq: 0, hash: Digest::ZERO };
}
