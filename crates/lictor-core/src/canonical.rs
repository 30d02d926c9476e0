//! Canonical JSON: object keys sorted by bytes, no insignificant white space.

use serde_json::{Map, Value};

/// The canonical bytes of a JSON value. Two values have the same bytes exactly when they are equal as JSON,
/// with numbers compared by their shortest text.
#[must_use]
pub fn bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    write(value, &mut out);
    out
}

/// The canonical bytes of a JSON object.
#[must_use]
pub fn object_bytes(map: &Map<String, Value>) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    object(map, &mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Object(map) => object(map, out),
        other => scalar(other, out),
    }
}

fn object(map: &Map<String, Value>, out: &mut Vec<u8>) {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
    out.push(b'{');
    for (index, (key, item)) in entries.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        text(key, out);
        out.push(b':');
        write(item, out);
    }
    out.push(b'}');
}

/// Appends a JSON string. Writing to memory cannot fail, and every text has a JSON form.
fn text(value: &str, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out, value);
}

fn scalar(value: &Value, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out, value);
}
