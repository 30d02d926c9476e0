//! `lictor serve`: the runtime over HTTP, for teams, other programs and other languages.
//!
//! The server decides nothing. It authenticates callers ([`identity`]), stores people, tokens and policies
//! ([`registry`]), opens one [`Runtime`](lictor::Runtime) per tenant ([`tenants`]) on SQLite or PostgreSQL
//! ([`stores`]), and offers the methods of `lictor rpc` as HTTP endpoints ([`http`]). [`client`] is the client
//! side for programs and hooks, including their behaviour while the server is unreachable.

pub mod archive;
pub mod client;
pub mod hold;
pub mod http;
pub mod identity;
pub mod listen;
pub mod local;
pub mod mcp;
pub mod notify;
pub mod oidc;
pub mod once;
pub mod page;
pub mod password;
pub mod registry;
pub mod serve;
pub mod simulate;
pub mod stores;
pub mod sync;
pub mod tenants;
pub mod ui;

mod random;
