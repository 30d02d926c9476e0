//! Keeping secrets out of what is written down. Decisions are made on the real text; logs and traces get this one.

mod hints;
mod options;
mod secrets;

pub use secrets::{Secrets, is_secret_name};

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

/// Takes what must not be written down out of a text.
pub trait Redact: Send + Sync {
    /// The text without it; borrowed when there was nothing to take out.
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str>;

    /// Whether some text inside this JSON may have to be taken out. `false` only when it is certain that none has.
    fn may_redact_json(&self, json: &str) -> bool {
        matches!(self.redact(json), Cow::Owned(_))
    }

    /// The places of what has to be taken out, for a redactor that finds it by place. Several redactors together find
    /// their places in the same text: what one takes out must not hide the rest from another.
    fn places(&self, _text: &str) -> Vec<Range<usize>> {
        Vec::new()
    }
}

/// Takes out what any of several redactors would take out.
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

/// Takes out what another redactor does, and texts that it took out of something else: what is worked out from a command
/// line holds its words without what told that one of them is a secret.
pub struct Taken<'a> {
    /// The other redactor.
    pub redactor: &'a dyn Redact,
    /// What it took out; see [`taken_from`].
    pub texts: &'a [String],
}

/// A shorter text is taken out only where it stands alone: it may be part of any word.
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

/// The texts that a redactor takes out of what an agent hands over.
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
        Json::Array(items) => items.iter().for_each(|item| collect(item, redactor, found)),
        Json::Object(map) => {
            let named_so = is_named_as_secret(map);
            for (key, item) in map {
                match item {
                    Json::String(text) if is_secret(key, item, named_so, redactor) => {
                        found.push(text.clone())
                    }
                    _ => collect(item, redactor, found),
                }
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// The text with a mark in place of these parts, which may overlap.
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

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";

/// The same value with every text in it redacted; `None` when there was nothing to take out. What does not come back
/// from its own JSON is not written down at all: that is an error.
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

/// Redacts a text where it stands.
pub fn text(text: &mut String, redactor: &dyn Redact) {
    if let Cow::Owned(clean) = redactor.redact(text) {
        *text = clean;
    }
}

/// Redacts every text in a JSON value, keys included: whoever can choose a key could hide something in it.
///
/// What a record is found by stays: digests, ids and the session. Below `payload`, where the agent chooses every word,
/// nothing does.
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

/// Names of fields that hold a secret, beside those that have the name of one.
const FIELDS: [&str; 4] = ["pass", "pwd", "pw", "cookie"];

/// Whether a field has the name of a secret. `pwd` may be a directory.
fn is_secret_field(key: &str, item: &Json) -> bool {
    let is_path = || item.as_str().is_some_and(|text| text.starts_with(['/', '~', '.']));
    is_secret_name(key) || FIELDS.iter().any(|name| key.eq_ignore_ascii_case(name)) && !is_path()
}

/// Whether a field of an object holds a secret, by its own name or by the one that the object gives its value.
fn is_secret(key: &str, item: &Json, named_so: bool, redactor: &dyn Redact) -> bool {
    (is_secret_field(key, item) || named_so && key == VALUE) && holds_text(item, redactor)
}

/// The field beside the name, in lists of variables and headers: `{"name": "TOKEN", "value": "x"}`.
const VALUE: &str = "value";

fn is_named_as_secret(map: &Map<String, Json>) -> bool {
    let name = ["name", "key"].iter().find_map(|key| map.get(*key)).and_then(Json::as_str);
    map.contains_key(VALUE)
        && name.is_some_and(|name| is_secret_name(name) || name.eq_ignore_ascii_case("cookie"))
}

/// Whether a field with the name of a secret holds one: under a redactor that knows such names.
fn holds_text(item: &Json, redactor: &dyn Redact) -> bool {
    let text = match item {
        Json::String(text) if !text.is_empty() && !text.starts_with('$') => text.clone(),
        Json::Number(number) => number.to_string(),
        _ => return false,
    };
    let named = format!("{{\"password\":\"{}\"}}", text.replace(['"', '\\'], "_"));
    matches!(redactor.redact(&named), Cow::Owned(_))
}

/// The words of a command, each for itself, say less than the line: what is taken out of that is taken out of them.
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

fn walk(value: &mut Json, redactor: &dyn Redact, ours: bool) {
    match value {
        Json::String(held) => text(held, redactor),
        Json::Array(items) => items.iter_mut().for_each(|item| walk(item, redactor, ours)),
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
                walk(item, redactor, ours && key != "payload");
            }
        }
        // What Lictor counts is not a secret; what an agent hands on may be.
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
