//! Retention: moves old records to archive files that anyone can verify and join again.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use lictor_core::{Digest, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::verify::Chain;
use crate::{Draft, Durability, Fault, Head, Query, Record, Seal, Store, StoreError, StoreExt, View};

/// Records read at a time.
const PAGE: usize = 500;
/// Records per file: a file is read as a whole to get one of them.
const MOST_RECORDS: u64 = 10_000;

/// The body of the record that accounts for records which were archived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retained {
    /// The first record archived.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// Its hash.
    pub hash: Digest,
    /// The name of the archive file.
    pub archive: String,
}

impl Retained {
    /// The kind of that record.
    pub const KIND: &str = "log.retained";

    /// Whether the log itself states that the records up to `base` were archived.
    pub(crate) fn covers(view: &dyn View, base: Head) -> Result<bool, StoreError> {
        if base == Head::START {
            return Ok(true);
        }
        // Retention appends its record in the transaction that moves the base, so it is the newest of its kind.
        let newest = view.records(&Query::all().kind(Self::KIND).newest_first().limit(1))?;
        let retained: Option<Self> =
            newest.first().and_then(|record| serde_json::from_str(&record.body).ok());
        Ok(retained.is_some_and(|retained| retained.last == base.seq && retained.hash == base.hash))
    }
}

/// What to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// This many of the newest records.
    Newest(u64),
    /// All records from the first one that is not older than this.
    Since(Timestamp),
}

/// Why records were not archived. They are all still in the store.
#[derive(Debug, thiserror::Error)]
pub enum RetainError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The archive could not be written.
    #[error("cannot write the archive `{file}`: {source}; nothing was removed from the store")]
    Write {
        /// The archive.
        file: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// The records to archive have faults. Evidence of tampering is not moved.
    #[error("{0}; nothing was archived, run `lictor audit verify`")]
    Unsound(Fault),
}

/// Moves the oldest records to files in `directory` and returns the last one moved; `None` when there is nothing
/// to move.
///
/// A file is on disk before anything is removed. A crash between the two leaves records in both places, which
/// [`Segment::join`] accepts.
///
/// # Errors
/// See [`RetainError`]; nothing was removed then.
pub fn retain(
    store: &dyn Store,
    keep: Keep,
    directory: &Path,
    at: Timestamp,
) -> Result<Option<PathBuf>, RetainError> {
    let Some(last) = store.view(|view| last_to_go(view, keep))? else { return Ok(None) };
    let mut newest = None;
    loop {
        let base = store.view(|view| view.base())?;
        if base.seq >= last {
            return Ok(newest);
        }
        let step = base.seq.saturating_add(MOST_RECORDS).min(last);
        newest = Some(move_away(store, base, step, directory, at)?);
    }
}

/// Moves the records after `base` up to `last` into one file.
fn move_away(
    store: &dyn Store,
    base: Head,
    last: u64,
    directory: &Path,
    at: Timestamp,
) -> Result<PathBuf, RetainError> {
    let first = base.seq.saturating_add(1);
    let name = format!("log-{first:010}-{last:010}.jsonl.gz");
    let file = directory.join(&name);
    let draft = directory.join(format!(".{name}.{}.new", std::process::id()));
    let failed = |source| RetainError::Write { file: file.clone(), source };
    let end = write_segment(store, base, last, &draft, &file)?;
    std::fs::rename(&draft, &file).and_then(|()| File::open(directory)?.sync_all()).map_err(failed)?;
    store.update(Durability::Power, |tx| {
        if tx.base()? != base {
            return Err(StoreError::Abandoned); // Someone else archived the same records meanwhile.
        }
        tx.prune(last)?;
        let body = Retained { first, last, hash: end.hash, archive: name };
        let body = serde_json::to_string(&body).map_err(StoreError::other)?;
        tx.append(Draft { at, session: None, kind: Retained::KIND.to_owned(), body })
    })?;
    Ok(file)
}

/// The number of the newest record that may be moved.
pub(crate) fn last_to_go(view: &dyn View, keep: Keep) -> Result<Option<u64>, StoreError> {
    let (base, head) = (view.base()?, view.head()?);
    let last = match keep {
        Keep::Newest(count) => head.seq.saturating_sub(count),
        Keep::Since(time) => {
            let mut after = base.seq;
            loop {
                let page = view.records(&Query::all().after(after).limit(PAGE))?;
                let young = page.iter().find(|record| record.at >= time).map(|record| record.seq - 1);
                match (young, page.last()) {
                    (Some(last), _) => break last,
                    (None, Some(newest)) => after = newest.seq,
                    (None, None) => break after,
                }
            }
        }
    };
    Ok((last > base.seq).then_some(last))
}

/// Writes the records after `base` up to `last` to `draft`, one JSON object per line, and syncs it to disk.
fn write_segment(
    store: &dyn Store,
    base: Head,
    last: u64,
    draft: &Path,
    file: &Path,
) -> Result<Head, RetainError> {
    let failed = |source| RetainError::Write { file: file.to_owned(), source };
    let options = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(draft);
    let mut out = GzEncoder::new(BufWriter::new(options.map_err(failed)?), Compression::default());
    let mut chain = Chain::after(base.seq, Some(base));
    let mut end = base;
    while end.seq < last {
        let query = Query::all().after(end.seq).before(last.saturating_add(1)).limit(PAGE);
        let (page, seals) = store.view(|view| Ok((view.records(&query)?, view.seals(&query)?)))?;
        let Some(newest) = page.last() else { break };
        end = newest.head();
        let seals: BTreeMap<u64, Option<Seal>> =
            seals.into_iter().map(|(head, seal)| (head.seq, seal)).collect();
        for record in &page {
            chain.follow(record);
            let line = line(record, seals.get(&record.seq).and_then(Option::as_ref));
            out.write_all(&line.map_err(failed)?).map_err(failed)?;
        }
    }
    if let Some(fault) = chain.finish().into_iter().next() {
        let _ = std::fs::remove_file(draft);
        return Err(RetainError::Unsound(fault));
    }
    let out = out.finish().map_err(failed)?;
    out.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)?;
    Ok(end)
}

/// A record, with its seal if it has one, as a line of an archive.
fn line(record: &Record, seal: Option<&Seal>) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_value(record)?;
    if let (Some(seal), Some(fields)) = (seal, line.as_object_mut()) {
        fields.insert(SEAL.to_owned(), serde_json::to_value(seal)?);
    }
    let mut line = serde_json::to_vec(&line)?;
    line.push(b'\n');
    Ok(line)
}

fn parsed(line: &str) -> serde_json::Result<(Record, Option<Seal>)> {
    let mut line: Value = serde_json::from_str(line)?;
    let seal = line.as_object_mut().and_then(|fields| fields.remove(SEAL));
    Ok((serde_json::from_value(line)?, seal.map(serde_json::from_value).transpose()?))
}

/// The field of a line that is not part of the record.
const SEAL: &str = "seal";

/// The lines of an archive; those of older versions are not compressed.
fn lines(file: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<String>>>> {
    let mut source = BufReader::new(File::open(file)?);
    Ok(if source.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        Box::new(BufReader::new(MultiGzDecoder::new(source)).lines())
    } else {
        Box::new(source.lines())
    })
}

/// One archive file that was read and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The place before its first record.
    pub before: Head,
    /// Its last record.
    pub last: Head,
    /// Its faults.
    pub faults: Vec<Fault>,
}

/// Why an archive cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It cannot be read.
    #[error("cannot read the archive `{file}`: {source}; restore it from a copy")]
    Read {
        /// The archive.
        file: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// A line is not a record.
    #[error("line {line} of the archive `{file}` is not a record ({detail}); restore the file from a copy")]
    Line {
        /// The archive.
        file: PathBuf,
        /// The line number.
        line: usize,
        /// The problem.
        detail: String,
    },
    /// It has no records.
    #[error("the archive `{file}` is empty; restore it from a copy")]
    Empty {
        /// The archive.
        file: PathBuf,
    },
    /// Records were moved, and no archive has them.
    #[error(
        "records {first} to {last} are not in the store any more, and no archive in `{directory}` has them; restore it from a copy, or ask for newer records with `--since`"
    )]
    Missing {
        /// Where the archives are.
        directory: PathBuf,
        /// The first of these records.
        first: u64,
        /// The last one.
        last: u64,
    },
    /// Records between two archives, or between the last archive and the store, are missing or differ.
    #[error("the archives do not join: nothing sound leads from record {} to record {}", from.seq, to.seq)]
    Gap {
        /// Up to here everything is there.
        from: Head,
        /// This comes next.
        to: Head,
    },
}

impl ArchiveError {
    /// The last record that is unavailable because of it, if known.
    pub(crate) fn last(&self) -> Option<u64> {
        match self {
            Self::Missing { last, .. } => Some(*last),
            Self::Gap { to, .. } => Some(to.seq),
            Self::Read { file, .. } | Self::Line { file, .. } | Self::Empty { file } => {
                numbers(&file.file_name()?.to_string_lossy()).map(|(_, last)| last)
            }
        }
    }
}

/// The numbers in `log-0000000001-0000010000.jsonl.gz`.
pub(crate) fn numbers(name: &str) -> Option<(u64, u64)> {
    let rest = name.strip_prefix("log-")?;
    let (first, rest) = rest.split_once('-')?;
    let last = rest.strip_suffix(".jsonl.gz").or_else(|| rest.strip_suffix(".jsonl"))?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

impl Segment {
    /// Reads an archive and checks it, calling `each` for every record.
    ///
    /// # Errors
    /// When the file cannot be read as an archive. Records that were tampered with are `faults`.
    pub fn read(file: &Path, mut each: impl FnMut(&Record)) -> Result<Self, ArchiveError> {
        Self::read_sealed(file, |record, _| each(&record))
    }

    /// The same with the records' seals.
    pub(crate) fn read_sealed(
        file: &Path,
        mut each: impl FnMut(Record, Option<Seal>),
    ) -> Result<Self, ArchiveError> {
        let cannot = |source| ArchiveError::Read { file: file.to_owned(), source };
        let mut state: Option<(Head, Head, Chain)> = None;
        for (index, line) in lines(file).map_err(cannot)?.enumerate() {
            let bad = |detail| ArchiveError::Line { file: file.to_owned(), line: index + 1, detail };
            let line = line.map_err(cannot)?;
            let (record, seal) = parsed(&line).map_err(|error| bad(error.to_string()))?;
            let (_, last, chain) = state.get_or_insert_with(|| {
                let before = Head { seq: record.seq.saturating_sub(1), hash: record.prev };
                (before, before, Chain::after(before.seq, Some(before)))
            });
            if record.seq <= last.seq {
                return Err(bad(format!("record {} stands after record {}", record.seq, last.seq)));
            }
            chain.follow(&record);
            *last = record.head();
            each(record, seal);
        }
        let (before, last, chain) = state.ok_or_else(|| ArchiveError::Empty { file: file.to_owned() })?;
        Ok(Self { before, last, faults: chain.finish() })
    }

    /// Whether the sound ones of these archives cover all records from the first to `base`, where the store
    /// continues, without a gap.
    ///
    /// # Errors
    /// [`ArchiveError::Gap`] when they do not.
    pub fn join(mut segments: Vec<Self>, base: Head) -> Result<(), ArchiveError> {
        segments.sort_by_key(|segment| (segment.before.seq, segment.last.seq));
        // After a crash during archiving, the unfinished archive overlaps with the one that replaced it.
        segments.retain(|segment| segment.faults.is_empty() && segment.last.seq <= base.seq);
        let mut from = Head::START;
        while from != base {
            let Some(next) = segments.iter().rfind(|segment| segment.before == from) else {
                return Err(ArchiveError::Gap { from, to: base });
            };
            from = next.last;
        }
        Ok(())
    }
}
