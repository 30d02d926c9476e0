//! Errors of a call.

use serde_json::{Value, json};

use crate::error::Error;

/// Why a call failed: with a number for JSON-RPC, a stable name for programs, and a fix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RpcError {
    /// The input is not JSON.
    #[error("this is not JSON: {0}")]
    Parse(String),
    /// The input is JSON but not a call.
    #[error("this is not a JSON-RPC 2.0 call: {0}")]
    Request(String),
    /// There is no such method.
    #[error("there is no method `{0}`")]
    UnknownMethod(String),
    /// The parameters do not fit the method.
    #[error("{0}")]
    Params(String),
    /// The caller may not do this.
    #[error("{0}")]
    Refused(&'static str),
    /// The runtime failed.
    #[error("{}", .0.chain())]
    Runtime(#[from] Error),
    /// An internal failure.
    #[error("{0}")]
    Internal(String),
    /// A server refused the call, or is away.
    #[error("{message}")]
    Server {
        /// The kind of failure, as the server names it.
        kind: String,
        /// Its message.
        message: String,
        /// The fix.
        fix: String,
    },
}

impl RpcError {
    /// The number that JSON-RPC gives it.
    #[must_use]
    pub fn code(&self) -> i64 {
        match self {
            Self::Parse(_) => -32_700,
            Self::Request(_) => -32_600,
            Self::UnknownMethod(_) => -32_601,
            Self::Params(_) => -32_602,
            Self::Internal(_) => -32_603,
            Self::Runtime(_) | Self::Server { .. } => -32_000,
            Self::Refused(_) => -32_001,
        }
    }

    /// A stable name of the kind of failure.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Parse(_) => "parse",
            Self::Request(_) => "invalid_request",
            Self::UnknownMethod(_) => "unknown_method",
            Self::Params(_) => "invalid_params",
            Self::Internal(_) => "internal",
            Self::Runtime(error) => error.kind(),
            Self::Refused(_) => "refused",
            Self::Server { kind, .. } => kind,
        }
    }

    /// The fix.
    #[must_use]
    pub fn fix(&self) -> &str {
        match self {
            Self::Parse(_) => "send one JSON value a line, without line ends inside it",
            Self::Request(_) => {
                "send {\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"evaluate\", \"params\": {…}}"
            }
            Self::UnknownMethod(_) => "call `version`; it lists the methods",
            Self::Params(_) => "correct the parameters; docs/rpc.md lists them",
            Self::Internal(_) => "run `lictor doctor`",
            Self::Runtime(error) => error.fix(),
            Self::Refused(_) => "let a person do it, outside of the agent",
            Self::Server { fix, .. } => fix,
        }
    }

    /// The error object of an answer.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "code": self.code(),
            "message": self.to_string(),
            "data": {"kind": self.kind(), "fix": self.fix()},
        })
    }
}
