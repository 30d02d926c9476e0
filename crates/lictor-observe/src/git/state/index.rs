//! Git's index file, versions 2 to 4 with SHA-1 names.

use std::collections::BTreeMap;

/// One file that git knows.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) id: [u8; 20],
    /// The lower 32 bits, as git keeps them.
    pub(super) size: u32,
    pub(super) modified: (u32, u32),
    pub(super) changed: (u32, u32),
    pub(super) kind: Kind,
}

/// The kind of an index entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A regular file without conflict that was really added.
    File,
    /// The same of a symbolic link.
    Link,
    /// Another repository.
    Submodule,
    /// One that is in conflict, or only announced.
    Unsettled,
}

pub(super) struct Index {
    pub(super) entries: Vec<Entry>,
    /// Directories whose entries are those of a tree that was written: nothing was staged since.
    written: BTreeMap<String, bool>,
}

impl Index {
    /// `None` when it is damaged, or of a form that is not read (split or sparse, another hash).
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader { bytes, at: 0 };
        if reader.take(4)? != b"DIRC" {
            return None;
        }
        let version = reader.number()?;
        if !(2..=4).contains(&version) {
            return None;
        }
        let count = reader.number()?;
        let mut entries: Vec<Entry> = Vec::new();
        let mut previous = Vec::new();
        for _ in 0..count {
            entries.push(reader.entry(version, &mut previous)?);
        }
        let mut written = BTreeMap::new();
        // The file ends with a hash of its content.
        while reader.at + 28 <= bytes.len() {
            let name = reader.take(4)?;
            let size = usize::try_from(reader.number()?).ok()?;
            let body = reader.take(size)?;
            match name {
                b"TREE" => written = trees(body)?,
                // Optional extensions start with a capital; these two move entries elsewhere and others are not known.
                [b'A'..=b'Z', ..] => {}
                _ => return None,
            }
        }
        Some(Self { entries, written })
    }

    /// Whether nothing was staged in a directory since a tree was last written. Otherwise its entries have to be compared.
    pub(super) fn is_as_written(&self, directory: &str) -> bool {
        self.written.get(directory).copied().unwrap_or(false)
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn entry(&mut self, version: u32, previous: &mut Vec<u8>) -> Option<Entry> {
        const TYPE: u32 = 0o170_000;
        const REGULAR: u32 = 0o100_000;
        const EXTENDED: u16 = 0x4000;
        const STAGE: u16 = 0x3000;
        const INTENT_TO_ADD: u16 = 0x2000;
        let start = self.at;
        let changed = (self.number()?, self.number()?);
        let modified = (self.number()?, self.number()?);
        self.take(8)?;
        let mode = self.number()?;
        self.take(8)?;
        let size = self.number()?;
        let id: [u8; 20] = self.take(20)?.try_into().ok()?;
        let flags = self.short()?;
        let more = if version >= 3 && flags & EXTENDED != 0 { self.short()? } else { 0 };
        if version == 4 {
            let strip = usize::try_from(self.varint()?).ok()?;
            previous.truncate(previous.len().checked_sub(strip)?);
        } else {
            previous.clear();
        }
        let length = memchr::memchr(0, self.bytes.get(self.at..)?)?;
        previous.extend_from_slice(self.take(length)?);
        self.take(1)?;
        if version < 4 {
            // Entries are padded with NUL bytes to a multiple of eight.
            let used = self.at - start;
            self.take(used.next_multiple_of(8) - used)?;
        }
        if mode & TYPE == 0o040_000 {
            return None;
        }
        Some(Entry {
            name: String::from_utf8_lossy(previous).into_owned(),
            id,
            size,
            modified,
            changed,
            kind: match mode & TYPE {
                _ if flags & STAGE != 0 || more & INTENT_TO_ADD != 0 => Kind::Unsettled,
                REGULAR => Kind::File,
                0o120_000 => Kind::Link,
                0o160_000 => Kind::Submodule,
                _ => Kind::Unsettled,
            },
        })
    }

    /// The number that git packs file offsets in.
    fn varint(&mut self) -> Option<u64> {
        let mut byte = *self.take(1)?.first()?;
        let mut value = u64::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = *self.take(1)?.first()?;
            value = value.checked_add(1)?.checked_mul(128)? | u64::from(byte & 0x7f);
        }
        Some(value)
    }
}

/// The cached trees: for each directory whether its tree is known.
fn trees(bytes: &[u8]) -> Option<BTreeMap<String, bool>> {
    let mut found = BTreeMap::new();
    let mut reader = Reader { bytes, at: 0 };
    // Directories that are open, with how many below them are still to come.
    let mut open: Vec<(String, u32)> = Vec::new();
    while reader.at < bytes.len() {
        let length = memchr::memchr(0, bytes.get(reader.at..)?)?;
        let name = String::from_utf8_lossy(reader.take(length)?).into_owned();
        reader.take(1)?;
        let length = memchr::memchr(b'\n', bytes.get(reader.at..)?)?;
        let counts = std::str::from_utf8(reader.take(length)?).ok()?;
        reader.take(1)?;
        let (entries, below) = counts.split_once(' ')?;
        let known = !entries.starts_with('-');
        if known {
            reader.take(20)?;
        }
        while open.last().is_some_and(|(_, left)| *left == 0) {
            open.pop();
        }
        let path = match open.last_mut() {
            Some((above, left)) => {
                *left -= 1;
                if above.is_empty() { name } else { format!("{above}/{name}") }
            }
            None => name,
        };
        found.insert(path.clone(), known);
        open.push((path, below.parse().ok()?));
    }
    Some(found)
}
