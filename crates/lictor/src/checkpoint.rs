//! Signed checkpoints of the record. With the public key, an exported record can be checked without the store and
//! its keys.

use std::io::{self, BufRead};

use lictor_core::approval::{Seal, Sign as _};
use lictor_core::{Digest, Timestamp};
use lictor_engine::{PersonKey, is_signed};
use lictor_store::{Chain, Draft, Durability, Fault, Head, Query, Record, Store, StoreExt as _};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::project::Project;

/// The kind of their records.
pub const KIND: &str = "checkpoint.signed";
/// The next checkpoint is due after this many records.
pub(crate) const EVERY: u64 = 1_000;

/// The record before it, signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The number of the signed record.
    pub seq: u64,
    /// Its hash, which covers every record up to it.
    pub hash: Digest,
    /// The signature.
    #[serde(flatten)]
    pub seal: Seal,
}

impl Checkpoint {
    /// The signed bytes.
    fn message(head: Head) -> Vec<u8> {
        format!("lictor.checkpoint.1\n{} {}\n", head.seq, head.hash).into_bytes()
    }

    /// The checkpoint in a record, if it was signed at this position with the key that it names.
    fn of(record: &Record) -> Option<Self> {
        let checkpoint: Self = serde_json::from_str(&record.body).ok()?;
        let head = Head { seq: checkpoint.seq, hash: checkpoint.hash };
        let here = head.seq.saturating_add(1) == record.seq && head.hash == record.prev;
        (here && is_signed(&Self::message(head), &checkpoint.seal)).then_some(checkpoint)
    }
}

impl Project {
    /// Signs the newest record with the person's key, and records the signature.
    ///
    /// # Errors
    /// When nothing was recorded, the key cannot be used or the store fails.
    pub fn checkpoint(&self) -> Result<Checkpoint, Error> {
        sign(self, &*self.existing_store()?, self.options().now())
    }
}

/// Signs the newest record when enough records followed the last signed one. Returns how far the record is
/// signed.
pub(crate) fn sign_if_due(project: &Project, store: &dyn Store, now: Timestamp) -> Result<u64, Error> {
    let newest = Query::all().kind(KIND).newest_first().limit(1);
    let (head, signed) = store.view(|view| {
        let signed = view.records(&newest)?.first().map_or(0, |record| record.seq.saturating_sub(1));
        Ok((view.head()?, signed))
    })?;
    if head.seq.saturating_sub(signed) < EVERY {
        return Ok(signed);
    }
    Ok(sign(project, store, now)?.seq)
}

fn sign(project: &Project, store: &dyn Store, at: Timestamp) -> Result<Checkpoint, Error> {
    let key = PersonKey::open_or_create(&project.person_keys()).map_err(Error::PersonKey)?;
    let checkpoint = store.update(Durability::Power, |tx| {
        let head = tx.head()?;
        let seal = key.sign(&Checkpoint::message(head));
        let checkpoint = Checkpoint { seq: head.seq, hash: head.hash, seal };
        let body = serde_json::to_string(&checkpoint).unwrap_or_default();
        tx.append(Draft { at, session: None, kind: KIND.to_owned(), body })?;
        Ok(checkpoint)
    })?;
    Ok(checkpoint)
}

/// The result of checking an exported record with the public key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// How many records were read.
    pub records: u64,
    /// The last record that a signature covers; `None` when there is none.
    pub signed: Option<u64>,
    /// The keys that signed, in order of occurrence.
    pub keys: Vec<String>,
    /// The faults, in words; empty when the record is intact.
    pub faults: Vec<String>,
}

/// Why an exported record cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// It cannot be read.
    #[error("the exported record cannot be read: {0}")]
    Io(#[from] io::Error),
    /// A line is no record.
    #[error(
        "line {line} is not a record: {source}; `lictor audit export --exact` writes what can be checked"
    )]
    NotARecord {
        /// Its number.
        line: usize,
        /// The error.
        source: serde_json::Error,
    },
}

/// Checks a record as `lictor audit export --exact` writes it. If a public key is given, only that one counts.
///
/// # Errors
/// See [`ExportError`]. A record that was tampered with is not an error but a list of faults.
pub fn check(lines: impl BufRead, key: Option<&str>) -> Result<Checked, ExportError> {
    let mut chain: Option<Chain> = None;
    let mut told = Checked { records: 0, signed: None, keys: Vec::new(), faults: Vec::new() };
    for (index, line) in lines.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let record: Record = serde_json::from_str(&line)
            .map_err(|source| ExportError::NotARecord { line: index + 1, source })?;
        told.records += 1;
        chain.get_or_insert_with(|| beginning(&record)).follow(&record);
        if record.kind == KIND {
            match Checkpoint::of(&record).filter(|found| key.is_none_or(|key| found.seal.key == key)) {
                Some(found) => {
                    told.signed = Some(found.seq);
                    if !told.keys.contains(&found.seal.key) {
                        told.keys.push(found.seal.key);
                    }
                }
                None => told
                    .faults
                    .push(format!("the checkpoint in record {} is not signed by this key", record.seq)),
            }
        }
    }
    let broken = chain.map(Chain::finish).unwrap_or_default();
    told.faults.splice(0..0, broken.iter().map(Fault::to_string));
    Ok(told)
}

/// The first record of an export need not be the first one ever: older ones may have been removed on purpose.
fn beginning(first: &Record) -> Chain {
    let before = (first.seq == 1).then_some(Head::START);
    Chain::after(first.seq.saturating_sub(1), before)
}

#[cfg(test)]
mod tests;
