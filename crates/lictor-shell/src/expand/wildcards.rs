//! Patterns for names in a form that every reader of them knows: `*`, `?` and plain brackets.

use std::borrow::Cow;

#[cfg(test)]
mod tests;

/// The pattern with classes (`[[:alpha:]]`) and extended groups (`@(a|b)`) replaced by wildcards that fit at least as
/// much.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains('(') && !text.contains("[:") && !text.contains("[=") && !text.contains("[.") {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '[' => bracket(rest).inspect(|_| out.push('?')),
            '@' | '+' | '?' | '*' | '!' => group(rest).inspect(|_| out.push('*')),
            _ => None,
        };
        let length = length.unwrap_or_else(|| {
            out.push(first);
            first.len_utf8()
        });
        rest = rest.get(length..).unwrap_or_default();
    }
    out.into()
}

/// The length of a bracket at the start that holds a class; `None` for others, which are plain already.
fn bracket(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    let mut named = false;
    if matches!(bytes.get(at), Some(b'!' | b'^')) {
        at += 1;
    }
    // A bracket that is closed at once stands for itself.
    if bytes.get(at) == Some(&b']') {
        at += 1;
    }
    loop {
        match (bytes.get(at)?, bytes.get(at + 1)) {
            (b']', _) => return named.then_some(at + 1),
            (b'[', Some(kind @ (b':' | b'=' | b'.'))) => {
                let end = [*kind, b']'];
                let inner = bytes.get(at + 2..)?;
                at += 2 + inner.windows(2).position(|pair| pair == end)? + 2;
                named = true;
            }
            _ => at += 1,
        }
    }
}

/// The length of an extended group at the start: an operator and what its parentheses enclose.
fn group(text: &str) -> Option<usize> {
    let inner = text.get(1..).filter(|inner| inner.starts_with('('))?;
    let mut depth = 0_usize;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 2);
        }
    }
    None
}
