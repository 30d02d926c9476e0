//! The access of a caller.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use lictor_core::SessionKey;

use super::error::RpcError;
use crate::runtime::Runtime;

/// The access of a caller.
#[derive(Debug, Default)]
pub enum Access {
    /// Everything.
    #[default]
    Full,
    /// For a caller that runs under a governed agent: only sessions that it opened itself, and no answers to questions.
    OwnSessions(Mutex<BTreeSet<SessionKey>>),
}

impl Access {
    /// Access only to sessions that the caller opens itself.
    #[must_use]
    pub fn own_sessions() -> Self {
        Self::OwnSessions(Mutex::default())
    }

    /// Whether the caller may act in that session. A session that has not begun becomes the caller's own.
    pub(super) fn permit(&self, runtime: &Runtime, session: Option<&SessionKey>) -> Result<(), RpcError> {
        let (Self::OwnSessions(own), Some(session)) = (self, session) else { return Ok(()) };
        let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.contains(session) {
            return Ok(());
        }
        if runtime.session(session)?.started.is_some() {
            return Err(RpcError::Refused(
                "under a governed agent, only sessions that were opened here may be used",
            ));
        }
        own.insert(session.clone());
        Ok(())
    }

    pub(super) fn permit_resolving(&self) -> Result<(), RpcError> {
        match self {
            Self::Full => Ok(()),
            Self::OwnSessions(_) => {
                Err(RpcError::Refused("under a governed agent, no question can be answered"))
            }
        }
    }
}
