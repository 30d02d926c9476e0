//! The proxy between an MCP client and a server.
//!
//! Messages are parsed strictly, judged as parsed and serialised again, so that client, policy and server cannot
//! interpret one message differently. A tool call is an action of the [`Runtime`](lictor::Runtime) under the name
//! that hooks see (`mcp__server__tool`), so one rule applies in both places. Definitions are pinned when they are
//! first seen; a changed one is hidden and refused until a person accepts it.
//!
//! What this crate deliberately does not do: decide anything outside the runtime, open connections, or interpret
//! results of tools beyond searching for hidden text.

mod child;
mod gateway;
mod hub;
mod identity;
mod message;
pub mod mirror;
mod package;
pub mod pins;
mod poison;
mod queue;
mod scan;
mod state;
mod stdio;
mod switch;

pub use child::{ServerCommand, StartError, confine, is_server_name};
pub use gateway::{Gateway, Out};
pub use hub::{Inbox, Upstream, Via};
pub use identity::Identity;
pub use message::{MAX_LINE, Malformed, Message};
pub use poison::{Origin, Suspicion, suspicions};
pub use scan::{Scan, compare, scan};
pub use stdio::{run, run_upstream};
pub use switch::{Clients, Delivery, Sink, Switch, Ticket};
