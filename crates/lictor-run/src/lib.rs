//! `lictor run`: runs the agent and everything it starts in a sandbox, and judges outside.
//!
//! The sandbox sees the whole file system read-only, except the project, caches and agents' own state. Governing
//! files (policy, hook settings, git's configuration and hooks) are read-only there too: they cannot be moved,
//! and missing ones cannot be created. The record, the keys and stored policies are not visible at all. In their
//! place is a socket, through which hooks send every event to the guardian outside.
//!
//! What this crate deliberately does not do: judge. The library `lictor` handles the events of hooks inside.

pub mod bubblewrap;
pub mod call;
pub mod client;
pub mod guardian;
pub mod inside;
pub mod janitor;
pub mod judge;
pub mod landlocked;
pub mod mounts;
pub mod points;
pub mod project;
pub mod seatbelt;
pub mod session;
pub mod supervise;
pub mod terminal;

/// Why an agent could not be run, or a call could not be forwarded.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The system refused something.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// The system error.
        source: std::io::Error,
    },
    /// The project cannot be opened.
    #[error(transparent)]
    Project(#[from] lictor::Error),
    /// The guardian cannot listen.
    #[error(transparent)]
    Listener(#[from] lictor_socket::ListenerError),
    /// The guardian does not answer.
    #[error("the guardian: {0}")]
    Client(#[from] lictor_socket::ClientError),
    /// The other side violated the protocol.
    #[error("the guardian's socket: {0}")]
    Protocol(String),
    /// It cannot be run like that.
    #[error("{0}")]
    Refused(String),
}

impl RunError {
    /// An error of the system, with what was tried.
    pub fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
