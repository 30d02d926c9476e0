//! Compression of record bodies in the SQLite file. Bodies repeat the same words.
//!
//! LZ4 with a dictionary of common record text. A dictionary is part of the format: it never changes, and a
//! better one gets another number.

/// Common record text, the most frequent last: near matches are cheaper.
const FIRST: &[u8] = include_bytes!("pack/dictionary-1.txt");
const FIRST_NUMBER: u8 = 1;

/// Shorter bodies are not compressed.
const LEAST: usize = 128;
/// LZ4 cannot make more than this of one byte.
const MOST_RATIO: usize = 255;

/// The compressed body; `None` when compression does not help.
pub(crate) fn pack(body: &str) -> Option<Vec<u8>> {
    if body.len() < LEAST {
        return None;
    }
    let length = u32::try_from(body.len()).ok()?;
    let packed = lz4_flex::block::compress_with_dict(body.as_bytes(), FIRST);
    let all = [&[FIRST_NUMBER], length.to_le_bytes().as_slice(), &packed].concat();
    (all.len() < body.len()).then_some(all)
}

/// The uncompressed body; `None` when the bytes did not come from [`pack`].
pub(crate) fn unpack(packed: &[u8]) -> Option<String> {
    let (number, rest) = packed.split_first()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    if *number != FIRST_NUMBER || length > rest.len().saturating_add(1).saturating_mul(MOST_RATIO) {
        return None;
    }
    let body = lz4_flex::block::decompress_with_dict(rest, length, FIRST).ok()?;
    String::from_utf8(body).ok().filter(|body| body.len() == length)
}

#[cfg(test)]
mod tests;
