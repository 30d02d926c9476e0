//! Paths and the URIs that SARIF writes them as.

use std::collections::HashMap;
use std::path::Path;

/// Percent-encodes a path. `/` and a drive's colon stay.
pub(super) fn encode(path: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(path.len());
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Undoes percent-encoding. A `%` that starts no code stays as it is.
pub(super) fn decode(uri: &str) -> String {
    let mut bytes = uri.bytes();
    let mut out = Vec::with_capacity(uri.len());
    while let Some(byte) = bytes.next() {
        let rest = bytes.clone();
        let code = (byte == b'%').then(|| (bytes.next().and_then(digit), bytes.next().and_then(digit)));
        match code {
            Some((Some(high), Some(low))) => out.push(high << 4 | low),
            _ => {
                out.push(byte);
                bytes = rest;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// The path of a URI: relative to `root` when it is inside.
pub(super) fn path(
    uri: &str,
    base: Option<&str>,
    bases: &HashMap<String, (String, Option<String>)>,
    root: Option<&Path>,
) -> String {
    let relative = decode(uri.strip_prefix("file://").unwrap_or(uri));
    if uri.contains("://") && !uri.starts_with("file://") {
        return uri.to_owned();
    }
    let mut full = relative.clone();
    let mut base = base;
    // A cyclic chain of bases must end.
    for _ in 0..16 {
        let Some((prefix, next)) = base.and_then(|name| bases.get(name)) else { break };
        full = format!("{}{full}", decode(prefix.strip_prefix("file://").unwrap_or(prefix)));
        base = next.as_deref();
    }
    let inside = root.and_then(|root| Path::new(&full).strip_prefix(root).ok()).and_then(Path::to_str);
    match inside {
        Some(inside) => inside.to_owned(),
        // `/C:/x` is a drive in a URI.
        None => match relative.as_bytes() {
            [b'/', letter, b':', ..] if letter.is_ascii_alphabetic() => relative.chars().skip(1).collect(),
            _ => relative,
        },
    }
}
