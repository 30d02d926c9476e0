//! Programs and modules for macOS, which cannot be run here: what the system checks before it starts one.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail, ensure};
use sha2::{Digest as _, Sha256};

use super::number;

/// Libraries that every macOS has. A program that loads another one does not start elsewhere.
const SYSTEM: [&str; 2] = ["/usr/lib/", "/System/Library/Frameworks/"];

/// Kinds of load commands.
const LOADS: [usize; 3] = [0xc, 0x8000_0018, 0x8000_001f];
const SYMBOLS: usize = 0x2;
const DYNAMIC_SYMBOLS: usize = 0xb;
const SIGNATURE: usize = 0x1d;
const BUILD_VERSION: usize = 0x32;

/// The library of a symbol that is looked up in whatever is loaded when it is first used.
const ANY_LIBRARY: usize = 0xfe;

/// What the load commands say.
#[derive(Default)]
struct Loaded {
    libraries: Vec<String>,
    /// Where symbols and their names begin.
    symbols: Option<(usize, usize)>,
    /// Index of the first undefined symbol, and how many there are.
    undefined: (usize, usize),
    signature: Option<usize>,
    /// The oldest macOS that starts it.
    oldest: Option<(usize, usize)>,
}

/// Fails when macOS could not start the program or load the module. Symbols that begin with one of these prefixes may be those
/// of whoever loads it. Says what was checked.
pub(super) fn checked(bytes: &[u8], cpu: &str, given: &[&str]) -> Result<String> {
    ensure!(bytes.starts_with(b"\xcf\xfa\xed\xfe"), "it is not a 64-bit Mach-O file");
    let wanted = if cpu == "arm64" { 0x0100_000c } else { 0x0100_0007 };
    ensure!(number(bytes, 4, 4)? == wanted, "it is for another processor than {cpu}");
    let loaded = read(bytes)?;
    for name in &loaded.libraries {
        ensure!(
            SYSTEM.iter().any(|prefix| name.starts_with(prefix)),
            "it loads `{name}`, which macOS does not have"
        );
    }
    ensure!(!loaded.libraries.is_empty(), "it loads no library of the system, so it is none for macOS");
    let symbols = bound(bytes, &loaded, given)?;
    let (major, minor) = loaded.oldest.context("it does not say which macOS it is for")?;
    let mut said = format!(
        "macOS {major}.{minor} or later, {} libraries of the system, {symbols} symbols bound",
        loaded.libraries.len()
    );
    match loaded.signature {
        Some(at) => write!(said, ", {} pages signed", signed(bytes, at)?)?,
        // Apple's own processors run nothing that is unsigned; a signature without an identity is enough.
        None if cpu == "arm64" => bail!("it is not signed, so that the system would end it"),
        None => said.push_str(", unsigned"),
    }
    Ok(said)
}

fn read(bytes: &[u8]) -> Result<Loaded> {
    let mut loaded = Loaded::default();
    let mut at = 32;
    for _ in 0..number(bytes, 16, 4)? {
        let field = |offset: usize| number(bytes, at + offset, 4);
        let (kind, size) = (field(0)?, field(4)?);
        match kind {
            kind if LOADS.contains(&kind) => loaded.libraries.push(text(bytes, at + field(8)?)?),
            SYMBOLS => loaded.symbols = Some((field(8)?, field(16)?)),
            DYNAMIC_SYMBOLS => loaded.undefined = (field(24)?, field(28)?),
            SIGNATURE => loaded.signature = Some(field(8)?),
            BUILD_VERSION => {
                let oldest = field(12)?;
                loaded.oldest = Some((oldest >> 16, oldest >> 8 & 0xff));
            }
            _ => {}
        }
        at += size.max(8);
    }
    Ok(loaded)
}

fn text(bytes: &[u8], at: usize) -> Result<String> {
    let rest = bytes.get(at..).context("it is cut off")?;
    let name = rest.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(name).into_owned())
}

/// Counts the symbols that others define. Each has to name one of the libraries that are loaded: one that is only looked up
/// when it is used would be found missing then.
fn bound(bytes: &[u8], loaded: &Loaded, given: &[&str]) -> Result<usize> {
    let (symbols, names) = loaded.symbols.context("it has no table of symbols")?;
    let (first, count) = loaded.undefined;
    for index in first..first + count {
        let at = symbols + index * 16;
        let name = text(bytes, names + number(bytes, at, 4)?)?;
        let library = number(bytes, at + 6, 2)? >> 8;
        let is_given = library == ANY_LIBRARY && given.iter().any(|prefix| name.starts_with(prefix));
        let is_bound = (1..=loaded.libraries.len()).contains(&library);
        ensure!(is_bound || is_given, "no library defines `{name}`");
    }
    ensure!(count > 0, "it uses nothing of the system, so it is none for macOS");
    Ok(count)
}

/// Counts the pages whose content has the digest that the signature says. One that differs ends the program.
fn signed(bytes: &[u8], signature: usize) -> Result<usize> {
    const DIRECTORY: usize = 0xfade_0c02;
    const SHA256: usize = 2;
    let big = |at: usize, size: usize| -> Result<usize> {
        let field = bytes.get(at..at + size).context("the signature is cut off")?;
        Ok(field.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
    };
    let mut pages = 0;
    for index in 0..big(signature + 8, 4)? {
        let at = signature + big(signature + 12 + index * 8 + 4, 4)?;
        if big(at, 4)? != DIRECTORY || big(at + 37, 1)? != SHA256 {
            continue;
        }
        let (digests, count, end) = (at + big(at + 16, 4)?, big(at + 28, 4)?, big(at + 32, 4)?);
        let page = 1_usize << big(at + 39, 1)?;
        for number in 0..count {
            let content =
                bytes.get(number * page..end.min((number + 1) * page)).context("a page is missing")?;
            let digest = bytes.get(digests + number * 32..digests + (number + 1) * 32);
            ensure!(
                digest == Some(&Sha256::digest(content)[..]),
                "page {number} is not the one that was signed"
            );
            pages += 1;
        }
    }
    ensure!(pages > 0, "its signature covers nothing");
    Ok(pages)
}

#[cfg(test)]
mod tests;
