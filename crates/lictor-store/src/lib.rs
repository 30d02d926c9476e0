//! Lictor's storage: one append-only, hash-chained event log and a key-value projection of it, always changed
//! together in one transaction.
//!
//! * [`Store`] is the interface. [`MemoryStore`], [`SqliteStore`] and, with the feature `postgres`,
//!   `PostgresStore` implement it; the traits do not assume files.
//! * A [`Record`] is never changed. Each one contains the hash of its predecessor, so [`verify`](verify()) finds
//!   and names a record that was changed, removed or moved. That the *newest* records are still there can only be
//!   checked with an [`Anchor`] that was kept elsewhere.
//! * The projection ([`Space`] × key → value) holds what needs fast lookups: session state, grants, open
//!   findings. The layer that owns a space can always rebuild it by folding the log.
//! * With a [`Keyring`] from outside, every record and every entry is sealed: without the key, a writer of the
//!   file cannot add or change one, or restore an old value of an entry, without detection.
//! * [`PipedStore`] accesses a store that another process holds with [`serve_store`].
//! * [`Retention`] moves old records to compressed archives; [`WithArchives`] reads both as one log.
//!
//! This crate knows nothing of actions, decisions or findings: bodies and values are text and bytes that other
//! crates interpret. It never reads a clock for data; the time is part of a draft.

mod account;
mod anchor;
mod archive;
mod buffered;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod indexed;
mod key;
mod memory;
mod pack;
mod piped;
#[cfg(feature = "postgres")]
mod postgres;
mod query;
mod record;
mod retention;
mod seal;
mod sealed;
mod space;
mod sqlite;
mod store;
mod verify;

pub use anchor::{Anchor, BadAnchor};
pub use archive::{ArchiveError, Keep, RetainError, Retained, Segment, retain};
pub use buffered::Buffered;
pub use error::StoreError;
pub use indexed::Indexed;
pub use key::{KeyError, KeyId, Keyring, RecordKey, random_name};
pub use memory::MemoryStore;
pub use piped::{PipedStore, serve_store};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresOptions, PostgresPool, PostgresStore};
pub use query::{Entry, Keys, Query};
pub use record::{Draft, Head, Record};
pub use retention::{ArchivedStore, Retention, WithArchives};
pub use seal::Seal;
pub use space::Space;
pub use sqlite::{SqliteOptions, SqliteStore, Stamp};
pub use store::{Durability, Freshness, Store, StoreExt, Transaction, View};
pub use verify::{Anchoring, Chain, Fault, Sealing, Verification, verify};
