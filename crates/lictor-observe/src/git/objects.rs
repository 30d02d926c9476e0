//! Commits and trees from git's object store, loose or packed, read without running git.

use std::io::Read as _;

use crate::observer::Observer;

/// The largest object that is read, and the most bytes of it in its file.
const LARGEST: usize = 1024 * 1024;
/// The maximum number of packs that are searched.
const MOST_PACKS: usize = 200;
/// The maximum length of a delta chain.
const DEEPEST: usize = 60;

/// The kinds that are asked for here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Commit,
    Tree,
    Other,
}

/// An object's name.
pub(super) type Id = [u8; 20];

/// The name that a text spells in hexadecimal.
pub(super) fn id_of(text: &str) -> Option<Id> {
    let digits = text.as_bytes();
    if digits.len() != 40 {
        return None;
    }
    let mut id = [0; 20];
    for (byte, pair) in id.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(id)
}

/// Git's store below a directory.
pub(super) struct Objects<'a> {
    git_dir: &'a str,
    observer: &'a dyn Observer,
    /// The packs, without the ending of their files.
    packs: Vec<String>,
}

impl<'a> Objects<'a> {
    pub(super) fn of(git_dir: &'a str, observer: &'a dyn Observer) -> Self {
        let folder = format!("{git_dir}/objects/pack");
        let names = observer.names(&folder, 4 * MOST_PACKS).unwrap_or_default().names;
        let packs = names.iter().filter_map(|name| name.strip_suffix(".idx"));
        let packs = packs.take(MOST_PACKS).map(|name| format!("{folder}/{name}")).collect();
        Self { git_dir, observer, packs }
    }

    /// The parents of a commit; none when it cannot be read.
    pub(super) fn parents(&self, id: &Id) -> Vec<Id> {
        let lines = self.commit(id).unwrap_or_default();
        lines.lines().filter_map(|line| id_of(line.strip_prefix("parent ")?)).collect()
    }

    /// The tree of a commit.
    pub(super) fn tree_of(&self, commit: &Id) -> Option<Id> {
        id_of(self.commit(commit)?.lines().next()?.strip_prefix("tree ")?)
    }

    /// The head of a commit.
    fn commit(&self, id: &Id) -> Option<String> {
        let (kind, body) = self.read(id, 0)?;
        let text = String::from_utf8_lossy(&body);
        let head = text.split("\n\n").next().unwrap_or_default();
        (kind == Kind::Commit).then(|| head.to_owned())
    }

    /// The names in a tree with their objects.
    pub(super) fn tree(&self, id: &Id) -> Option<Vec<(String, Id)>> {
        let (kind, body) = self.read(id, 0)?;
        let mut rest = body.as_slice();
        let mut entries = Vec::new();
        while let Some(end) = memchr::memchr(0, rest).filter(|_| kind == Kind::Tree) {
            let (head, behind) = rest.split_at_checked(end)?;
            let (_, name) = std::str::from_utf8(head).ok()?.split_once(' ')?;
            entries.push((name.to_owned(), behind.get(1..21)?.try_into().ok()?));
            rest = behind.get(21..)?;
        }
        (kind == Kind::Tree).then_some(entries)
    }

    fn read(&self, id: &Id, depth: usize) -> Option<(Kind, Vec<u8>)> {
        if depth > DEEPEST {
            return None;
        }
        self.loose(id).or_else(|| {
            self.packs.iter().find_map(|pack| self.packed(pack, self.offset(pack, id)?, depth + 1))
        })
    }

    fn loose(&self, id: &Id) -> Option<(Kind, Vec<u8>)> {
        let name: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        let (folder, file) = name.split_at_checked(2)?;
        let bytes = self.observer.bytes(&format!("{}/objects/{folder}/{file}", self.git_dir), LARGEST)?;
        let body = inflated(&bytes, LARGEST)?;
        let end = memchr::memchr(0, &body)?;
        let kind = match body.get(..end)?.split(|byte| *byte == b' ').next()? {
            b"commit" => Kind::Commit,
            b"tree" => Kind::Tree,
            _ => Kind::Other,
        };
        Some((kind, body.get(end + 1..)?.to_vec()))
    }

    /// The offset of an object in a pack, by its index (version 2).
    fn offset(&self, pack: &str, id: &Id) -> Option<u64> {
        const NAMES: u64 = 8 + 256 * 4;
        let index = format!("{pack}.idx");
        let part = |from: u64, length: usize| self.observer.part(&index, from, length);
        let head = part(0, usize::try_from(NAMES).ok()?)?;
        if head.get(..8)? != [0xff, b't', b'O', b'c', 0, 0, 0, 2] {
            return None;
        }
        let up_to = |first: usize| number(head.get(8 + 4 * first..)?).map(u64::from);
        let first = usize::from(*id.first()?);
        let start = if first == 0 { 0 } else { up_to(first - 1)? };
        let (end, all) = (up_to(first)?, up_to(255)?);
        let names = part(NAMES + 20 * start, usize::try_from(20 * end.checked_sub(start)?).ok()?)?;
        let at = start + u64::try_from(names.chunks(20).position(|name| name == id)?).ok()?;
        let offset = number(&part(NAMES + 24 * all + 4 * at, 4)?)?;
        if offset & 0x8000_0000 == 0 {
            return Some(u64::from(offset));
        }
        let large = part(NAMES + 28 * all + 8 * u64::from(offset & 0x7fff_ffff), 8)?;
        Some(u64::from_be_bytes(large.try_into().ok()?))
    }

    fn packed(&self, pack: &str, offset: u64, depth: usize) -> Option<(Kind, Vec<u8>)> {
        if depth > DEEPEST {
            return None;
        }
        // The head of an object: its kind and size, and what it differs from.
        let file = format!("{pack}.pack");
        let head = self.observer.part(&file, offset, 64)?;
        let mut bytes = head.iter().copied().enumerate();
        let (_, first) = bytes.next()?;
        let (kind, mut size, mut shift) = (first >> 4 & 7, u64::from(first & 15), 4);
        let mut last = first;
        let mut used = 1;
        while last & 0x80 != 0 {
            let (at, byte) = bytes.next()?;
            size |= u64::from(byte & 0x7f).checked_shl(shift)?;
            (last, shift, used) = (byte, shift + 7, at + 1);
        }
        let size = usize::try_from(size).ok().filter(|size| *size <= LARGEST)?;
        let body = |used: usize| {
            let packed = self.observer.part(&file, offset + u64::try_from(used).ok()?, size + 4096)?;
            inflated(&packed, size).filter(|body| body.len() == size)
        };
        let base = match kind {
            1 => return Some((Kind::Commit, body(used)?)),
            2 => return Some((Kind::Tree, body(used)?)),
            6 => {
                let (at, byte) = bytes.next()?;
                let (mut back, mut last) = (u64::from(byte & 0x7f), byte);
                used = at + 1;
                while last & 0x80 != 0 {
                    let (at, byte) = bytes.next()?;
                    back = (back + 1).checked_mul(128)? | u64::from(byte & 0x7f);
                    (last, used) = (byte, at + 1);
                }
                self.packed(pack, offset.checked_sub(back)?, depth + 1)?
            }
            7 => {
                let id: Id = head.get(used..used + 20)?.try_into().ok()?;
                used += 20;
                self.read(&id, depth + 1)?
            }
            _ => return None,
        };
        Some((base.0, changed(&base.1, &body(used)?)?))
    }
}

fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(..4)?.try_into().ok()?))
}

fn inflated(bytes: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    let most = u64::try_from(most).ok()?;
    flate2::read::ZlibDecoder::new(bytes).take(most).read_to_end(&mut body).ok()?;
    Some(body)
}

/// Applies a delta: pieces of the base object, and new bytes between them.
fn changed(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = delta.iter().copied();
    let mut size = || {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let byte = bytes.next()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return usize::try_from(value).ok();
            }
        }
    };
    let (before, after) = (size()?, size()?);
    if before != base.len() || after > LARGEST {
        return None;
    }
    let mut out = Vec::with_capacity(after);
    while let Some(order) = bytes.next() {
        if order & 0x80 == 0 {
            let from = out.len();
            out.extend(bytes.by_ref().take(usize::from(order)));
            if order == 0 || out.len() - from != usize::from(order) {
                return None;
            }
            continue;
        }
        let mut given = |bits: std::ops::Range<u32>| {
            let mut value = 0usize;
            for (shift, bit) in bits.enumerate() {
                if order & (1 << bit) != 0 {
                    value |= usize::from(bytes.next()?) << (8 * shift);
                }
            }
            Some(value)
        };
        let (from, length) = (given(0..4)?, given(4..7)?);
        let length = if length == 0 { 0x10000 } else { length };
        out.extend_from_slice(base.get(from..from.checked_add(length)?)?);
    }
    (out.len() == after).then_some(out)
}

#[cfg(test)]
mod tests;
