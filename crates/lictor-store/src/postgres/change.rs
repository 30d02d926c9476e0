//! The changes of one transaction to a chain: new records, new values of entries, and its row in `head`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use lictor_core::{Digest, SessionKey};
use tokio_postgres::types::ToSql;

use super::known::End;
use crate::sealed::SealedValue;
use crate::{Head, Record, Seal, Space};

/// Records and entries that wait to be written.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) records: Vec<(Record, Option<Vec<u8>>)>,
    pub(super) entries: BTreeMap<(Space, Vec<u8>), SealedValue>,
    pub(super) bytes: usize,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.entries.is_empty()
    }
}

/// The change of one chain. Applied only if the end of the chain has not moved.
pub(super) struct Change {
    pub(super) tenant: String,
    pub(super) project: String,
    /// The end of the chain that it was made on.
    pub(super) from: End,
    /// The end that the chain has afterwards.
    pub(super) to: End,
    pub(super) base: Head,
    pub(super) pending: Pending,
}

impl Change {
    pub(super) fn chain(&self) -> (&str, &str) {
        (&self.tenant, &self.project)
    }
}

/// Applies a [`Change`] if the end of the chain has not moved; returns a row in that case.
pub(super) const WRITE: &str = "WITH moved AS (
    UPDATE lictor.head SET seq = $16, hash = $17, seal = $18, base_seq = $19, base_hash = $20,
      received = greatest(received, clock_timestamp())
    WHERE tenant = $1 AND project = $2 AND seq = $21 AND hash = $22 AND seal IS NOT DISTINCT FROM $23
    RETURNING received
  ), told AS (
    INSERT INTO lictor.log (tenant, project, seq, at, received, agent, session, kind, prev, hash, body, seal)
    SELECT $1, $2, new.seq, new.at, moved.received, new.agent, new.session, new.kind, new.prev, new.hash, new.body, new.seal
    FROM moved, unnest($3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::bytea[],
      $10::text[], $11::bytea[]) AS new(seq, at, agent, session, kind, prev, hash, body, seal)
  ), kept AS (
    INSERT INTO lictor.entry (tenant, project, space, key, value, seal)
    SELECT $1, $2, new.space, new.key, new.value, new.seal
    FROM moved, unnest($12::text[], $13::bytea[], $14::bytea[], $15::bytea[]) AS new(space, key, value, seal)
    ON CONFLICT (tenant, project, space, sha256(key)) DO UPDATE SET value = excluded.value, seal = excluded.seal
  )
  SELECT 1 FROM moved";

/// The number of parameters of [`WRITE`].
const VALUES: usize = 23;

/// The parameters of [`WRITE`] for one change, column by column.
pub(super) struct Columns<'a> {
    change: &'a Change,
    seqs: Vec<i64>,
    times: Vec<i64>,
    agents: Vec<Option<Cow<'a, str>>>,
    sessions: Vec<Option<Cow<'a, str>>>,
    kinds: Vec<Cow<'a, str>>,
    before: Vec<&'a [u8]>,
    hashes: Vec<&'a [u8]>,
    bodies: Vec<Cow<'a, str>>,
    seals: Vec<Option<&'a [u8]>>,
    spaces: Vec<&'a str>,
    keys: Vec<&'a [u8]>,
    values: Vec<&'a [u8]>,
    entry_seals: Vec<Option<&'a [u8]>>,
    from: Row<'a>,
    to: Row<'a>,
    base: Row<'a>,
}

/// The end of a chain as columns.
struct Row<'a> {
    seq: i64,
    hash: &'a [u8],
    seal: Option<Vec<u8>>,
}

impl<'a> Row<'a> {
    fn of(head: &'a Head, seal: Option<&Seal>) -> Self {
        Self { seq: signed(head.seq), hash: head.hash.as_bytes().as_slice(), seal: seal.map(Seal::to_bytes) }
    }
}

impl<'a> Columns<'a> {
    pub(super) fn of(change: &'a Change) -> Self {
        let Pending { records, entries, bytes: _ } = &change.pending;
        let session = |of: fn(&SessionKey) -> &str| -> Vec<Option<Cow<'_, str>>> {
            records.iter().map(|(record, _)| record.session.as_ref().map(|key| escaped(of(key)))).collect()
        };
        let text = |of: fn(&Record) -> &str| -> Vec<Cow<'_, str>> {
            records.iter().map(|(record, _)| escaped(of(record))).collect()
        };
        let hash = |of: fn(&Record) -> &Digest| -> Vec<&[u8]> {
            records.iter().map(|(record, _)| of(record).as_bytes().as_slice()).collect()
        };
        Self {
            change,
            seqs: records.iter().map(|(record, _)| signed(record.seq)).collect(),
            times: records.iter().map(|(record, _)| record.at.0).collect(),
            agents: session(|key| &key.agent),
            sessions: session(|key| &key.id),
            kinds: text(|record| &record.kind),
            before: hash(|record| &record.prev),
            hashes: hash(|record| &record.hash),
            bodies: text(|record| &record.body),
            seals: records.iter().map(|(_, seal)| seal.as_deref()).collect(),
            spaces: entries.keys().map(|(space, _)| space.name()).collect(),
            keys: entries.keys().map(|(_, key)| key.as_slice()).collect(),
            values: entries.values().map(|(value, _)| value.as_slice()).collect(),
            entry_seals: entries.values().map(|(_, seal)| seal.as_ref().map(<[u8; 16]>::as_slice)).collect(),
            from: Row::of(&change.from.0, change.from.1.as_ref()),
            to: Row::of(&change.to.0, change.to.1.as_ref()),
            base: Row::of(&change.base, None),
        }
    }

    pub(super) fn tenant(&self) -> &str {
        &self.change.tenant
    }

    pub(super) fn values(&self) -> [&(dyn ToSql + Sync); VALUES] {
        [
            &self.change.tenant,
            &self.change.project,
            &self.seqs,
            &self.times,
            &self.agents,
            &self.sessions,
            &self.kinds,
            &self.before,
            &self.hashes,
            &self.bodies,
            &self.seals,
            &self.spaces,
            &self.keys,
            &self.values,
            &self.entry_seals,
            &self.to.seq,
            &self.to.hash,
            &self.to.seal,
            &self.base.seq,
            &self.base.hash,
            &self.from.seq,
            &self.from.hash,
            &self.from.seal,
        ]
    }
}

/// PostgreSQL text cannot contain the character 0: it is escaped as 1 and `0`, and 1 as 1 and `1`.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte < 2) {
        text.replace('\u{1}', "\u{1}1").replace('\0', "\u{1}0").into()
    } else {
        text.into()
    }
}

pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1}') {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(next) = characters.next() {
        match (next, if next == '\u{1}' { characters.next() } else { None }) {
            ('\u{1}', Some('0')) => plain.push('\0'),
            ('\u{1}', Some('1')) => plain.push('\u{1}'),
            (next, after) => plain.extend(std::iter::once(next).chain(after)),
        }
    }
    plain.into()
}

pub(super) fn signed(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}
