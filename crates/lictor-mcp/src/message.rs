//! One JSON-RPC message, parsed strictly.

use serde_json::{Map, Value, json};

pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const UNKNOWN_METHOD: i64 = -32601;

/// The longest line that is read.
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// Keys of the envelope and of parameters that decide what a message is. Lenient servers accept them in other case.
const CANONICAL: [&str; 20] = [
    "jsonrpc",
    "id",
    "method",
    "params",
    "result",
    "error",
    "name",
    "arguments",
    "uri",
    "_meta",
    "cursor",
    "ref",
    "type",
    "value",
    "argument",
    "requestState",
    "inputResponses",
    "requestId",
    "taskId",
    "task",
];

/// Keys of results that decide what a client does with one: what it offers, shows or asks.
const IN_RESULTS: [&str; 22] = [
    "_meta",
    "resultType",
    "inputRequests",
    "requestState",
    "content",
    "structuredContent",
    "isError",
    "tools",
    "prompts",
    "resources",
    "resourceTemplates",
    "nextCursor",
    "messages",
    "contents",
    "instructions",
    "capabilities",
    "protocolVersion",
    "task",
    "tasks",
    "taskId",
    "roots",
    "action",
];

/// A message that client, policy and server read in the same way; and, over HTTP, the headers of a tool's arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Message(pub(crate) Map<String, Value>, pub(crate) Option<Vec<(String, String)>>);

/// The metadata key of the client's revision, in revisions without a handshake.
pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The metadata key of the client's capabilities, in the same revisions.
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Why a line is not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Not JSON, a key twice, or nested too deeply.
    #[error("the message is not strict JSON: {0}")]
    Json(String),
    /// Not an object. Batches are no longer part of the protocol.
    #[error("the message is not a JSON object")]
    NotAnObject,
    /// Neither a request, a notification nor a response of JSON-RPC 2.0.
    #[error("the message is not JSON-RPC 2.0: {0}")]
    NotJsonRpc(&'static str),
    /// A key that some servers treat as another one.
    #[error("the key `{0}` is another spelling of `{1}`")]
    Spelling(String, &'static str),
    /// Longer than anything that is judged.
    #[error("the message is longer than {MAX_LINE} bytes")]
    TooLong,
}

impl Malformed {
    /// The code that JSON-RPC has for it.
    #[must_use]
    pub fn code(&self) -> i64 {
        match self {
            Self::Json(_) | Self::TooLong => -32700,
            Self::NotAnObject | Self::NotJsonRpc(_) | Self::Spelling(..) => INVALID_REQUEST,
        }
    }
}

impl Message {
    /// Reads one line.
    ///
    /// # Errors
    /// When it could be read in more than one way, or is not a message.
    pub fn parse(line: &[u8]) -> Result<Self, Malformed> {
        if line.len() > MAX_LINE {
            return Err(Malformed::TooLong);
        }
        let value = lictor_core::strict::from_slice(line);
        let Value::Object(fields) = value.map_err(|error| Malformed::Json(error.to_string()))? else {
            return Err(Malformed::NotAnObject);
        };
        check_spelling(&fields, &CANONICAL)?;
        check_envelope(&fields)?;
        if let Some(Value::Object(params)) = fields.get("params") {
            check_spelling(params, &CANONICAL)?;
            check_questions(params)?;
            for inner in ["ref", "argument"].iter().filter_map(|key| params.get(*key)?.as_object()) {
                check_spelling(inner, &CANONICAL)?;
            }
        }
        if let Some(Value::Object(result)) = fields.get("result") {
            check_spelling(result, &IN_RESULTS)?;
            check_questions(result)?;
        }
        Ok(Self(fields, None))
    }

    /// The method, for a request or a notification.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        self.0.get("method").and_then(Value::as_str)
    }

    /// The id, for a request or a response.
    #[must_use]
    pub fn id(&self) -> Option<&Value> {
        self.0.get("id").filter(|id| !id.is_null())
    }

    /// A parameter.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&Value> {
        self.0.get("params").and_then(|params| params.get(name))
    }

    /// The code, for a response that is an error.
    #[must_use]
    pub fn error_code(&self) -> Option<i64> {
        self.0.get("error")?.get("code")?.as_i64()
    }

    /// A text in the result, for a response.
    #[must_use]
    pub fn result_text(&self, field: &str) -> Option<&str> {
        self.0.get("result")?.get(field)?.as_str()
    }

    /// A parameter of the request that the protocol itself defines, below `_meta`.
    pub(crate) fn meta(&self, name: &str) -> Option<&Value> {
        self.param("_meta").and_then(|meta| meta.get(name))
    }

    /// The parameters, to be changed.
    pub(crate) fn params_mut(&mut self) -> Option<&mut Map<String, Value>> {
        self.0.get_mut("params").and_then(Value::as_object_mut)
    }

    /// The result, for a response that is none of an error.
    pub(crate) fn result_mut(&mut self) -> Option<&mut Map<String, Value>> {
        self.0.get_mut("result").and_then(Value::as_object_mut)
    }

    /// The same under another id.
    #[must_use]
    pub fn with_id(mut self, id: &Value) -> Self {
        self.0.insert("id".to_owned(), id.clone());
        self
    }

    /// With the headers of a tool's arguments that came with it, in lower case.
    #[must_use]
    pub fn with_headers(mut self, headers: Vec<(String, String)>) -> Self {
        self.1 = Some(headers);
        self
    }

    /// Whether it contains its client's revision and capabilities.
    #[must_use]
    pub fn stands_alone(&self) -> bool {
        self.meta(VERSION).is_some()
    }

    /// The error response to a request without its client's revision and capabilities. Each request must contain
    /// both, unless there was a handshake (`opened`).
    #[must_use]
    pub fn refused_without_metadata(&self, opened: bool) -> Option<Self> {
        let id = self.method().and(self.id())?;
        let (version, can) = (self.meta(VERSION), self.meta(CAPABILITIES));
        let complete = version.is_some_and(Value::is_string) && can.is_some_and(Value::is_object);
        let silent = version.is_none() && can.is_none();
        if complete || silent && opened {
            return None;
        }
        let told =
            format!("the request needs `{VERSION}` and `{CAPABILITIES}` in `_meta`, or `initialize` first");
        Some(Self::error(id, INVALID_PARAMS, &told))
    }

    /// The line that is forwarded: the judged message, serialised again.
    #[must_use]
    pub fn to_line(&self) -> String {
        let mut line = Value::Object(self.0.clone()).to_string();
        line.push('\n');
        line
    }

    pub(crate) fn result_of(id: &Value, result: Value) -> Self {
        Self(object(json!({"jsonrpc": "2.0", "id": id, "result": result})), None)
    }

    /// An answer that is an error.
    #[must_use]
    pub fn error(id: &Value, code: i64, message: &str) -> Self {
        Self(object(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})), None)
    }

    pub(crate) fn notification(method: &str, params: Value) -> Self {
        Self(object(json!({"jsonrpc": "2.0", "method": method, "params": params})), None)
    }

    pub(crate) fn request(id: &str, method: &str, params: Value) -> Self {
        Self(object(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})), None)
    }
}

/// The id in a line that is no message: the waiting client gets an error. `None` if the line has several.
pub(crate) fn id_in(line: &[u8]) -> Option<Value> {
    let (mut depth, mut rest, mut found) = (0_usize, line, None);
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let (text, after) = after.split_at(end_of_text(after));
                rest = after.trim_ascii_start();
                let Some(value) = rest.strip_prefix(b":").filter(|_| depth == 1 && text == b"id\"") else {
                    continue;
                };
                let value = value.trim_ascii_start();
                let length = match value.strip_prefix(b"\"") {
                    Some(text) => 1 + end_of_text(text),
                    None => value.iter().position(|byte| b",}] \t\r\n".contains(byte)).unwrap_or(value.len()),
                };
                let (value, after) = value.split_at(length);
                rest = after;
                let id =
                    serde_json::from_slice::<Value>(value).ok().filter(|id| id.is_string() || id.is_number());
                if found.is_some() {
                    return None;
                }
                found = Some(id?);
            }
            _ => {}
        }
    }
    found
}

/// The end of a string after its opening quote: after the closing one.
fn end_of_text(text: &[u8]) -> usize {
    let mut escaped = false;
    let closes = |byte: &u8| {
        let closes = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        closes
    };
    text.iter().position(closes).map_or(text.len(), |at| at + 1)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Each kind of message in its one form: what is a request for one side must not be a response for another.
fn check_envelope(fields: &Map<String, Value>) -> Result<(), Malformed> {
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(Malformed::NotJsonRpc("`jsonrpc` is not `2.0`"));
    }
    let is_id = |id: &Value| id.is_null() || id.is_string() || id.is_i64() || id.is_u64();
    if !fields.get("id").is_none_or(is_id) {
        return Err(Malformed::NotJsonRpc("`id` is neither a text nor a whole number"));
    }
    // The protocol has no requests without an id, and no notifications that are spelled like requests: a server
    // that accepts one would run an unjudged request.
    if let Some(method) = fields.get("method").and_then(Value::as_str) {
        match fields.get("id") {
            Some(Value::Null) => return Err(Malformed::NotJsonRpc("`id` is null")),
            None if !method.starts_with("notifications/") => {
                return Err(Malformed::NotJsonRpc("a request has no `id`"));
            }
            _ => {}
        }
    }
    let answers = usize::from(fields.contains_key("result")) + usize::from(fields.contains_key("error"));
    match (fields.get("method"), answers) {
        (Some(Value::String(_)), 0) if matches!(fields.get("params"), None | Some(Value::Object(_))) => {
            Ok(())
        }
        (Some(Value::String(_)), 0) => Err(Malformed::NotJsonRpc("`params` is not an object")),
        (None, 1) if fields.contains_key("id") => Ok(()),
        _ => Err(Malformed::NotJsonRpc(
            "it must have either a `method`, or an `id` with a `result` or an `error`",
        )),
    }
}

/// Whether lenient readers take one key for the other: by case, and by the two letters outside ASCII that fold into it.
pub(crate) fn is_spelled_like(key: &str, known: &str) -> bool {
    let folded = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    key.chars().map(folded).eq(known.chars().map(folded))
}

/// The questions of a server inside a result, or inside the notification about a task, are requests too.
fn check_questions(fields: &Map<String, Value>) -> Result<(), Malformed> {
    check_spelling(fields, &["inputRequests"])?;
    let asked = fields.get("inputRequests").and_then(Value::as_object).into_iter().flatten();
    asked.filter_map(|(_, question)| question.as_object()).try_for_each(|question| {
        check_spelling(question, &CANONICAL)?;
        let params = question.get("params").and_then(Value::as_object);
        params.map_or(Ok(()), |params| check_spelling(params, &CANONICAL))
    })
}

fn check_spelling(fields: &Map<String, Value>, known: &[&'static str]) -> Result<(), Malformed> {
    for key in fields.keys() {
        let meant = known.iter().find(|known| is_spelled_like(key, known));
        if let Some(known) = meant.filter(|known| **known != key.as_str()) {
            return Err(Malformed::Spelling(key.clone(), known));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
