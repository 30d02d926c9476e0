//! `lictor serve`: the runtime behind HTTP, for teams, other programs and other languages.
//!
//! The server decides nothing. It knows who calls ([`identity`]), keeps people, tokens and policies ([`registry`]), opens
//! one [`Runtime`](lictor::Runtime) for each tenant ([`tenants`]) over SQLite or PostgreSQL ([`stores`]), and puts the
//! methods of `lictor rpc` behind addresses ([`http`]). [`client`] is the other side: what programs and hooks use to call a
//! server, and what they do when it is away.

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
