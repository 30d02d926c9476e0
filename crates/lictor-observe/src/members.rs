//! The members of archives, read without unpacking them.
//!
//! Supported are tar (plain and gzip), zip and its variants (jar, whl, self-extracting), ar with the packages made of it, and cpio
//! (newc, odc). Other, too large or damaged files have no known members.

use std::io::Read as _;

use lictor_shell::Coding;
use lictor_shell::programs::{from_base64, from_hex};

use crate::observer::Observer;

/// The largest archive that is read.
const LIMIT: usize = 32 * 1024 * 1024;
/// How much of a compressed one is unpacked to find names.
const UNPACKED: u64 = 128 * 1024 * 1024;
/// The most members that are listed.
const MAX_MEMBERS: usize = 20_000;
/// The longest target of a symbolic link.
const MAX_TARGET: u64 = 4096;

/// A member of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its name.
    pub(crate) name: String,
    /// It is another name for something else.
    pub(crate) link: Option<Link>,
}

/// What a member leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Link {
    /// A path, from the directory of the member.
    Symbolic(String),
    /// Another member, or a file that is there already.
    Hard(String),
}

impl Member {
    fn file(name: String) -> Self {
        Self { name, link: None }
    }
}

/// An archive's members. `None` when they cannot be determined.
pub(crate) fn of(path: &str, coding: Coding, observer: &dyn Observer) -> Option<Vec<Member>> {
    let bytes = observer.bytes(path, LIMIT)?;
    match coding {
        Coding::Plain | Coding::Package => members(&bytes),
        Coding::Base64 => members(&from_base64(std::str::from_utf8(&bytes).ok()?)?),
        Coding::Hex => members(&undumped(std::str::from_utf8(&bytes).ok()?)),
        Coding::Other => None,
    }
}

/// The bytes of a hexadecimal dump: bare digits, or lines of `offset: digits  text`.
fn undumped(text: &str) -> Vec<u8> {
    let digits = |line: &str| {
        line.split_once(": ").map_or(line, |(_, rest)| rest.split("  ").next().unwrap_or(rest)).to_owned()
    };
    from_hex(&text.lines().map(digits).collect::<String>())
}

fn members(bytes: &[u8]) -> Option<Vec<Member>> {
    if bytes.starts_with(b"PK") {
        return zip(bytes);
    }
    let read = match bytes {
        [0x1f, 0x8b, ..] => {
            let mut plain = Vec::new();
            flate2::read::MultiGzDecoder::new(bytes).take(UNPACKED).read_to_end(&mut plain).ok()?;
            if plain.len() as u64 >= UNPACKED { None } else { uncompressed(&plain) }
        }
        _ => uncompressed(bytes),
    };
    // `unzip` finds its directory at the end of any file.
    match (read, zip(bytes)) {
        (Some(mut read), Some(zipped)) => {
            read.extend(zipped);
            Some(read)
        }
        (read, zipped) => read.or(zipped),
    }
}

fn uncompressed(bytes: &[u8]) -> Option<Vec<Member>> {
    if bytes.starts_with(b"!<arch>\n") {
        return ar(bytes);
    }
    if bytes.starts_with(b"070701") || bytes.starts_with(b"070702") {
        return cpio_newc(bytes);
    }
    if bytes.starts_with(b"070707") {
        return cpio_odc(bytes);
    }
    tar(bytes)
}

fn part(bytes: &[u8], from: usize, length: usize) -> Option<&[u8]> {
    bytes.get(from..from.checked_add(length)?)
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned()
}

fn number(bytes: &[u8], radix: u32) -> Option<usize> {
    let text = std::str::from_utf8(bytes).ok()?;
    let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
    if text.is_empty() { Some(0) } else { usize::from_str_radix(text, radix).ok() }
}

/// 512-byte headers, each followed by its content; longer names are in a separate header. Empty blocks end an archive, but
/// options continue behind them, so what follows is read as long as it is well-formed.
fn tar(bytes: &[u8]) -> Option<Vec<Member>> {
    const BLOCK: usize = 512;
    let mut found = Vec::new();
    let mut at = 0;
    let mut ended = false;
    let (mut long, mut target): (Option<String>, Option<String>) = (None, None);
    while let Some(header) = part(bytes, at, BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            ended = true;
            at = at.checked_add(BLOCK)?;
            continue;
        }
        if !is_header(header) {
            return ended.then_some(found);
        }
        if found.len() >= MAX_MEMBERS {
            return None;
        }
        let size = number(part(header, 124, 12)?, 8)?;
        let content = part(bytes, at + BLOCK, size);
        match header.get(156)? {
            b'L' => long = Some(text(content?)),
            b'K' => target = Some(text(content?)),
            b'x' => {
                long = pax(content?, "path=").or(long);
                target = pax(content?, "linkpath=").or(target);
            }
            b'g' => {}
            kind => {
                let name = text(part(header, 0, 100)?);
                let prefix = match part(header, 257, 5)? {
                    b"ustar" => text(part(header, 345, 155)?),
                    _ => String::new(),
                };
                let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
                let target = target.take().unwrap_or(text(part(header, 157, 100)?));
                let link = match kind {
                    b'1' => Some(Link::Hard(target)),
                    b'2' => Some(Link::Symbolic(target)),
                    _ => None,
                };
                found.push(Member { name: long.take().unwrap_or(name), link });
            }
        }
        // A link has no content, whatever its header says.
        let size = if matches!(header.get(156)?, b'1' | b'2') { 0 } else { size };
        at = at.checked_add(BLOCK)?.checked_add(size.div_ceil(BLOCK).checked_mul(BLOCK)?)?;
    }
    // A stream may end without the two empty blocks, never inside a member.
    (ended || at >= bytes.len() && !found.is_empty()).then_some(found)
}

/// Whether the checksum of a header is right.
fn is_header(header: &[u8]) -> bool {
    let byte =
        |(index, byte): (usize, &u8)| if (148..156).contains(&index) { 32 } else { usize::from(*byte) };
    let sum: usize = header.iter().enumerate().map(byte).sum();
    part(header, 148, 8).and_then(|digits| number(digits, 8)) == Some(sum)
}

/// The value of a key in an extended header: lines of `length key=value`.
fn pax(content: &[u8], key: &str) -> Option<String> {
    String::from_utf8_lossy(content)
        .lines()
        .find_map(|line| line.split_once(' ')?.1.strip_prefix(key).map(str::to_owned))
}

/// The directory at the end of the file. Its place counts from there: a program may precede the archive.
fn zip(bytes: &[u8]) -> Option<Vec<Member>> {
    let from = bytes.len().saturating_sub(22 + 65_535);
    let end = bytes.get(from..)?.windows(4).rposition(|window| window == b"PK\x05\x06")? + from;
    let little = |at: usize, length: usize| {
        part(bytes, at, length)
            .map(|part| part.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
    };
    let (count, size, offset) = (little(end + 10, 2)?, little(end + 12, 4)?, little(end + 16, 4)?);
    let is_entry = |at: usize| part(bytes, at, 4) == Some(b"PK\x01\x02");
    let counted = end.checked_sub(size).filter(|at| is_entry(*at));
    let mut at = counted.unwrap_or(offset);
    let shift = at.saturating_sub(offset);
    if count >= MAX_MEMBERS {
        return None;
    }
    let mut found = Vec::with_capacity(count);
    for _ in 0..count {
        if !is_entry(at) {
            return None;
        }
        let name = part(bytes, at + 46, little(at + 28, 2)?)?;
        let name = String::from_utf8_lossy(name).replace('\\', "/");
        let by_unix = little(at + 5, 1)? == 3;
        let is_link = by_unix && little(at + 40, 2)? & 0o170_000 == 0o120_000;
        let link = match is_link {
            true => {
                let local = little(at + 42, 4)?.checked_add(shift)?;
                let start = local + 30 + little(local + 26, 2)? + little(local + 28, 2)?;
                let packed = part(bytes, start, little(at + 20, 4)?)?;
                Some(Link::Symbolic(if little(at + 10, 2)? == 0 { text(packed) } else { inflated(packed)? }))
            }
            false => None,
        };
        found.push(Member { name, link });
        at += 46 + little(at + 28, 2)? + little(at + 30, 2)? + little(at + 32, 2)?;
    }
    Some(found)
}

/// A short compressed text.
fn inflated(packed: &[u8]) -> Option<String> {
    let mut plain = Vec::new();
    flate2::read::DeflateDecoder::new(packed).take(MAX_TARGET).read_to_end(&mut plain).ok()?;
    Some(text(&plain))
}

/// 60-byte headers; longer names are in a separate table (`//`). The files of a package are in an archive of their own.
fn ar(bytes: &[u8]) -> Option<Vec<Member>> {
    let mut found = Vec::new();
    let mut table = String::new();
    let mut at = 8;
    while let Some(header) = part(bytes, at, 60) {
        let size = number(part(header, 48, 10)?, 10)?;
        let name = text(part(header, 0, 16)?).trim_end().to_owned();
        match name.as_str() {
            "//" => table = text(part(bytes, at + 60, size)?),
            "/" | "/SYM64/" => {}
            name => {
                let name = match name.strip_prefix('/').and_then(|offset| offset.parse::<usize>().ok()) {
                    Some(offset) => table.get(offset..)?.split('/').next()?.to_owned(),
                    None => name.trim_end_matches('/').to_owned(),
                };
                if name.starts_with("data.tar") {
                    found.extend(members(part(bytes, at + 60, size)?)?);
                }
                found.push(Member::file(name));
            }
        }
        if found.len() >= MAX_MEMBERS {
            return None;
        }
        at = at.checked_add(60)?.checked_add(size)?.checked_next_multiple_of(2)?;
    }
    Some(found)
}

fn cpio_newc(bytes: &[u8]) -> Option<Vec<Member>> {
    let mut found = Vec::new();
    let mut at: usize = 0;
    while let Some(header) = part(bytes, at, 110) {
        let (size, length) = (number(part(header, 54, 8)?, 16)?, number(part(header, 94, 8)?, 16)?);
        let name = text(part(bytes, at + 110, length)?);
        if name == "TRAILER!!!" {
            return Some(found);
        }
        if found.len() >= MAX_MEMBERS {
            return None;
        }
        let content = at.checked_add(110)?.checked_add(length)?.checked_next_multiple_of(4)?;
        let link = cpio_link(number(part(header, 14, 8)?, 16)?, part(bytes, content, size));
        found.push(Member { name, link });
        at = content.checked_add(size)?.checked_next_multiple_of(4)?;
    }
    None
}

fn cpio_odc(bytes: &[u8]) -> Option<Vec<Member>> {
    let mut found = Vec::new();
    let mut at: usize = 0;
    while let Some(header) = part(bytes, at, 76) {
        let (length, size) = (number(part(header, 59, 6)?, 8)?, number(part(header, 65, 11)?, 8)?);
        let name = text(part(bytes, at + 76, length)?);
        if name == "TRAILER!!!" {
            return Some(found);
        }
        if found.len() >= MAX_MEMBERS {
            return None;
        }
        let content = at.checked_add(76)?.checked_add(length)?;
        let link = cpio_link(number(part(header, 18, 6)?, 8)?, part(bytes, content, size));
        found.push(Member { name, link });
        at = content.checked_add(size)?;
    }
    None
}

/// The content of a symbolic link is its target.
fn cpio_link(mode: usize, content: Option<&[u8]>) -> Option<Link> {
    (mode & 0o170_000 == 0o120_000).then(|| Link::Symbolic(content.map(text).unwrap_or_default()))
}

#[cfg(test)]
mod tests;
