use std::borrow::Cow;
use std::ops::Range;

use super::hints::Hints;
use super::options::{self, Form};
use super::{FIELDS, PAIR_FIELDS, Redact, shapes, without};

/// Removes what looks like a credential: well-known token formats, private keys, passwords in URLs, and values
/// that are assigned to a name like `password` or `api_key`.
///
/// A heuristic. It keeps secrets out of logs as far as possible; it does not find all of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Secrets;

/// Vendors' token prefixes, and the minimum length of the token after the prefix.
pub(super) const TOKENS: &[(&str, usize)] = &[
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("sk-", 20),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxs-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 30),
    ("eyJ", 40),
];

/// No token with its prefix is shorter.
const SHORTEST_TOKEN: usize = 15;

/// Suffixes of secrets' names, lower case.
pub(super) const NAMES: &[&str] = &[
    "password",
    "passwd",
    "secret",
    "secrets",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "private_key",
    "secret_key",
    "secret_key_base",
    "credentials",
    "authorization",
    "passphrase",
    "_pwd",
    "_pass",
    "secretkey",
    "accesskey",
    "privatekey",
    "auth_key",
    "authkey",
    "encryption_key",
    "encryptionkey",
    "signing_key",
    "signingkey",
    "secret-key",
    "access-key",
    "private-key",
    "account_key",
    "account-key",
    "accountkey",
    "storepass",
    "keypass",
    "sshpass",
    "requirepass",
];

/// Shorter values are not redacted: `token=1`, `password=$PW`.
const MIN_ASSIGNED: usize = 6;

pub(super) const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_ENDS: &str = "PRIVATE KEY-----";

impl Redact for Secrets {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        without(text, self.places(text))
    }

    fn places(&self, text: &str) -> Vec<Range<usize>> {
        find(text, Form::Plain)
    }

    fn may_redact_json(&self, json: &str) -> bool {
        let hints = Hints::of(json);
        !search(json, Form::Json, hints).is_empty() || may_hold_secret_field(json, hints)
    }
}

/// Whether a payload may have a field that holds a secret although its name does not end like one.
fn may_hold_secret_field(json: &str, hints: Hints) -> bool {
    json.contains("\"payload\":")
        && (hints.words && (json.contains("\"value\":") || json.contains("\"text\":"))
            // A list of words.
            || json.contains("[\"") && json.contains("\"-")
            || json.match_indices("\":").any(|(end, _)| {
                let key = json.get(..end).and_then(|front| front.rsplit('"').next()).unwrap_or_default();
                FIELDS.iter().chain(&PAIR_FIELDS).any(|name| key.eq_ignore_ascii_case(name))
            }))
}

/// The ranges of secrets, ordered by start; they may overlap. Linear in the text for each kind.
pub(super) fn find(text: &str, form: Form) -> Vec<Range<usize>> {
    search(text, form, Hints::of(text))
}

/// As [`find`], for the kinds that the hints indicate.
pub(super) fn search(text: &str, form: Form, hints: Hints) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if hints.words || hints.options {
        options::find(text, form, &mut found);
    }
    if hints.words {
        private_keys(text, &mut found);
        shapes::find(text, form, &mut found);
        words(text, &mut found);
    }
    found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    found
}

fn words(text: &str, found: &mut Vec<Range<usize>>) {
    let mut previous: Option<&str> = None;
    let bytes = text.as_bytes();
    let count = |from: usize, of_word: bool| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().position(|byte| is_word(*byte) != of_word).unwrap_or(rest.len())
    };
    let mut end = 0;
    loop {
        let start = end + count(end, false);
        end = start + count(start, true);
        // Words are ASCII, so their ends are character boundaries.
        let word = text.get(start..end).unwrap_or_default();
        if word.is_empty() {
            break;
        }
        judge(text, word, start, previous, found);
        let follows = bytes.get(end);
        if matches!(follows, Some(b'"' | b'\'' | b'\\' | b':' | b'=')) && is_secret_name(word) {
            found.extend(quoted_value(text, end));
        }
        if matches!(follows, Some(b'"' | b'\'' | b'\\' | b'>' | b'\n')) && is_secret_name(word) {
            shapes::valued(text, start, end, found);
        }
        previous = Some(word);
    }
}

fn judge(text: &str, word: &str, at: usize, previous: Option<&str>, found: &mut Vec<Range<usize>>) {
    let whole = at..at + word.len();
    let mut from = at;
    let segments = if word.len() < SHORTEST_TOKEN { "" } else { word };
    for segment in segments.split('/') {
        let is_token = |(prefix, least): &(&str, usize)| {
            segment.strip_prefix(prefix).is_some_and(|rest| rest.len() >= *least)
        };
        if TOKENS.iter().any(is_token) {
            found.push(from..from + segment.len());
        }
        from += segment.len() + 1;
    }
    let before = text.get(..at).unwrap_or_default();
    let is_long_enough = || word.len() >= MIN_ASSIGNED && !before.ends_with('$') && !before.ends_with("${");
    let is_assigned = || before.trim_end_matches(['"', '\'', ' ', '\\']).ends_with([':', '=']);
    let after_scheme = || before.ends_with(' ') && previous.is_some_and(is_scheme);
    let is_named = || previous.is_some_and(is_secret_name) && !is_scheme(word);
    if (after_scheme() || (is_named() && is_assigned()) || is_given_by_short_name(before, word, previous))
        && is_long_enough()
    {
        found.push(whole.clone());
    }
    found.extend(user_of_address(text, word, at));
    // user:password@host
    if text.as_bytes().get(whole.end) == Some(&b'@')
        && let Some(name) = before.strip_suffix(':')
        && name.rsplit("://").next().is_some_and(|user| user.len() < name.len() && !user.contains(['/', ' ']))
    {
        found.push(whole);
    }
}

/// Abbreviated names of secrets that have other meanings too: only a literal value counts.
pub(super) const SHORT_NAMES: [&str; 6] = ["pass", "pwd", "pw", "jwt", "bearer", "otp"];

/// `PASS='x'`, `Pwd=x;`, `pwd: "x"`, `?sig=x`. A path is no secret: `pwd=/home/ann`.
fn is_given_by_short_name(before: &str, word: &str, previous: Option<&str>) -> bool {
    let Some(name) = previous.filter(|_| !word.starts_with(['/', '.', '~'])) else { return false };
    let unquoted = before.trim_end_matches(['"', '\'', '\\']);
    let is_quoted = unquoted.len() < before.len();
    let is_assigned = unquoted.ends_with('=') || is_quoted && unquoted.trim_end().ends_with(':');
    if !is_assigned {
        return false;
    }
    let start = before.rfind(name).unwrap_or_default();
    SHORT_NAMES.iter().any(|short| name.eq_ignore_ascii_case(short))
        || shapes::is_parameter(before, start, name)
}

/// The minimum length of a token in the place of a user name.
const LEAST_USER: usize = 16;

/// `https://TOKEN@host`, `https://TOKEN:x-oauth-basic@host`: user names are not that long with digits.
fn user_of_address(text: &str, word: &str, at: usize) -> Option<Range<usize>> {
    let user = word.strip_prefix("//").filter(|user| user.len() >= LEAST_USER && !user.contains('/'))?;
    let before = text.get(..at)?;
    let rest = text.get(at + word.len()..)?;
    let host = rest.strip_prefix(':').map_or(rest, |rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    });
    let is_user = (before.ends_with("http:") || before.ends_with("https:"))
        && user.bytes().any(|byte| byte.is_ascii_digit())
        && host.starts_with('@');
    is_user.then(|| at + 2..at + word.len())
}

/// The scheme before a credential in a header.
pub(super) const SCHEMES: [&str; 4] = ["Bearer", "Basic", "bearer", "basic"];

fn is_scheme(word: &str) -> bool {
    SCHEMES.contains(&word)
}

/// The quoted value that is assigned to a secret's name left of `from`: `"password": "a b"`, `token='x'`.
fn quoted_value(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let skip = |mut at: usize, of: &[u8]| {
        while bytes.get(at).is_some_and(|byte| of.contains(byte)) {
            at += 1;
        }
        at
    };
    let colon = skip(from, b"\\\"'");
    matches!(bytes.get(colon), Some(b':' | b'=')).then_some(())?;
    let mark = skip(colon + 1, b" ");
    let slashes = skip(mark, b"\\");
    matches!(bytes.get(slashes), Some(b'"' | b'\'')).then_some(())?;
    let begin = slashes + 1;
    let mark = text.get(mark..begin)?;
    let mut end = begin;
    loop {
        end += text.get(end..)?.find(mark)?;
        // A quote with more backslashes before it is part of the value.
        if end == begin || bytes.get(end - 1) != Some(&b'\\') {
            break;
        }
        end += mark.len();
    }
    let value = text.get(begin..end)?;
    let names_a_variable = value.starts_with('$') || value.starts_with("{{");
    (!value.is_empty() && !names_a_variable).then_some(begin..end)
}

/// Whether a variable, field or option of this name holds a secret: `GITHUB_TOKEN`, `db.password`, `TOKEN_PROD`.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    // `…_PROD` and `…_2` say which one.
    ends_as_secret(name)
        || name.rsplit_once('_').is_some_and(|(front, which)| {
            ends_as_secret(front)
                && (PLACES.iter().any(|known| which.eq_ignore_ascii_case(known))
                    || which.bytes().all(|letter| letter.is_ascii_digit()))
        })
}

/// Suffixes that distinguish secrets of one name: `TOKEN_PROD`.
const PLACES: [&str; 6] = ["prod", "production", "staging", "dev", "test", "live"];

/// Called for every word of every record; the last two letters decide nearly all of them.
fn ends_as_secret(name: &str) -> bool {
    let Some([.., one, last]) = name.as_bytes().last_chunk::<2>() else { return false };
    let last_two = [one.to_ascii_lowercase(), last.to_ascii_lowercase()];
    let of_some =
        matches!(&last_two, b"rd" | b"wd" | b"et" | b"ts" | b"en" | b"ey" | b"se" | b"ls" | b"on" | b"ss");
    of_some
        && NAMES.iter().any(|known| {
            let tail = name.len().checked_sub(known.len()).and_then(|from| name.get(from..));
            tail.is_some_and(|tail| tail.eq_ignore_ascii_case(known))
        })
}

#[inline]
fn is_word(byte: u8) -> bool {
    /// One look for each byte of every record.
    const WORD: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0_u8;
        loop {
            let of_word = matches!(byte, b'_' | b'-' | b'.' | b'/' | b'+' | b'~' | b'!' | b'%');
            #[expect(clippy::indexing_slicing, reason = "as many entries as a byte has values")]
            {
                table[byte as usize] = byte.is_ascii_alphanumeric() || of_word;
            }
            if byte == u8::MAX {
                break table;
            }
            byte += 1;
        }
    };
    WORD.get(usize::from(byte)).copied().unwrap_or_default()
}

/// From the first line of a private key to its last, or to the end of the text when that is missing.
fn private_keys(text: &str, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(begin) = text.get(from..).and_then(|rest| rest.find(KEY_BEGINS)).map(|at| from + at) {
        let rest = text.get(begin..).unwrap_or_default();
        let head = rest.lines().next().unwrap_or_default();
        if !head.contains(KEY_ENDS) {
            from = begin + KEY_BEGINS.len();
            continue;
        }
        let body = begin + KEY_BEGINS.len();
        let tail = text.get(body..).unwrap_or_default();
        let end = tail
            .find("-----END ")
            .and_then(|at| tail.get(at..).and_then(|end| end.find(KEY_ENDS)).map(|more| body + at + more))
            .map_or(text.len(), |at| at + KEY_ENDS.len());
        found.push(begin..end);
        from = end;
    }
}
