//! Verifies the chain: finds and names records that were changed, removed or moved.

use std::fmt;
use std::ops::RangeInclusive;

use lictor_core::Digest;

use crate::account::Account;
use crate::archive::{ArchiveError, Retained};
use crate::{Anchor, Head, KeyId, Keyring, Query, Record, StoreError, View};

/// The maximum number of reported faults; checking stops after that.
const MOST_FAULTS: usize = 100;
/// Records read at a time.
const PAGE: usize = 500;

/// Damage that only occurs when something other than the store writes the log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The content of a record does not match its hash.
    Changed {
        /// The record's number.
        seq: u64,
    },
    /// A record is in the place of another one.
    Moved {
        /// Its position.
        seq: u64,
        /// The number it was written with.
        from: u64,
    },
    /// Records are not there.
    Missing {
        /// The first one.
        first: u64,
        /// The last one.
        last: u64,
    },
    /// A record, sound in itself, follows another record than the one before it: one of the two was replaced.
    Unlinked {
        /// The record's number.
        seq: u64,
    },
    /// The oldest records were removed, and no record states that they were archived.
    Unaccounted {
        /// The last one removed.
        last: u64,
    },
    /// The anchor names a record that no longer exists: the newest ones were removed.
    CutOff {
        /// The anchor.
        anchor: Anchor,
        /// The last record of the log.
        end: u64,
    },
    /// The anchor names another hash than the record has: the log was rewritten.
    Rewritten {
        /// The anchor.
        anchor: Anchor,
        /// The hash that the record has.
        found: Digest,
    },
    /// The hash of the record is right, but its seal was not made for it by a holder of the key.
    Forged {
        /// The record's number.
        seq: u64,
    },
    /// The record has no seal although the records around it do.
    Unsealed {
        /// The record's number.
        seq: u64,
    },
    /// The record is sealed with a key that was not given.
    UnknownKey {
        /// The record's number.
        seq: u64,
        /// The name of the key.
        key: KeyId,
    },
    /// An archive is not there or cannot be read.
    Archive {
        /// The problem.
        what: String,
    },
    /// An entry does not match the records: it was changed, added, or restored to an older value.
    Entry {
        /// The entry.
        what: String,
    },
    /// Entries that must exist by the records are missing.
    EntriesMissing {
        /// The number.
        count: usize,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { seq } => {
                write!(f, "record {seq} was changed: its content does not match its hash")
            }
            Self::Moved { seq, from } => write!(f, "record {from} was moved to place {seq}"),
            Self::Missing { first, last } if first == last => write!(f, "record {first} is missing"),
            Self::Missing { first, last } => write!(f, "records {first} to {last} are missing"),
            Self::Unlinked { seq } => write!(
                f,
                "record {seq} does not follow record {}: one of the two was replaced",
                seq.saturating_sub(1)
            ),
            Self::Unaccounted { last } => {
                write!(f, "records up to {last} were removed without having been archived")
            }
            Self::CutOff { anchor, end } => write!(
                f,
                "records {} to {} are missing: the log ends at {end}, the anchor names record {}",
                end.saturating_add(1),
                anchor.seq,
                anchor.seq
            ),
            Self::Rewritten { anchor, found } => write!(
                f,
                "record {} was rewritten: its hash is {}, the anchor says {}",
                anchor.seq,
                found.short(),
                anchor.hash.short()
            ),
            Self::Forged { seq } => {
                write!(f, "record {seq} was forged: its seal was not made for it by a holder of the key")
            }
            Self::Unsealed { seq } => {
                write!(f, "record {seq} has no seal, but this store has had a key before it")
            }
            Self::UnknownKey { seq, key } => {
                write!(f, "record {seq} is sealed with the key {key}, which is not in the key file")
            }
            Self::Archive { what } => f.write_str(what),
            Self::Entry { what } => write!(f, "{what} does not follow from the records"),
            Self::EntriesMissing { count: 1 } => {
                f.write_str("one entry that follows from the records was removed")
            }
            Self::EntriesMissing { count } => {
                write!(f, "{count} entries that follow from the records were removed")
            }
        }
    }
}

/// The result of the check against the anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchoring {
    /// There was none. Removal of the newest records cannot be detected.
    None,
    /// Nothing up to and including the anchor is missing, unless there is a fault. Later records may be missing.
    Used(Anchor),
    /// The anchored record was archived; it must be checked in the archive.
    Archived(Anchor),
}

impl fmt::Display for Anchoring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("no anchor was given: removal of the newest records cannot be seen"),
            Self::Used(anchor) => write!(f, "anchored at record {} ({})", anchor.seq, anchor.hash.short()),
            Self::Archived(anchor) => write!(
                f,
                "the anchor names record {}, which is in the archive: removal of the newest records cannot be seen",
                anchor.seq
            ),
        }
    }
}

/// The result of the check of the seals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sealing {
    /// The store was opened without keys. Any writer of the file could have rewritten it.
    Unchecked,
    /// Seals and entries were checked. Records up to this one are older than the key and have none.
    Checked {
        /// The last record without a seal, if there is one.
        unsealed: Option<u64>,
    },
}

impl fmt::Display for Sealing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unchecked => f.write_str("no key was given: seals were not checked"),
            Self::Checked { unsealed: None } => f.write_str("sealed"),
            Self::Checked { unsealed: Some(last) } => {
                write!(f, "sealed from record {} on; older records have no seal", last.saturating_add(1))
            }
        }
    }
}

/// The result of [`verify`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The first and last record that were read; `None` when the range is empty.
    pub checked: Option<(u64, u64)>,
    /// How many were read.
    pub records: u64,
    /// At most one hundred faults, oldest record first. Empty: everything that was checked is sound.
    pub faults: Vec<Fault>,
    /// The result of the check against the anchor.
    pub anchoring: Anchoring,
    /// The result of the check of the seals.
    pub sealing: Sealing,
    /// The end of the log.
    pub head: Head,
}

impl Verification {
    /// Whether there are no faults.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Checks the records with these numbers, and the end of the log against an anchor.
///
/// # Errors
/// When the store cannot be read. A log that was tampered with is not an error but a list of faults.
pub fn verify(
    view: &dyn View,
    range: RangeInclusive<u64>,
    anchor: Option<Anchor>,
) -> Result<Verification, StoreError> {
    let (base, head) = (view.base()?, view.head()?);
    let first = (*range.start()).max(base.seq.saturating_add(1));
    let last = (*range.end()).min(head.seq);
    // The record before the range determines the link of the first one.
    let before = match first.checked_sub(1) {
        Some(seq) if seq > base.seq => record_at(view, seq)?.map(|record| record.head()),
        _ => Some(base),
    };
    let mut chain = Chain::after(first.saturating_sub(1), before);
    let mut after = first.saturating_sub(1);
    while chain.faults.len() < MOST_FAULTS {
        let query = Query::all().after(after).before(last.saturating_add(1)).limit(PAGE);
        let page = match view.records(&query) {
            Ok(page) => page,
            Err(StoreError::Archive(error)) => {
                after = error.last().unwrap_or(last).max(after.saturating_add(1));
                chain.without(after, &error);
                continue;
            }
            Err(error) => return Err(error),
        };
        let Some(newest) = page.last() else { break };
        after = newest.seq;
        page.iter().for_each(|record| chain.follow(record));
    }
    chain.end_at(last);
    let (records, mut faults) = (chain.records, chain.finish());
    if *range.start() <= base.seq && !Retained::covers(view, base)? {
        faults.insert(0, Fault::Unaccounted { last: base.seq });
    }
    let anchoring = match anchor {
        None => Anchoring::None,
        Some(anchor) if anchor.seq < base.seq => Anchoring::Archived(anchor),
        Some(anchor) => {
            faults.extend(against(view, anchor, base, head)?);
            Anchoring::Used(anchor)
        }
    };
    let sealing = match view.keys() {
        None => Sealing::Unchecked,
        Some(keys) => {
            let (sealing, fault) = check_seals(view, keys)?;
            faults.extend(fault);
            sealing
        }
    };
    let checked = (records > 0).then_some((first, after));
    Ok(Verification { checked, records, faults, anchoring, sealing, head })
}

/// Seals build on each other, so all of them are checked, whatever the range.
fn check_seals(view: &dyn View, keys: &Keyring) -> Result<(Sealing, Option<Fault>), StoreError> {
    match Account::of(view, keys) {
        // The unreadable archive is a fault already.
        Err(StoreError::Archive(_)) => Ok((Sealing::Checked { unsealed: None }, None)),
        Err(error) => Err(error),
        Ok(Err(fault)) => Ok((Sealing::Checked { unsealed: None }, Some(fault))),
        Ok(Ok(account)) => {
            let unsealed = account.unsealed();
            let fault = match account.is_sealed() {
                true => account.entries(view)?,
                false => unsealed.map(|seq| Fault::Unsealed { seq }),
            };
            Ok((Sealing::Checked { unsealed }, fault))
        }
    }
}

fn record_at(view: &dyn View, seq: u64) -> Result<Option<Record>, StoreError> {
    let query = Query::all().after(seq.saturating_sub(1)).before(seq.saturating_add(1)).limit(1);
    match view.records(&query) {
        Ok(page) => Ok(page.into_iter().next()),
        Err(StoreError::Archive(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn against(view: &dyn View, anchor: Anchor, base: Head, head: Head) -> Result<Option<Fault>, StoreError> {
    if anchor.seq > head.seq {
        return Ok(Some(Fault::CutOff { anchor, end: head.seq }));
    }
    let found = if anchor.seq == base.seq {
        base.hash
    } else {
        match record_at(view, anchor.seq)? {
            Some(record) => record.hash,
            None => return Ok(Some(Fault::Missing { first: anchor.seq, last: anchor.seq })),
        }
    };
    Ok((found != anchor.hash).then_some(Fault::Rewritten { anchor, found }))
}

/// Follows a chain record by record.
#[derive(Debug)]
pub struct Chain {
    /// The number that the next record must have.
    expected: u64,
    /// The hash that the next record must name; `None` when its predecessor is missing or not sound.
    link: Option<Digest>,
    records: u64,
    faults: Vec<Fault>,
    /// Records whose hash does not match: changed, or moved from elsewhere.
    odd: Vec<Record>,
}

impl Chain {
    /// A chain whose next record follows the one with number `seq`, and names the hash of `before` if that is known.
    #[must_use]
    pub fn after(seq: u64, before: Option<Head>) -> Self {
        let link = before.filter(|head| head.seq == seq).map(|head| head.hash);
        Self { expected: seq.saturating_add(1), link, records: 0, faults: Vec::new(), odd: Vec::new() }
    }

    /// Checks the next record. Records come in the order of their numbers.
    pub fn follow(&mut self, record: &Record) {
        if self.faults.len() >= MOST_FAULTS {
            return;
        }
        self.records += 1;
        if record.seq > self.expected {
            self.faults.push(Fault::Missing { first: self.expected, last: record.seq - 1 });
            self.link = None;
        }
        let sound = record.computed_hash() == record.hash;
        if !sound {
            self.faults.push(Fault::Changed { seq: record.seq });
            self.odd.push(record.clone());
        } else if self.link.is_some_and(|link| link != record.prev) {
            self.faults.push(Fault::Unlinked { seq: record.seq });
        }
        // The stored hash of a changed record says nothing about the next one.
        self.link = sound.then_some(record.hash);
        self.expected = record.seq.saturating_add(1);
    }

    /// Continues after the record with number `seq`: those up to it are in an archive that cannot be used.
    fn without(&mut self, seq: u64, error: &ArchiveError) {
        self.faults.push(Fault::Archive { what: error.to_string() });
        (self.expected, self.link) = (seq.saturating_add(1), None);
    }

    /// Checks that the chain reaches the record with number `last`.
    fn end_at(&mut self, last: u64) {
        if self.expected <= last && self.faults.len() < MOST_FAULTS {
            self.faults.push(Fault::Missing { first: self.expected, last });
        }
    }

    /// All faults. A changed record that matches another position is reported as moved.
    #[must_use]
    pub fn finish(mut self) -> Vec<Fault> {
        let mut places: Vec<u64> = self.odd.iter().map(|record| record.seq).collect();
        for fault in &self.faults {
            if let Fault::Missing { first, last } = fault {
                places.extend((*first..=*last).take(MOST_FAULTS));
            }
        }
        places.truncate(2 * MOST_FAULTS);
        let odd = std::mem::take(&mut self.odd);
        let origin = |seq: u64| {
            let mut record = odd.iter().find(|record| record.seq == seq)?.clone();
            places.iter().copied().find(|place| {
                record.seq = *place;
                record.computed_hash() == record.hash
            })
        };
        for fault in &mut self.faults {
            if let Fault::Changed { seq } = *fault
                && let Some(from) = origin(seq)
            {
                *fault = Fault::Moved { seq, from };
            }
        }
        self.faults
    }
}
