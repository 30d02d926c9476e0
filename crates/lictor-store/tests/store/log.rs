//! Test data for a store, and how it is counted.

use std::path::Path;

use lictor_core::Timestamp;
use lictor_store::{Anchor, Draft, Durability, Query, Record, Space, Store, StoreError, StoreExt, verify};

/// A record with nothing special about it.
pub(crate) fn draft(body: impl Into<String>) -> Draft {
    Draft { at: Timestamp(1), session: None, kind: "test".to_owned(), body: body.into() }
}

/// Appends a record and counts it in the projection, in one transaction.
pub(crate) fn append_counted(
    store: &dyn Store,
    durability: Durability,
    body: String,
) -> Result<Record, StoreError> {
    store.update(durability, |tx| {
        let count = count(tx.get(Space::Meta, b"count")?)? + 1;
        tx.put(Space::Meta, b"count", count.to_string().as_bytes())?;
        tx.append(draft(body))
    })
}

fn count(value: Option<Vec<u8>>) -> Result<u64, StoreError> {
    let Some(value) = value else { return Ok(0) };
    std::str::from_utf8(&value).map_err(StoreError::other)?.parse().map_err(StoreError::other)
}

/// The bodies after record `after`. Fails unless the chain is sound, still reaches the anchor, and the projection has
/// counted every record.
pub(crate) fn sound_bodies(store: &dyn Store, after: u64, anchor: Option<Anchor>) -> Vec<String> {
    let read = store.view(|view| {
        let verification = verify(view, after + 1..=u64::MAX, anchor)?;
        assert_eq!(verification.faults, []);
        assert_eq!(count(view.get(Space::Meta, b"count")?)?, view.head()?.seq, "log and projection agree");
        view.records(&Query::all().after(after).limit(usize::MAX))
    });
    read.expect("a readable store").into_iter().map(|record| record.body).collect()
}

/// SQLite itself on the file of a store. Closing it moves everything into the main file.
pub(crate) fn raw(file: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(file).expect("a database");
    // Closing only moves what a connection has looked at.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).expect("readable");
    connection.execute_batch(sql).expect(sql);
    connection.close().expect("closed");
}
