//! Keys of the projection.

use lictor_core::SessionKey;

/// The session of actions that name none. Real sessions have a non-empty id, so it stands apart.
pub(super) fn anonymous() -> SessionKey {
    SessionKey { agent: String::new(), id: String::new() }
}

/// The length keeps (`a`, `bc`) and (`ab`, `c`) apart.
pub(super) fn session(key: &SessionKey) -> Vec<u8> {
    format!("{}:{}{}", key.agent.len(), key.agent, key.id).into_bytes()
}
