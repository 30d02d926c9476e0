//! HTTP headers that repeat parts of a message. Intermediaries use them for decisions, so they must match the
//! message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::message::{Message, VERSION};

const OPENING: &str = "=?base64?";
const CLOSING: &str = "?=";
/// The prefix of the header of a tool's argument.
pub const PARAM: &str = "mcp-param-";
/// The key by which a definition asks for a header.
const ASKED: &str = "x-mcp-header";
/// Integers beyond this are not the same everywhere.
const LARGEST: i64 = (1 << 53) - 1;

/// An argument that is repeated in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Argument {
    path: Vec<String>,
    /// In lower case.
    header: String,
}

/// The arguments that a definition wants in headers; nothing when it asks for that in a way that is not allowed.
pub(crate) fn declared(item: &Value) -> Option<Vec<Argument>> {
    let mut found: Vec<Argument> = Vec::new();
    let schema = item.get("inputSchema").and_then(Value::as_object);
    let good = schema.is_none_or(|schema| walk(schema, &mut Vec::new(), &mut found));
    let once = found
        .iter()
        .enumerate()
        .all(|(at, one)| found.iter().position(|other| other.header == one.header) == Some(at));
    (good && once).then_some(found)
}

fn walk(schema: &Map<String, Value>, path: &mut Vec<String>, found: &mut Vec<Argument>) -> bool {
    for (key, value) in schema {
        let good = match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => properties.iter().all(|(name, property)| {
                let Value::Object(property) = property else { return true };
                path.push(name.clone());
                let good = walk(property, path, found);
                path.pop();
                good
            }),
            (ASKED, Value::String(name)) => {
                found
                    .push(Argument { path: path.clone(), header: format!("{PARAM}{}", name.to_lowercase()) });
                !path.is_empty() && is_token(name) && is_simple(schema)
            }
            (ASKED, _) => false,
            (_, value) => !mentions(value),
        };
        if !good {
            return false;
        }
    }
    true
}

fn is_token(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(allowed)
}

fn is_simple(schema: &Map<String, Value>) -> bool {
    matches!(schema.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean"))
}

/// Whether a header is asked for where none can be read.
fn mentions(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.contains_key(ASKED) || fields.values().any(mentions),
        Value::Array(items) => items.iter().any(mentions),
        _ => false,
    }
}

/// The headers that a call with these arguments has.
pub(crate) fn of_arguments(declared: &[Argument], arguments: &Map<String, Value>) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    for argument in declared {
        let mut value = None;
        let mut fields = Some(arguments);
        for name in &argument.path {
            value = fields.and_then(|fields| fields.get(name));
            fields = value.and_then(Value::as_object);
        }
        let text = match value {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(yes)) => yes.to_string(),
            Some(Value::Number(number)) => match number.as_i64() {
                Some(whole) if whole.abs() <= LARGEST => whole.to_string(),
                _ => continue,
            },
            _ => continue,
        };
        headers.push((argument.header.clone(), encoded(&text)));
    }
    headers
}

/// Whether a client's argument headers match the arguments. Undeclared headers are ignored.
pub(crate) fn agree(
    declared: &[Argument],
    arguments: &Map<String, Value>,
    sent: &[(String, String)],
) -> Result<(), String> {
    let due = of_arguments(declared, arguments);
    for argument in declared {
        let name = &argument.header;
        let due = due.iter().find(|(header, _)| header == name).and_then(|(_, value)| decoded(value));
        let mut values = sent.iter().filter(|(header, _)| header == name).map(|(_, value)| value);
        let (first, more) = (values.next(), values.next());
        let agrees = match (&due, first, more) {
            (None, None, None) => true,
            (Some(due), Some(sent), None) => decoded(sent).is_some_and(|sent| same(due, &sent)),
            _ => false,
        };
        if !agrees {
            return Err(format!("the header `{name}` does not say what the argument says"));
        }
    }
    Ok(())
}

/// `42.0` and `42` are one number.
fn same(due: &str, sent: &str) -> bool {
    due == sent
        || matches!((due.parse::<i64>(), sent.parse::<f64>()), (Ok(due), Ok(sent)) if due as f64 == sent)
}

/// Whether the headers of a request match its body. `header` returns each header that occurs once.
///
/// # Errors
/// With what does not agree.
pub fn check<'a>(message: &Message, header: impl Fn(&str) -> Option<&'a str>) -> Result<(), String> {
    check_sent(message, |_| true, header)
}

/// The same for the headers that are there, where none is required. `sent` is whether a header occurs at all.
///
/// # Errors
/// With what does not agree.
pub fn check_sent<'a>(
    message: &Message,
    sent: impl Fn(&str) -> bool,
    header: impl Fn(&str) -> Option<&'a str>,
) -> Result<(), String> {
    let body = [
        ("mcp-protocol-version", message.meta(VERSION).and_then(Value::as_str)),
        ("mcp-method", message.method()),
        ("mcp-name", named(message)),
    ];
    for (name, body) in body {
        let Some(body) = body.filter(|_| sent(name)) else { continue };
        let agrees = header(name).is_some_and(|sent| match name {
            "mcp-name" => decoded(sent).is_some_and(|sent| sent == body),
            _ => sent == body,
        });
        if !agrees {
            return Err(format!("the header `{name}` does not say what the body says"));
        }
    }
    Ok(())
}

/// The headers that a request has.
#[must_use]
pub fn headers(message: &Message) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    let version = message.meta(VERSION).and_then(Value::as_str);
    let Some(version) = version else { return headers };
    headers.push(("mcp-protocol-version".to_owned(), version.to_owned()));
    headers.extend(message.method().map(|method| ("mcp-method".to_owned(), encoded(method))));
    headers.extend(named(message).map(|name| ("mcp-name".to_owned(), encoded(name))));
    headers.extend(message.1.iter().flatten().cloned());
    headers
}

fn named(message: &Message) -> Option<&str> {
    let field = match message.method()? {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return None,
    };
    message.param(field).and_then(Value::as_str)
}

fn encoded(text: &str) -> String {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let marked = text.starts_with(OPENING) && text.ends_with(CLOSING);
    if plain && !marked && text.trim() == text {
        return text.to_owned();
    }
    format!("{OPENING}{}{CLOSING}", STANDARD.encode(text))
}

fn decoded(header: &str) -> Option<String> {
    match header.strip_prefix(OPENING).and_then(|rest| rest.strip_suffix(CLOSING)) {
        Some(inner) => String::from_utf8(STANDARD.decode(inner).ok()?).ok(),
        None => Some(header.to_owned()),
    }
}

#[cfg(test)]
mod tests;
