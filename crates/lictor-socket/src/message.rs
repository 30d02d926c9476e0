//! The messages of the protocol.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Error codes of JSON-RPC 2.0 that the transport itself uses.
pub mod code {
    /// The line is not JSON.
    pub const PARSE: i64 = -32_700;
    /// The message is not a request.
    pub const INVALID_REQUEST: i64 = -32_600;
    /// There is no such method.
    pub const METHOD_NOT_FOUND: i64 = -32_601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i64 = -32_602;
    /// Something failed on the other side.
    pub const INTERNAL: i64 = -32_603;
    /// The other side is ending or has too much to do.
    pub const UNAVAILABLE: i64 = -32_000;
}

/// A call. One without an id gets no answer in JSON-RPC; here every message is answered, with `id: null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// Comes back with the answer.
    #[serde(default)]
    pub id: Value,
    /// What is asked for.
    pub method: String,
    /// With what.
    #[serde(default)]
    pub params: Value,
}

impl Request {
    /// A call with the number 1: a [`Client`](crate::Client) has one call at a time.
    #[must_use]
    pub fn new(method: &str, params: Value) -> Self {
        Self { jsonrpc: "2.0".to_owned(), id: 1.into(), method: method.to_owned(), params }
    }
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The kind of failure; see [`code`].
    pub code: i64,
    /// In words.
    pub message: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl Failure {
    /// A failure without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// That of the call; null when it could not be read.
    #[serde(default)]
    pub id: Value,
    /// What the call gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

impl Response {
    /// The answer to the call with this id.
    #[must_use]
    pub fn to(id: Value, outcome: Result<Value, Failure>) -> Self {
        let (result, error) = match outcome {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Self { jsonrpc: "2.0".to_owned(), id, result, error }
    }
}

/// The call in a line, or the error response for an invalid one.
pub(crate) fn read(line: &[u8]) -> Result<Request, Box<Response>> {
    let refuse = |id, code, message: String| Box::new(Response::to(id, Err(Failure::new(code, message))));
    let value: Value = serde_json::from_slice(line)
        .map_err(|error| refuse(Value::Null, code::PARSE, format!("the line is not JSON: {error}")))?;
    let id = value.get("id").cloned().unwrap_or_default();
    let request: Request = serde_json::from_value(value).map_err(|error| {
        refuse(id.clone(), code::INVALID_REQUEST, format!("the message is not a call: {error}"))
    })?;
    if request.jsonrpc != "2.0" {
        return Err(refuse(id, code::INVALID_REQUEST, "`jsonrpc` must be `2.0`".to_owned()));
    }
    Ok(request)
}
