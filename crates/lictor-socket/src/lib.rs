//! JSON-RPC 2.0 over a Unix socket, one message a line: what `lictor rpc` speaks on standard input and output.
//!
//! * [`Listener`] is the side of the guardian and of the server: one thread a connection, a bound on everything that the
//!   other side can choose, and a graceful end. It knows who is on the other side ([`Peer`]).
//! * [`Client`] is the thin side: no async runtime, one connection, a deadline. It only speaks to a socket that belongs
//!   to its own user or to root.
//!
//! This crate moves messages and decides nothing.

mod client;
mod line;
mod listener;
mod message;
mod peer;

pub use client::{Client, ClientError};
pub use listener::{Limits, Listener, ListenerError, Stop};
pub use message::{Failure, Request, Response, code};
pub use peer::Peer;
