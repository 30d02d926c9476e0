//! The names inside archives, read without unpacking them.
//!
//! Supported are tar (plain and gzip), zip and its variants (jar, whl), ar and cpio (newc, odc). Other, too large
//! or damaged files have no known names.

use std::io::Read as _;

use crate::observer::Observer;

/// The largest archive that is read.
const LIMIT: usize = 32 * 1024 * 1024;
/// How much of a compressed one is unpacked to find names.
const UNPACKED: u64 = 128 * 1024 * 1024;
/// The most members that are listed.
const MAX_MEMBERS: usize = 20_000;

/// The names of an archive's members. `None` when they cannot be determined.
pub(crate) fn of(path: &str, observer: &dyn Observer) -> Option<Vec<String>> {
    names(&observer.bytes(path, LIMIT)?)
}

/// Whether a file is an archive, or a compressed one, of a kind whose names are not read.
pub(crate) fn is_closed(path: &str, observer: &dyn Observer) -> bool {
    const STARTS: [&[u8]; 8] = [
        b"\xfd7zXZ\0",
        b"BZh",
        b"\x28\xb5\x2f\xfd",
        b"\x04\x22\x4d\x18",
        b"7z\xbc\xaf\x27\x1c",
        b"Rar!\x1a\x07",
        b"\x5d\0\0",
        b"LZIP",
    ];
    observer.bytes(path, LIMIT).is_some_and(|bytes| STARTS.iter().any(|start| bytes.starts_with(start)))
}

fn names(bytes: &[u8]) -> Option<Vec<String>> {
    match bytes {
        [0x1f, 0x8b, ..] => {
            let mut plain = Vec::new();
            flate2::read::MultiGzDecoder::new(bytes).take(UNPACKED).read_to_end(&mut plain).ok()?;
            if plain.len() as u64 >= UNPACKED { None } else { uncompressed(&plain) }
        }
        _ => uncompressed(bytes),
    }
}

fn uncompressed(bytes: &[u8]) -> Option<Vec<String>> {
    if bytes.starts_with(b"PK") {
        return zip(bytes);
    }
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

/// 512-byte headers, each followed by its content; longer names are in a separate header.
fn tar(bytes: &[u8]) -> Option<Vec<String>> {
    const BLOCK: usize = 512;
    let mut found = Vec::new();
    let mut at = 0;
    let mut long: Option<String> = None;
    while let Some(header) = part(bytes, at, BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            return Some(found);
        }
        let sum: usize = header
            .iter()
            .enumerate()
            .map(|(index, byte)| if (148..156).contains(&index) { 32 } else { usize::from(*byte) })
            .sum();
        if number(part(header, 148, 8)?, 8)? != sum || found.len() >= MAX_MEMBERS {
            return None;
        }
        let size = number(part(header, 124, 12)?, 8)?;
        let content = part(bytes, at + BLOCK, size);
        match header.get(156)? {
            b'L' => long = Some(text(content?)),
            b'x' => long = pax_path(content?).or(long),
            b'g' | b'K' => {}
            _ => {
                let name = text(part(header, 0, 100)?);
                let prefix = match part(header, 257, 5)? {
                    b"ustar" => text(part(header, 345, 155)?),
                    _ => String::new(),
                };
                let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
                found.push(long.take().unwrap_or(name));
            }
        }
        at = at.checked_add(BLOCK)?.checked_add(size.div_ceil(BLOCK).checked_mul(BLOCK)?)?;
    }
    // A stream may end without the two empty blocks, never inside a member.
    (at >= bytes.len() && !found.is_empty()).then_some(found)
}

/// The `path` of an extended header: lines of `length key=value`.
fn pax_path(content: &[u8]) -> Option<String> {
    String::from_utf8_lossy(content)
        .lines()
        .find_map(|line| line.split_once(' ')?.1.strip_prefix("path=").map(str::to_owned))
}

/// The directory at the end of the file.
fn zip(bytes: &[u8]) -> Option<Vec<String>> {
    let from = bytes.len().saturating_sub(22 + 65_535);
    let end = bytes.get(from..)?.windows(4).rposition(|window| window == b"PK\x05\x06")? + from;
    let little = |at: usize, length: usize| {
        part(bytes, at, length)
            .map(|part| part.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
    };
    let (count, mut at) = (little(end + 10, 2)?, little(end + 16, 4)?);
    if count >= MAX_MEMBERS {
        return None;
    }
    let mut found = Vec::with_capacity(count);
    for _ in 0..count {
        if part(bytes, at, 4)? != b"PK\x01\x02" {
            return None;
        }
        let name = part(bytes, at + 46, little(at + 28, 2)?)?;
        found.push(String::from_utf8_lossy(name).replace('\\', "/"));
        at += 46 + little(at + 28, 2)? + little(at + 30, 2)? + little(at + 32, 2)?;
    }
    Some(found)
}

/// 60-byte headers; longer names are in a separate table (`//`).
fn ar(bytes: &[u8]) -> Option<Vec<String>> {
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
                found.push(match name.strip_prefix('/').and_then(|offset| offset.parse::<usize>().ok()) {
                    Some(offset) => table.get(offset..)?.split('/').next()?.to_owned(),
                    None => name.trim_end_matches('/').to_owned(),
                })
            }
        }
        if found.len() >= MAX_MEMBERS {
            return None;
        }
        at = at.checked_add(60)?.checked_add(size)?.checked_next_multiple_of(2)?;
    }
    Some(found)
}

fn cpio_newc(bytes: &[u8]) -> Option<Vec<String>> {
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
        found.push(name);
        let content = at.checked_add(110)?.checked_add(length)?.checked_next_multiple_of(4)?;
        at = content.checked_add(size)?.checked_next_multiple_of(4)?;
    }
    None
}

fn cpio_odc(bytes: &[u8]) -> Option<Vec<String>> {
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
        found.push(name);
        at = at.checked_add(76)?.checked_add(length)?.checked_add(size)?;
    }
    None
}

#[cfg(test)]
mod tests;
