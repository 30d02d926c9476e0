//! Records and entries as rows.

use std::path::Path;

use lictor_core::{Digest, SessionKey, Timestamp};
use rusqlite::types::{FromSqlError, Type};
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter, types::Value};

use super::Failure;
use crate::pack;
use crate::seal::EntrySeal;
use crate::sealed::{SealedEntry, SealedValue, Tables};
use crate::{Head, Keys, Query, Record, Seal, Space, StoreError};

/// The tables inside one transaction.
pub(super) struct Rows<'a> {
    pub(super) connection: &'a Connection,
    pub(super) failure: Failure<'a>,
}

impl Rows<'_> {
    fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(values))
            .map(drop)
            .map_err(|error| self.failure.of(error))
    }

    fn one<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        of_row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(values, of_row).optional())
            .map_err(|error| self.failure.of(error))
    }

    fn many<T>(
        &self,
        sql: &str,
        values: Vec<Value>,
        mut of_row: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let failed = |error| self.failure.of(error);
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let mut rows = statement.query(params_from_iter(values)).map_err(failed)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            found.push(of_row(row)?);
        }
        Ok(found)
    }

    /// A row that this store cannot have written is damage; its number locates it.
    fn record(&self, row: &Row<'_>) -> Result<Record, StoreError> {
        record(row).map_err(|error| StoreError::Corrupt {
            file: self.failure.file.to_owned(),
            detail: match row.get::<_, i64>(0) {
                Ok(seq) => format!("record {seq}: {error}"),
                Err(_) => error.to_string(),
            },
        })
    }
}

impl Tables for Rows<'_> {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<SealedValue>, StoreError> {
        let sql = "SELECT value, seal FROM entry WHERE space = ? AND key = ?";
        self.one(sql, params![space.name(), key], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn scan(&self, space: Space, keys: &Keys) -> Result<Vec<SealedEntry>, StoreError> {
        let mut sql = String::from("SELECT key, value, seal FROM entry WHERE space = ? AND key ");
        let mut values = vec![Value::Text(space.name().to_owned()), Value::Blob(keys.from.clone())];
        sql.push_str(if keys.skip_from { "> ?" } else { ">= ?" });
        if let Some(to) = &keys.to {
            sql.push_str(" AND key < ?");
            values.push(Value::Blob(to.clone()));
        }
        sql.push_str(if keys.reversed { " ORDER BY key DESC LIMIT ?" } else { " ORDER BY key LIMIT ?" });
        values.push(Value::Integer(limit(keys.limit)));
        let entry =
            |row: &Row<'_>| -> rusqlite::Result<SealedEntry> { Ok((row.get(0)?, row.get(1)?, row.get(2)?)) };
        self.many(&sql, values, |row| entry(row).map_err(|error| self.failure.of(error)))
    }

    fn records(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        let mut sql = String::from(
            "SELECT seq, at, agent, session, kind, prev, hash, body, packed FROM log WHERE seq > ? AND seq < ?",
        );
        let mut values = vec![Value::Integer(clamped(query.after)), Value::Integer(clamped(query.before))];
        if let Some(kind) = &query.kind {
            sql.push_str(" AND kind = ?");
            values.push(Value::Text(kind.clone()));
        }
        if let Some(session) = &query.session {
            sql.push_str(" AND agent = ? AND session = ?");
            values.push(Value::Text(session.agent.clone()));
            values.push(Value::Text(session.id.clone()));
        }
        sql.push_str(if query.newest_first { " ORDER BY seq DESC LIMIT ?" } else { " ORDER BY seq LIMIT ?" });
        values.push(Value::Integer(limit(query.limit)));
        self.many(&sql, values, |row| self.record(row))
    }

    fn seals(&self, query: &Query) -> Result<Vec<(Head, Option<Seal>)>, StoreError> {
        let mut sql = String::from("SELECT seq, hash, seal FROM log WHERE seq > ? AND seq < ?");
        sql.push_str(if query.newest_first { " ORDER BY seq DESC LIMIT ?" } else { " ORDER BY seq LIMIT ?" });
        let values = [clamped(query.after), clamped(query.before), limit(query.limit)];
        let values = values.into_iter().map(Value::Integer).collect();
        self.many(&sql, values, |row| sealed_head(row).map_err(|error| self.failure.of(error)))
    }

    fn outlines(&self, query: &Query) -> Result<Vec<(u64, String, Option<SessionKey>)>, StoreError> {
        let mut sql = String::from("SELECT seq, kind, agent, session FROM log WHERE seq > ? AND seq < ?");
        sql.push_str(if query.newest_first { " ORDER BY seq DESC LIMIT ?" } else { " ORDER BY seq LIMIT ?" });
        let values = [clamped(query.after), clamped(query.before), limit(query.limit)];
        let values = values.into_iter().map(Value::Integer).collect();
        self.many(&sql, values, |row| outline(row).map_err(|error| self.failure.of(error)))
    }

    fn end(&self) -> Result<(Head, Option<Seal>), StoreError> {
        match self.one("SELECT seq, hash, seal FROM log ORDER BY seq DESC LIMIT 1", [], sealed_head)? {
            Some(end) => Ok(end),
            None => Ok((self.base()?, None)),
        }
    }

    fn base(&self) -> Result<Head, StoreError> {
        Ok(self.one("SELECT seq, hash FROM base", [], head)?.unwrap_or(Head::START))
    }

    fn insert(&mut self, record: &Record, seal: Option<&Seal>) -> Result<(), StoreError> {
        let session = record.session.as_ref();
        let packed = pack::pack(&record.body);
        self.execute(
            "INSERT INTO log (seq, at, agent, session, kind, prev, hash, body, seal, packed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                clamped(record.seq),
                record.at.0,
                session.map(|session| &session.agent),
                session.map(|session| &session.id),
                record.kind,
                record.prev.as_bytes(),
                record.hash.as_bytes(),
                if packed.is_some() { "" } else { &record.body },
                seal.map(Seal::to_bytes),
                packed,
            ],
        )
    }

    fn set_seal(&mut self, seq: u64, seal: &Seal) -> Result<(), StoreError> {
        self.execute("UPDATE log SET seal = ? WHERE seq = ?", params![seal.to_bytes(), clamped(seq)])
    }

    fn put(
        &mut self,
        space: Space,
        key: &[u8],
        value: &[u8],
        seal: Option<&EntrySeal>,
    ) -> Result<(), StoreError> {
        // An update of the same length overwrites pages in place; replacing the row would free and allocate
        // pages.
        let sql = "UPDATE entry SET value = ?, seal = ? WHERE space = ? AND key = ?";
        let seal = seal.map(<[u8; 16]>::as_slice);
        self.execute(sql, params![value, seal, space.name(), key])?;
        if self.connection.changes() > 0 {
            return Ok(());
        }
        let sql = "INSERT INTO entry (space, key, value, seal) VALUES (?, ?, ?, ?)";
        self.execute(sql, params![space.name(), key, value, seal])
    }

    fn delete(&mut self, space: Space, key: &[u8]) -> Result<(), StoreError> {
        self.execute("DELETE FROM entry WHERE space = ? AND key = ?", params![space.name(), key])
    }

    fn prune(&mut self, through: u64) -> Result<(), StoreError> {
        let through = clamped(through);
        let sql = "INSERT OR REPLACE INTO base (only, seq, hash) SELECT 1, seq, hash FROM log WHERE seq = ?";
        self.execute(sql, params![through])?;
        self.execute("DELETE FROM log WHERE seq <= (SELECT seq FROM base WHERE seq = ?)", params![through])
    }

    fn name(&self) -> &Path {
        self.failure.file
    }
}

/// SQLite integers are signed; a number beyond their range is greater than that of every record.
fn clamped(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let session = match (row.get::<_, Option<String>>(2)?, row.get::<_, Option<String>>(3)?) {
        (Some(agent), Some(id)) => Some(SessionKey { agent, id }),
        (None, None) => None,
        (Some(_), None) => {
            return Err(rusqlite::Error::InvalidColumnType(3, "session".to_owned(), Type::Null));
        }
        (None, Some(_)) => return Err(rusqlite::Error::InvalidColumnType(2, "agent".to_owned(), Type::Null)),
    };
    Ok(Record {
        seq: number(row, 0)?,
        at: Timestamp(row.get(1)?),
        session,
        kind: row.get(4)?,
        prev: digest(row, 5)?,
        hash: digest(row, 6)?,
        body: body(row)?,
    })
}

fn body(row: &Row<'_>) -> rusqlite::Result<String> {
    let plain: String = row.get(7)?;
    match row.get_ref(8)?.as_blob_or_null()? {
        None => Ok(plain),
        // If both were allowed, the unread one could be changed without detection.
        Some(packed) => pack::unpack(packed).filter(|_| plain.is_empty()).ok_or_else(|| {
            let why = "the body cannot be unpacked".into();
            rusqlite::Error::FromSqlConversionFailure(8, Type::Blob, why)
        }),
    }
}

fn head(row: &Row<'_>) -> rusqlite::Result<Head> {
    Ok(Head { seq: number(row, 0)?, hash: digest(row, 1)? })
}

fn sealed_head(row: &Row<'_>) -> rusqlite::Result<(Head, Option<Seal>)> {
    let seal = match row.get_ref(2)?.as_blob_or_null()? {
        None => None,
        Some(bytes) => Some(Seal::from_bytes(bytes).ok_or_else(|| {
            let size = FromSqlError::InvalidBlobSize { expected_size: 36, blob_size: bytes.len() };
            rusqlite::Error::FromSqlConversionFailure(2, Type::Blob, Box::new(size))
        })?),
    };
    Ok((head(row)?, seal))
}

fn outline(row: &Row<'_>) -> rusqlite::Result<(u64, String, Option<SessionKey>)> {
    let (agent, id): (Option<String>, Option<String>) = (row.get(2)?, row.get(3)?);
    let session = agent.zip(id).map(|(agent, id)| SessionKey { agent, id });
    Ok((number(row, 0)?, row.get(1)?, session))
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

fn digest(row: &Row<'_>, column: usize) -> rusqlite::Result<Digest> {
    let bytes = row.get_ref(column)?.as_blob().and_then(|blob| {
        let size = FromSqlError::InvalidBlobSize { expected_size: 32, blob_size: blob.len() };
        blob.try_into().map_err(|_| size)
    });
    bytes
        .map(Digest::from_bytes)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, Box::new(error)))
}
