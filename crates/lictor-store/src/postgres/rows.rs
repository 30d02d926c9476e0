//! Records and entries as rows.

use std::cell::{Cell, RefCell, RefMut};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lictor_core::{Digest, SessionKey, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::batch::Outcome;
use super::change::{Change, Columns, Pending, WRITE, escaped, signed, unescaped};
use super::connection::Connection;
use super::failure::Failure;
use super::known::{End, Entries, Known, Last};
use crate::seal::EntrySeal;
use crate::sealed::{SealedEntry, SealedValue, Tables};
use crate::{Head, Keys, Query, Record, Seal, Space, StoreError};

type Values<'v> = [&'v (dyn ToSql + Sync)];

/// The rows of one chain inside one transaction.
pub(super) struct Rows<'a> {
    /// `None` when only cached data may be used.
    connection: Option<RefCell<&'a mut Connection>>,
    /// Data was needed that is not cached, without a connection.
    lacks: Cell<bool>,
    failure: Failure<'a>,
    tenant: &'a str,
    project: &'a str,
    /// The end of the chain as its row has it.
    stored: RefCell<End>,
    /// The end and the base as they are to be.
    head: Head,
    seal: Option<Seal>,
    base: Head,
    changed: Cell<bool>,
    /// Until this time, the partition for new records is known to exist.
    month_until: Option<Instant>,
    pending: RefCell<Pending>,
    /// The cache of the chain; `None` if entries have no seal.
    known: Option<&'a Known>,
    /// The same, of when the transaction began.
    before: Arc<Entries>,
    /// What the transaction has read and written since.
    seen: RefCell<Entries>,
    seen_bytes: Cell<usize>,
}

/// One chain with its cache.
#[derive(Clone, Copy)]
pub(super) struct Chain<'a> {
    pub(super) tenant: &'a str,
    pub(super) project: &'a str,
    pub(super) known: Option<&'a Known>,
}

/// So many bytes wait at most.
const MOST_WAITING: usize = 4 * 1024 * 1024;
/// A transaction that reads more bytes of entries is not a judgement: it is not cached.
const MOST_SEEN: usize = 256 * 1024;

/// A writer that has locked a chain has ensured the partitions for the next hour.
const MONTH_KNOWN: Duration = Duration::from_secs(30 * 60);

const CHAIN: &str =
    "SELECT seq, hash, seal, base_seq, base_hash FROM lictor.head WHERE tenant = $1 AND project = $2";
/// The same for a writer, and whether the month of an hour from now has a partition.
const LOCKED: &str = "SELECT seq, hash, seal, base_seq, base_hash, to_regclass('lictor.log_' ||
    to_char((greatest(received, clock_timestamp()) + interval '1 hour') AT TIME ZONE 'UTC', 'YYYY_MM')) IS NOT NULL
    FROM lictor.head WHERE tenant = $1 AND project = $2 FOR UPDATE";

impl<'a> Rows<'a> {
    pub(super) fn reading(
        connection: &'a mut Connection,
        failure: Failure<'a>,
        chain: Chain<'a>,
    ) -> Result<Self, StoreError> {
        let Chain { tenant, project, .. } = chain;
        let found = connection.begin_read(tenant, CHAIN, &[&tenant, &project]);
        let found = found.map_err(|error| failure.of(&error))?;
        Self::at(connection, failure, chain, found.first())
    }

    /// Uses the cache only, without querying the database.
    pub(super) fn remembered(failure: Failure<'a>, chain: Chain<'a>, last: Last) -> Self {
        Self::new(None, failure, chain, last)
    }

    /// Waits until no other writer has the chain.
    pub(super) fn locking(
        connection: &'a mut Connection,
        failure: Failure<'a>,
        chain: Chain<'a>,
    ) -> Result<Self, StoreError> {
        let Chain { tenant, project, .. } = chain;
        let failed = |error: tokio_postgres::Error| failure.of(&error);
        let mut found = connection.begin_write(tenant, LOCKED, &[&tenant, &project]).map_err(failed)?;
        if found.is_empty() {
            let zero = Digest::ZERO.as_bytes().as_slice();
            connection
                .execute("INSERT INTO lictor.tenant VALUES ($1) ON CONFLICT DO NOTHING", &[&tenant])
                .map_err(failed)?;
            let sql = "INSERT INTO lictor.head VALUES ($1, $2, 0, $3, NULL, 0, $3, clock_timestamp()) ON CONFLICT DO NOTHING";
            connection.execute(sql, &[&tenant, &project, &zero]).map_err(failed)?;
            found = connection.query(LOCKED, &[&tenant, &project]).map_err(failed)?;
        }
        // A new month has no partition yet, and a failed insert would end the transaction.
        if !found.first().is_some_and(|row| row.try_get(5).unwrap_or(false)) {
            let sql = "SELECT lictor.make_month(greatest(received, clock_timestamp())),
                       lictor.make_month(greatest(received, clock_timestamp()) + interval '1 hour')
                       FROM lictor.head WHERE tenant = $1 AND project = $2";
            connection.query(sql, &[&tenant, &project]).map_err(failed)?;
        }
        let mut rows = Self::at(connection, failure, chain, found.first())?;
        rows.month_until = Instant::now().checked_add(MONTH_KNOWN);
        Ok(rows)
    }

    fn at(
        connection: &'a mut Connection,
        failure: Failure<'a>,
        chain: Chain<'a>,
        row: Option<&Row>,
    ) -> Result<Self, StoreError> {
        let (mut head, mut seal, mut base) = (Head::START, None, Head::START);
        if let Some(row) = row {
            head = Head { seq: number(row, 0, failure)?, hash: digest(row, 1, failure)? };
            seal = seal_of(row, 2, failure)?;
            base = Head { seq: number(row, 3, failure)?, hash: digest(row, 4, failure)? };
        }
        let end = (head, seal);
        let entries = chain.known.map(|known| known.under(&end)).unwrap_or_default();
        let last = Last { end, base, entries, month_until: None };
        Ok(Self::new(Some(connection), failure, chain, last))
    }

    fn new(
        connection: Option<&'a mut Connection>,
        failure: Failure<'a>,
        Chain { tenant, project, known }: Chain<'a>,
        Last { end, base, entries, month_until }: Last,
    ) -> Self {
        Self {
            connection: connection.map(RefCell::new),
            lacks: Cell::new(false),
            failure,
            tenant,
            project,
            stored: RefCell::new(end.clone()),
            head: end.0,
            seal: end.1,
            base,
            changed: Cell::new(false),
            month_until,
            pending: RefCell::default(),
            known,
            before: entries,
            seen: RefCell::default(),
            seen_bytes: Cell::new(0),
        }
    }

    /// Whether data was needed that is only in the database: the reads and writes of this transaction are then
    /// invalid.
    pub(super) fn lacks(&self) -> bool {
        self.lacks.get()
    }

    /// Whether the partition for new records is known to exist.
    pub(super) fn has_month(&self) -> bool {
        self.month_until.is_some_and(|until| Instant::now() < until)
    }

    fn connection(&self) -> Result<RefMut<'_, &'a mut Connection>, StoreError> {
        match &self.connection {
            Some(connection) => Ok(connection.borrow_mut()),
            None => {
                self.lacks.set(true);
                Err(StoreError::Abandoned)
            }
        }
    }

    /// Writes the pending changes and the row of the chain, and commits.
    pub(super) fn commit(self) -> Result<(), StoreError> {
        match self.change() {
            None => self.connection()?.commit().map_err(|error| self.failure.of(&error))?,
            Some(change) => self.write(change, Connection::query_and_commit)?,
        }
        self.remember();
        Ok(())
    }

    /// Passes the pending changes and the row of the chain to the batch writer; `false` when the end of the chain
    /// has moved.
    pub(super) fn commit_by(
        self,
        write: impl FnOnce(Change) -> Result<Outcome, StoreError>,
    ) -> Result<bool, StoreError> {
        if let Some(change) = self.change()
            && write(change)? == Outcome::Moved
        {
            if let Some(known) = self.known {
                known.forget(&self.stored.borrow());
            }
            return Ok(false);
        }
        self.remember();
        Ok(true)
    }

    /// Ends a transaction that only read.
    pub(super) fn leave(self) {
        if let Some(connection) = &self.connection {
            connection.borrow_mut().rollback();
        }
        self.remember();
    }

    /// Adds the reads and writes to the cache.
    fn remember(self) {
        if let Some(known) = self.known {
            let (before, seen) = match self.seen_bytes.get() {
                bytes if bytes > MOST_SEEN => (Arc::default(), Entries::new()),
                _ => (self.before, self.seen.into_inner()),
            };
            let (end, base, month_until) = ((self.head, self.seal), self.base, self.month_until);
            known.learn(Last { end, base, entries: before, month_until }, seen);
        }
    }

    /// Notes the value of an entry that the transaction has seen.
    fn saw(&self, slot: (Space, Vec<u8>), value: Option<SealedValue>) {
        if self.known.is_none() {
            return;
        }
        let bytes = slot.1.len() + value.as_ref().map_or(0, |(value, _)| value.len());
        self.seen_bytes.set(self.seen_bytes.get() + bytes);
        let mut seen = self.seen.borrow_mut();
        if self.seen_bytes.get() > MOST_SEEN {
            seen.clear();
        } else {
            seen.insert(slot, value);
        }
    }

    /// An entry that need not be fetched.
    fn at_hand(&self, slot: &(Space, Vec<u8>)) -> Option<Option<SealedValue>> {
        if let Some(waiting) = self.pending.borrow().entries.get(slot) {
            return Some(Some(waiting.clone()));
        }
        if self.seen_bytes.get() > MOST_SEEN {
            return None;
        }
        self.seen.borrow().get(slot).or_else(|| self.before.get(slot)).cloned()
    }

    /// The pending changes and the row of the chain; `None` when all are written.
    fn change(&self) -> Option<Change> {
        let pending = self.pending.take();
        (!pending.is_empty() || self.changed.get()).then(|| Change {
            tenant: self.tenant.to_owned(),
            project: self.project.to_owned(),
            from: self.stored.borrow().clone(),
            to: (self.head, self.seal.clone()),
            base: self.base,
            pending,
        })
    }

    /// Writes the pending changes before a read.
    fn write_pending(&self) -> Result<(), StoreError> {
        if self.pending.borrow().is_empty() {
            return Ok(());
        }
        drop(self.connection()?);
        self.change().map_or(Ok(()), |change| self.write(change, Connection::query))
    }

    /// Writes records, entries and the row of the chain at once.
    fn write(
        &self,
        change: Change,
        query: impl FnOnce(&mut Connection, &str, &Values<'_>) -> Result<Vec<Row>, tokio_postgres::Error>,
    ) -> Result<(), StoreError> {
        let columns = Columns::of(&change);
        let written = query(&mut **self.connection()?, WRITE, &columns.values());
        if written.map_err(|error| self.failure.of(&error))?.is_empty() {
            return Err(self.failure.corrupt(format!("the chain of `{}` has no row", self.project)));
        }
        drop(columns);
        *self.stored.borrow_mut() = change.to;
        self.changed.set(false);
        Ok(())
    }

    /// Something more waits to be written.
    fn waits(&mut self, bytes: usize) -> Result<(), StoreError> {
        let pending = self.pending.get_mut();
        pending.bytes += bytes;
        if pending.bytes > MOST_WAITING { self.write_pending() } else { Ok(()) }
    }

    fn query(&self, sql: &str, values: &Values<'_>) -> Result<Vec<Row>, StoreError> {
        self.connection()?.query(sql, values).map_err(|error| self.failure.of(&error))
    }

    fn execute(&self, sql: &str, values: &Values<'_>) -> Result<u64, StoreError> {
        self.connection()?.execute(sql, values).map_err(|error| self.failure.of(&error))
    }

    fn record(&self, row: &Row) -> Result<Record, StoreError> {
        let text = |column: usize| -> Result<Option<String>, StoreError> {
            let found: Option<String> = get(row, column, self.failure)?;
            Ok(found.map(|text| unescaped(&text).into_owned()))
        };
        let seq = number(row, 0, self.failure)?;
        let missing = || self.failure.corrupt(format!("record {seq} lacks a column"));
        let session = match (text(2)?, text(3)?) {
            (Some(agent), Some(id)) => Some(SessionKey { agent, id }),
            (None, None) => None,
            _ => return Err(missing()),
        };
        Ok(Record {
            seq,
            at: Timestamp(get(row, 1, self.failure)?),
            session,
            kind: text(4)?.ok_or_else(missing)?,
            prev: digest(row, 5, self.failure)?,
            hash: digest(row, 6, self.failure)?,
            body: text(7)?.ok_or_else(missing)?,
        })
    }

    /// The end of a statement about the log, and the numbers in it.
    fn numbers(&self, query: &Query) -> (i64, i64, i64) {
        (signed(query.after.max(self.base.seq)), signed(query.before), count(query.limit))
    }
}

impl Tables for Rows<'_> {
    /// Conditions for both indexes: without statistics the planner may choose either, and each finds one entry.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<SealedValue>, StoreError> {
        let slot = (space, key.to_vec());
        if let Some(known) = self.at_hand(&slot) {
            return Ok(known);
        }
        let sql = "SELECT value, seal FROM lictor.entry WHERE tenant = $1 AND project = $2 AND space = $3 AND sha256(key) = sha256($4)
                   AND key_start = substring($4::bytea FROM 1 FOR 500) AND key = $4";
        let rows = self.query(sql, &[&self.tenant, &self.project, &space.name(), &key])?;
        let value = |row: &Row| Ok((get(row, 0, self.failure)?, entry_seal(row, 1, self.failure)?));
        let found: Option<SealedValue> = rows.first().map(value).transpose()?;
        self.saw(slot, found.clone());
        Ok(found)
    }

    fn scan(&self, space: Space, keys: &Keys) -> Result<Vec<SealedEntry>, StoreError> {
        self.write_pending()?;
        let mut sql = String::from(
            "SELECT key, value, seal FROM lictor.entry WHERE tenant = $1 AND project = $2 AND space = $3
             AND key_start >= substring($4::bytea FROM 1 FOR 500) AND key ",
        );
        sql.push_str(if keys.skip_from { "> $4" } else { ">= $4" });
        let (name, limit) = (space.name(), count(keys.limit));
        let mut values: Vec<&(dyn ToSql + Sync)> =
            vec![&self.tenant, &self.project, &name, &keys.from, &limit];
        if let Some(to) = &keys.to {
            sql.push_str(" AND key_start <= substring($6::bytea FROM 1 FOR 500) AND key < $6");
            values.push(to);
        }
        sql.push_str(if keys.reversed {
            " ORDER BY key_start DESC, key DESC LIMIT $5"
        } else {
            " ORDER BY key_start, key LIMIT $5"
        });
        let rows = self.query(&sql, &values)?;
        let entry = |row: &Row| {
            Ok((get(row, 0, self.failure)?, get(row, 1, self.failure)?, entry_seal(row, 2, self.failure)?))
        };
        rows.iter().map(entry).collect()
    }

    fn records(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        self.write_pending()?;
        let mut sql = String::from(
            "SELECT seq, at, agent, session, kind, prev, hash, body FROM lictor.log
             WHERE tenant = $1 AND project = $2 AND seq > $3 AND seq < $4",
        );
        let (after, before, limit) = self.numbers(query);
        let kind = query.kind.as_deref().map(escaped);
        let session = query.session.as_ref().map(|session| (escaped(&session.agent), escaped(&session.id)));
        let mut values: Vec<&(dyn ToSql + Sync)> = vec![&self.tenant, &self.project, &after, &before, &limit];
        if let Some(kind) = &kind {
            values.push(kind);
            let at = values.len();
            let _ = write!(sql, " AND kind_start = left(${at}::text, 60) AND kind = ${at}");
        }
        if let Some((agent, id)) = &session {
            values.push(agent);
            values.push(id);
            let (agent, id) = (values.len() - 1, values.len());
            let _ = write!(
                sql,
                " AND agent = ${agent} AND session_start = left(${id}::text, 120) AND session = ${id}"
            );
        }
        sql.push_str(if query.newest_first {
            " ORDER BY seq DESC LIMIT $5"
        } else {
            " ORDER BY seq LIMIT $5"
        });
        let rows = if kind.is_some() || session.is_some() {
            let planned = self.connection()?.query_planned(&sql, &values);
            planned.map_err(|error| self.failure.of(&error))?
        } else {
            self.query(&sql, &values)?
        };
        rows.iter().map(|row| self.record(row)).collect()
    }

    fn seals(&self, query: &Query) -> Result<Vec<(Head, Option<Seal>)>, StoreError> {
        self.write_pending()?;
        let mut sql = String::from(
            "SELECT seq, hash, seal FROM lictor.log WHERE tenant = $1 AND project = $2 AND seq > $3 AND seq < $4",
        );
        sql.push_str(if query.newest_first {
            " ORDER BY seq DESC LIMIT $5"
        } else {
            " ORDER BY seq LIMIT $5"
        });
        let (after, before, limit) = self.numbers(query);
        let rows = self.query(&sql, &[&self.tenant, &self.project, &after, &before, &limit])?;
        let sealed = |row: &Row| {
            let head = Head { seq: number(row, 0, self.failure)?, hash: digest(row, 1, self.failure)? };
            Ok((head, seal_of(row, 2, self.failure)?))
        };
        rows.iter().map(sealed).collect()
    }

    fn end(&self) -> Result<(Head, Option<Seal>), StoreError> {
        let kept = self.head.seq > self.base.seq;
        Ok((self.head, self.seal.clone().filter(|_| kept)))
    }

    fn base(&self) -> Result<Head, StoreError> {
        Ok(self.base)
    }

    fn insert(&mut self, record: &Record, seal: Option<&Seal>) -> Result<(), StoreError> {
        self.pending.get_mut().records.push((record.clone(), seal.map(Seal::to_bytes)));
        (self.head, self.seal) = (record.head(), seal.cloned());
        self.changed.set(true);
        self.waits(record.body.len())
    }

    fn set_seal(&mut self, seq: u64, seal: &Seal) -> Result<(), StoreError> {
        self.write_pending()?;
        let sql = "UPDATE lictor.log SET seal = $4 WHERE tenant = $1 AND project = $2 AND seq = $3";
        self.execute(sql, &[&self.tenant, &self.project, &signed(seq), &seal.to_bytes()])?;
        if seq == self.head.seq {
            self.seal = Some(seal.clone());
            self.changed.set(true);
        }
        Ok(())
    }

    fn put(
        &mut self,
        space: Space,
        key: &[u8],
        value: &[u8],
        seal: Option<&EntrySeal>,
    ) -> Result<(), StoreError> {
        let (slot, sealed) = ((space, key.to_vec()), (value.to_vec(), seal.copied()));
        self.saw(slot.clone(), Some(sealed.clone()));
        self.pending.get_mut().entries.insert(slot, sealed);
        self.waits(key.len() + value.len())
    }

    fn delete(&mut self, space: Space, key: &[u8]) -> Result<(), StoreError> {
        self.write_pending()?;
        self.saw((space, key.to_vec()), None);
        let sql = "DELETE FROM lictor.entry WHERE tenant = $1 AND project = $2 AND space = $3 AND sha256(key) = sha256($4)
                   AND key_start = substring($4::bytea FROM 1 FOR 500) AND key = $4";
        self.execute(sql, &[&self.tenant, &self.project, &space.name(), &key]).map(drop)
    }

    /// The rows stay until their whole partition is dropped, but are no longer visible.
    fn prune(&mut self, through: u64) -> Result<(), StoreError> {
        if through <= self.base.seq || through > self.head.seq {
            return Ok(());
        }
        self.write_pending()?;
        let sql = "SELECT hash FROM lictor.log WHERE tenant = $1 AND project = $2 AND seq = $3";
        let rows = self.query(sql, &[&self.tenant, &self.project, &signed(through)])?;
        if let Some(row) = rows.first() {
            self.base = Head { seq: through, hash: digest(row, 0, self.failure)? };
            self.changed.set(true);
        }
        Ok(())
    }

    fn name(&self) -> &Path {
        self.failure.place
    }
}

fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn get<'r, T: tokio_postgres::types::FromSql<'r>>(
    row: &'r Row,
    column: usize,
    failure: Failure<'_>,
) -> Result<T, StoreError> {
    row.try_get(column).map_err(|error| failure.corrupt(error.to_string()))
}

fn number(row: &Row, column: usize, failure: Failure<'_>) -> Result<u64, StoreError> {
    let number: i64 = get(row, column, failure)?;
    u64::try_from(number).map_err(|_| failure.corrupt(format!("{number} is no number of a record")))
}

fn digest(row: &Row, column: usize, failure: Failure<'_>) -> Result<Digest, StoreError> {
    let bytes: &[u8] = get(row, column, failure)?;
    let bytes = bytes.try_into().map_err(|_| failure.corrupt("a hash has not 32 bytes".to_owned()))?;
    Ok(Digest::from_bytes(bytes))
}

fn seal_of(row: &Row, column: usize, failure: Failure<'_>) -> Result<Option<Seal>, StoreError> {
    let bytes: Option<&[u8]> = get(row, column, failure)?;
    let seal =
        |bytes| Seal::from_bytes(bytes).ok_or_else(|| failure.corrupt("a seal is too short".to_owned()));
    bytes.map(seal).transpose()
}

fn entry_seal(row: &Row, column: usize, failure: Failure<'_>) -> Result<Option<EntrySeal>, StoreError> {
    let bytes: Option<&[u8]> = get(row, column, failure)?;
    let seal = |bytes: &[u8]| {
        bytes.try_into().map_err(|_| failure.corrupt("the seal of an entry has not 16 bytes".to_owned()))
    };
    bytes.map(seal).transpose()
}
