//! Plain values as YAML text and back, for files that people review and share.

use serde_json::{Map, Value};

use crate::diagnostic::Diagnostic;
use crate::yaml::{Tree, Yaml, parse};

/// Parses a file into plain values: maps, lists, text, numbers, booleans, null.
///
/// # Errors
/// Where it is not plain YAML.
pub fn read_plain(file: &str, bytes: &[u8]) -> Result<Value, Vec<Diagnostic>> {
    parse(file, bytes).map(|tree| value(&tree))
}

fn value(tree: &Tree) -> Value {
    match &tree.value {
        Yaml::List(items) => items.iter().map(value).collect(),
        Yaml::Map(entries) => {
            let fields = entries.iter().map(|(key, tree)| (key.text.clone(), value(tree)));
            Value::Object(fields.collect::<Map<String, Value>>())
        }
        Yaml::Scalar { text, quoted: true } => Value::String(text.clone()),
        Yaml::Scalar { text, quoted: false } => match text.as_str() {
            "" | "~" => Value::Null,
            _ => serde_json::from_str(text)
                .ok()
                .filter(|value: &Value| !value.is_string())
                .unwrap_or_else(|| Value::String(text.clone())),
        },
    }
}

/// The text of a value, one entry a line.
#[must_use]
pub fn write_plain(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text
}

fn write(value: &Value, indent: usize, text: &mut String) {
    let pad = " ".repeat(indent);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                text.push_str(&format!("{pad}{}:", key_text(key)));
                below(value, indent + 2, text);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                // The first line of the item follows the dash.
                let mut inner = String::new();
                write(item, indent + 2, &mut inner);
                text.push_str(&format!("{pad}- {}", inner.trim_start_matches(' ')));
            }
        }
        // JSON scalars and empty containers are valid YAML.
        other => text.push_str(&format!("{pad}{other}\n")),
    }
}

fn below(value: &Value, indent: usize, text: &mut String) {
    let filled = match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if filled {
        text.push('\n');
        write(value, indent, text);
    } else {
        text.push_str(&format!(" {value}\n"));
    }
}

fn key_text(key: &str) -> String {
    let plain = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
        && serde_json::from_str::<Value>(key).is_err();
    if plain { key.to_owned() } else { Value::String(key.to_owned()).to_string() }
}

#[cfg(test)]
mod tests;
