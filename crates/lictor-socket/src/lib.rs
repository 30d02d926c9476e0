//! JSON-RPC 2.0 over a Unix socket, one message per line: the protocol of `lictor rpc` on standard input and
//! output.
//!
//! * [`Listener`] is the side of the guardian and of the server: one thread per connection, limits on everything
//!   that the client controls, and a graceful shutdown. It knows the client's process ([`Peer`]).
//! * [`Client`] is the client side: no async runtime, one connection, a deadline. It only connects to a socket
//!   that belongs to its own user or to root.
//!
//! This crate transports messages and decides nothing.

mod client;
mod line;
mod listener;
mod message;
mod peer;

pub use client::{Client, ClientError};
pub use listener::{Limits, Listener, ListenerError, Stop};
pub use message::{Failure, Request, Response, code};
pub use peer::Peer;
