//! Redaction of secrets. Decisions use the original text; logs and traces get the redacted text.

mod hints;
mod options;
mod secrets;
mod shapes;

pub use secrets::{Secrets, is_secret_name};

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

/// Removes secrets from texts.
pub trait Redact: Send + Sync {
    /// The redacted text; borrowed if nothing was removed.
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str>;

    /// Whether this JSON may contain a secret. `false` only when it certainly does not.
    fn may_redact_json(&self, json: &str) -> bool {
        matches!(self.redact(json), Cow::Owned(_))
    }

    /// The ranges to remove, for redactors that work on ranges. Combined redactors all search the original text:
    /// a removal by one must not hide a secret from another.
    fn places(&self, _text: &str) -> Vec<Range<usize>> {
        Vec::new()
    }
}

/// Removes what any of several redactors would remove.
pub struct AllOf(pub Vec<Arc<dyn Redact>>);

impl Redact for AllOf {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let cut = without(text, self.places(text));
        self.0.iter().fold(cut, |text, redactor| match redactor.redact(&text) {
            Cow::Owned(clean) => Cow::Owned(clean),
            Cow::Borrowed(_) => text,
        })
    }

    fn may_redact_json(&self, json: &str) -> bool {
        self.0.iter().any(|redactor| redactor.may_redact_json(json))
    }

    fn places(&self, text: &str) -> Vec<Range<usize>> {
        self.0.iter().flat_map(|redactor| redactor.places(text)).collect()
    }
}

/// Removes what another redactor does, and texts that it removed elsewhere. Facts derived from a command line
/// contain its words without the context that marked one of them as a secret.
pub struct Taken<'a> {
    /// The other redactor.
    pub redactor: &'a dyn Redact,
    /// The removed texts; see [`taken_from`].
    pub texts: &'a [String],
}

/// A shorter text is removed only as a whole word: it may be part of any other word.
const LONG: usize = 6;

impl Redact for Taken<'_> {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.texts.iter().any(|taken| taken == text) {
            return Cow::Owned(REDACTED.to_owned());
        }
        match without(text, self.places(text)) {
            Cow::Borrowed(text) => self.redactor.redact(text),
            Cow::Owned(cut) => Cow::Owned(self.redactor.redact(&cut).into_owned()),
        }
    }

    fn may_redact_json(&self, json: &str) -> bool {
        !self.texts.is_empty() || self.redactor.may_redact_json(json)
    }

    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let long = self.texts.iter().filter(|taken| taken.len() >= LONG);
        let again = long.flat_map(|taken| text.match_indices(taken.as_str()));
        let again = again.map(|(at, taken)| at..at + taken.len());
        again.chain(self.redactor.places(text)).collect()
    }
}

/// The texts that a redactor removes from an agent's payload.
#[must_use]
pub fn taken_from(payload: &Json, redactor: &dyn Redact) -> Vec<String> {
    let mut found = Vec::new();
    collect(payload, redactor, &mut found);
    found.retain(|text| !text.trim().is_empty());
    found.sort();
    found.dedup();
    found
}

fn collect(value: &Json, redactor: &dyn Redact, found: &mut Vec<String>) {
    match value {
        Json::String(text) => {
            let places = redactor.places(text).into_iter();
            found.extend(places.filter_map(|place| text.get(place)).map(str::to_owned));
        }
        Json::Array(items) => {
            let words: Option<Vec<&str>> = items.iter().map(Json::as_str).collect();
            let line = line_of(&words.unwrap_or_default());
            let places = redactor.places(&line).into_iter();
            found.extend(places.filter_map(|place| line.get(place)).map(str::to_owned));
            items.iter().for_each(|item| collect(item, redactor, found));
        }
        Json::Object(map) => {
            let named_so = is_named_as_secret(map);
            for (key, item) in map {
                match item {
                    Json::String(text) if is_secret(key, item, named_so, redactor) => {
                        found.push(text.clone())
                    }
                    _ => {
                        found.extend(second_of_a_pair(key, item, redactor).map(str::to_owned));
                        collect(item, redactor, found);
                    }
                }
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// The text with these ranges replaced by a marker. Ranges may overlap.
#[must_use]
pub fn without(text: &str, mut places: Vec<Range<usize>>) -> Cow<'_, str> {
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    places.sort_by_key(|place| place.start);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for Range { start, end } in joined(places) {
        out.push_str(text.get(done..start).unwrap_or_default());
        out.push_str(REDACTED);
        done = end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// Sorted ranges without overlaps.
fn joined(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// The marker that replaces a secret.
pub const REDACTED: &str = "[redacted]";

/// The same value with every text in it redacted; `None` when nothing was removed. A value that cannot be parsed
/// back from its own JSON is an error, so that it is not written.
///
/// # Errors
/// When the value has no JSON form that can be read back.
pub fn value<T>(value: &T, redactor: &dyn Redact) -> serde_json::Result<Option<T>>
where
    T: Serialize + DeserializeOwned,
{
    let text = serde_json::to_string(value)?;
    if !redactor.may_redact_json(&text) {
        return Ok(None);
    }
    let mut tree = serde_json::to_value(value)?;
    json(&mut tree, redactor);
    serde_json::from_value(tree).map(Some)
}

/// Redacts a text in place.
pub fn text(text: &mut String, redactor: &dyn Redact) {
    if let Cow::Owned(clean) = redactor.redact(text) {
        *text = clean;
    }
}

/// Redacts every text in a JSON value, including keys, because an agent may choose them.
///
/// The fields that identify a record are kept: digests, ids and the session. Below `payload`, where the agent
/// controls every field, nothing is exempt.
pub fn json(value: &mut Json, redactor: &dyn Redact) {
    walk(value, redactor, true);
}

/// Keys whose value is a digest or an id.
const IDS: [&str; 5] = ["action", "policy", "id", "content", "parent"];

fn finds_a_record(key: &str, item: &Json) -> bool {
    let is_hex = |text: &str| {
        matches!(text.len(), 12 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    match item {
        Json::Object(_) => matches!(key, "session" | "parent"),
        Json::String(text) => IDS.contains(&key) && is_hex(text),
        _ => false,
    }
}

/// Additional names of fields that hold a secret.
const FIELDS: [&str; 13] = [
    "pass",
    "pwd",
    "pw",
    "cookie",
    "bearer",
    "otp",
    "jwt",
    "pin",
    "sshkey",
    "ssh_key",
    "ssh-key",
    "sessioncookie",
    "session_cookie",
];

/// Names of fields with a user and a password.
const PAIR_FIELDS: [&str; 3] = ["auth", "basicauth", "basic_auth"];

/// Whether a field name indicates a secret. `pwd` may be a directory.
fn is_secret_field(key: &str, item: &Json) -> bool {
    let is_path = || item.as_str().is_some_and(|text| text.starts_with(['/', '~', '.']));
    is_secret_name(key) || FIELDS.iter().any(|name| key.eq_ignore_ascii_case(name)) && !is_path()
}

/// Whether a field of an object holds a secret, by its own name or by the object's `name` field.
fn is_secret(key: &str, item: &Json, named_so: bool, redactor: &dyn Redact) -> bool {
    (is_secret_field(key, item) || named_so && (key == VALUE || key == TYPED)) && holds_text(item, redactor)
}

/// The field beside the name, in lists of variables and headers: `{"name": "TOKEN", "value": "x"}`.
const VALUE: &str = "value";
/// The field with text that is typed into a form.
const TYPED: &str = "text";

/// The keys of the name in such an object: of a variable, of a header, of a field on a page.
const NAMED_BY: [&str; 5] = ["name", "key", "element", "label", "field"];

fn is_named_as_secret(map: &Map<String, Json>) -> bool {
    let name = NAMED_BY.iter().find_map(|key| map.get(*key)).and_then(Json::as_str);
    (map.contains_key(VALUE) || map.contains_key(TYPED))
        && name.is_some_and(|name| is_secret_name(name) || name.eq_ignore_ascii_case("cookie"))
}

/// Whether a field with a secret's name contains text to redact, if the redactor knows such names.
fn holds_text(item: &Json, redactor: &dyn Redact) -> bool {
    let text = match item {
        Json::String(text) if !text.is_empty() && !text.starts_with('$') => text.clone(),
        Json::Number(number) => number.to_string(),
        _ => return false,
    };
    let named = format!("{{\"password\":\"{}\"}}", text.replace(['"', '\\'], "_"));
    matches!(redactor.redact(&named), Cow::Owned(_))
}

/// A single word of a command has less context than the line, so what is removed from the line is also removed
/// from its words.
fn words_of_a_command(map: &mut Map<String, Json>, redactor: &dyn Redact) {
    let Some(program) = map.get("program").and_then(Json::as_str) else { return };
    let Some(args) = map.get("args").and_then(Json::as_array) else { return };
    let words = std::iter::once(program).chain(args.iter().filter_map(Json::as_str));
    let line = words.collect::<Vec<_>>().join(" ");
    let Cow::Owned(clean) = redactor.redact(&line) else { return };
    for key in ["args", "words"] {
        let items = map.get_mut(key).and_then(Json::as_array_mut).into_iter().flatten();
        for item in items {
            if item.as_str().is_some_and(|word| !clean.contains(word)) {
                *item = Json::String(REDACTED.to_owned());
            }
        }
    }
}

/// The command line of an unknown program with these words.
fn line_of(words: &[&str]) -> String {
    format!("run {}", words.join(" "))
}

/// A list of words from an agent is treated as a command line: `["--token", "x"]`.
fn words_of_a_list(items: &mut [Json], redactor: &dyn Redact) {
    let words: Option<Vec<&str>> = items.iter().map(Json::as_str).collect();
    let Some(line) = words.filter(|words| words.len() > 1).map(|words| line_of(&words)) else { return };
    let Cow::Owned(clean) = redactor.redact(&line) else { return };
    for item in items {
        if item.as_str().is_some_and(|word| !clean.contains(word)) {
            *item = Json::String(REDACTED.to_owned());
        }
    }
}

/// `{"auth": ["user", "x"]}`: the second item of a login pair.
fn second_of_a_pair<'a>(key: &str, item: &'a Json, redactor: &dyn Redact) -> Option<&'a str> {
    let logs_in = PAIR_FIELDS.iter().any(|name| key.eq_ignore_ascii_case(name));
    match item.as_array().filter(|_| logs_in).map(Vec::as_slice) {
        Some([Json::String(_), secret]) if holds_text(secret, redactor) => secret.as_str(),
        _ => None,
    }
}

fn walk(value: &mut Json, redactor: &dyn Redact, ours: bool) {
    match value {
        Json::String(held) => text(held, redactor),
        Json::Array(items) => {
            if !ours {
                words_of_a_list(items, redactor);
            }
            items.iter_mut().for_each(|item| walk(item, redactor, ours));
        }
        Json::Object(map) => {
            words_of_a_command(map, redactor);
            let secret: Vec<String> =
                map.keys().filter(|key| matches!(redactor.redact(key), Cow::Owned(_))).cloned().collect();
            for key in secret {
                if let Some(item) = map.remove(&key) {
                    map.insert(redactor.redact(&key).into_owned(), item);
                }
            }
            let named_so = !ours && is_named_as_secret(map);
            for (key, item) in map.iter_mut().filter(|(key, item)| !ours || !finds_a_record(key, item)) {
                // A field is judged by its name too: `{"password": "x"}`.
                if !ours && is_secret(key, item, named_so, redactor) {
                    *item = Json::String(REDACTED.to_owned());
                }
                if !ours && let Some(secret) = second_of_a_pair(key, item, redactor).map(str::to_owned) {
                    let held = item.as_array_mut().into_iter().flatten();
                    held.filter(|held| **held == secret)
                        .for_each(|held| *held = Json::String(REDACTED.to_owned()));
                }
                walk(item, redactor, ours && key != "payload");
            }
        }
        // Numbers from Lictor are not secrets; numbers from an agent may be.
        Json::Number(number) if !ours => {
            if let Cow::Owned(clean) = redactor.redact(&number.to_string()) {
                *value = Json::String(clean);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

#[cfg(test)]
mod tests;
