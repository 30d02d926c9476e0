//! State that a client carries from one round of a call to the next, sealed against changes.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _};

use lictor::Timestamp;
use lictor::store::RecordKey;
use lictor_core::Digest;
use serde::{Deserialize, Serialize};

/// The prefix that distinguishes it from states of servers.
const MARK: &str = "lictor1.";
const PURPOSE: &str = "mcp.request-state";
/// How long a question in a client's form can be answered.
pub(crate) const LASTS_MS: i64 = 10 * 60 * 1000;

/// What is sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    /// The approval that was asked for; `None` for a round that a server began without its own state.
    pub(crate) approval: Option<String>,
    /// The action that it is about.
    pub(crate) action: Digest,
    /// When it is over.
    pub(crate) expires: Timestamp,
    /// Makes each state one of its kind, so that it counts once.
    pub(crate) number: u64,
    /// The state of the server, where the call was in a later round already.
    pub(crate) inner: Option<String>,
}

/// Why a state does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadState {
    /// It is not what this process gave.
    #[error("the `requestState` was changed or comes from elsewhere")]
    Altered,
    /// It was given for other arguments.
    #[error("the `requestState` belongs to another call")]
    OtherCall,
    /// It is too old.
    #[error("the `requestState` has expired")]
    Expired,
    /// It has counted already.
    #[error("the `requestState` was used before")]
    Used,
}

/// Seals and opens states. The key lives as long as the process.
pub(crate) struct Sealer {
    key: RecordKey,
    next: u64,
    open: HashSet<u64>,
}

impl Sealer {
    /// With a key of its own.
    pub(crate) fn new() -> io::Result<Self> {
        let mut bytes = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self { key: RecordKey::from_bytes(bytes), next: 1, open: HashSet::new() })
    }

    /// Whether a text claims to be a state of ours.
    pub(crate) fn is_ours(text: &str) -> bool {
        text.starts_with(MARK)
    }

    /// The text for the client.
    pub(crate) fn seal(
        &mut self,
        approval: Option<String>,
        action: Digest,
        inner: Option<String>,
        now: Timestamp,
    ) -> String {
        let state = State { approval, action, expires: now.plus_millis(LASTS_MS), number: self.next, inner };
        self.open.insert(self.next);
        self.next += 1;
        let body = serde_json::to_vec(&state).unwrap_or_default();
        let seal = self.key.seal_of(PURPOSE, &[&body]);
        let hex: String = body.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{MARK}{hex}.{seal}")
    }

    /// The sealed state, if it is valid for this action now. It is valid once.
    pub(crate) fn open(&mut self, text: &str, action: &Digest, now: Timestamp) -> Result<State, BadState> {
        let (hex, seal) =
            text.strip_prefix(MARK).and_then(|rest| rest.rsplit_once('.')).ok_or(BadState::Altered)?;
        let body = bytes(hex).ok_or(BadState::Altered)?;
        // Compared as digests of what both sides computed, not byte by byte against the secret value.
        let expected = self.key.seal_of(PURPOSE, &[&body]).to_string();
        if Digest::of(expected.as_bytes()) != Digest::of(seal.as_bytes()) {
            return Err(BadState::Altered);
        }
        let state: State = serde_json::from_slice(&body).map_err(|_| BadState::Altered)?;
        if state.action != *action {
            return Err(BadState::OtherCall);
        }
        if !self.open.remove(&state.number) {
            return Err(BadState::Used);
        }
        if now >= state.expires {
            return Err(BadState::Expired);
        }
        Ok(state)
    }
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    if !hex.len().is_multiple_of(2) || !hex.is_ascii() {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests;
