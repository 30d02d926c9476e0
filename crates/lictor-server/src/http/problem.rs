//! Errors in the format of RFC 9457.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lictor::config::Diagnostic;
use serde_json::{Value, json};

use crate::registry::RegistryError;
use crate::stores::StoresError;
use crate::tenants::CallError;

/// Why a request failed, for a program (`type`), a person (`detail`) and what to do (`fix`).
#[derive(Debug, Clone)]
pub struct Problem {
    status: StatusCode,
    kind: String,
    detail: String,
    fix: String,
    /// Seconds after which another try makes sense.
    retry: Option<u32>,
    /// Everything that is wrong with a policy or with its tests, where it is about them.
    problems: Vec<Diagnostic>,
}

impl Problem {
    /// A problem without a fix of its own.
    pub fn new(status: StatusCode, kind: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            status,
            kind: kind.into(),
            detail: detail.into(),
            fix: String::new(),
            retry: None,
            problems: Vec::new(),
        }
    }

    /// The request is not one.
    pub fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", detail)
    }

    /// The status, and what a person reads.
    pub(crate) fn told(&self) -> (StatusCode, &str, &str) {
        (self.status, &self.detail, &self.fix)
    }

    /// The same, with how many seconds to wait.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry = Some(seconds);
        self
    }

    /// The same, with everything that is wrong with a text.
    #[must_use]
    pub(super) fn problems(mut self, problems: Vec<Diagnostic>) -> Self {
        self.problems = problems;
        self
    }

    /// The same, with what to do.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = fix.into();
        self
    }
}

/// A value as the body of an answer.
pub(super) fn json(status: StatusCode, kind: &'static str, value: &Value) -> Response {
    written(status, kind, value.to_string())
}

/// The same, for one who has it as text.
pub(super) fn written(status: StatusCode, kind: &'static str, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self { status, kind, detail, fix, retry, problems } = self;
        let mut value = json!({"type": format!("urn:lictor:{kind}"), "title": status.canonical_reason(), "status": status.as_u16(), "detail": detail});
        if let Some(fields) = value.as_object_mut().filter(|_| !fix.is_empty()) {
            fields.insert("fix".to_owned(), json!(fix));
        }
        if let Some(fields) = value.as_object_mut().filter(|_| !problems.is_empty()) {
            fields.insert("problems".to_owned(), json!(problems));
        }
        let mut response = json(status, "application/problem+json", &value);
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = retry {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<RegistryError> for Problem {
    fn from(error: RegistryError) -> Self {
        let (status, kind) = match &error {
            RegistryError::Missing { .. } => (StatusCode::NOT_FOUND, "not_found"),
            RegistryError::Name(_)
            | RegistryError::Machine(_)
            | RegistryError::Target(_)
            | RegistryError::Settings(_) => (StatusCode::BAD_REQUEST, "bad_request"),
            RegistryError::Store(_) => (StatusCode::SERVICE_UNAVAILABLE, "store"),
            RegistryError::Random(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        };
        Self::new(status, kind, error.to_string())
    }
}

impl From<StoresError> for Problem {
    fn from(error: StoresError) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "store", error.to_string())
    }
}

impl From<lictor_store::StoreError> for Problem {
    fn from(error: lictor_store::StoreError) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "store", error.to_string())
    }
}

impl From<lictor::Error> for Problem {
    fn from(error: lictor::Error) -> Self {
        let status = match error.kind() {
            "policy_refused" | "policy_unusable" => StatusCode::UNPROCESSABLE_ENTITY,
            "store" => StatusCode::SERVICE_UNAVAILABLE,
            "has_begun" => StatusCode::CONFLICT,
            _ if error.is_absence() => StatusCode::NOT_FOUND,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let mut problem = Self::new(status, error.kind(), error.chain()).fix(error.fix());
        if let lictor::Error::Policy(refused) = error {
            problem.problems = refused.diagnostics;
        }
        problem
    }
}

impl From<CallError> for Problem {
    fn from(error: CallError) -> Self {
        match error {
            CallError::NotYours { .. } => Self::new(StatusCode::FORBIDDEN, "not_yours", error.to_string()),
            CallError::UnderWay(_) => Self::new(StatusCode::CONFLICT, "under_way", error.to_string()),
            CallError::Stores(error) => error.into(),
            CallError::Registry(error) => error.into(),
            CallError::Runtime(error) => error.into(),
            CallError::Rpc(error) => {
                let status = match error.code() {
                    -32_602 | -32_600 | -32_700 => StatusCode::BAD_REQUEST,
                    -32_601 => StatusCode::NOT_FOUND,
                    -32_001 => StatusCode::FORBIDDEN,
                    _ if matches!(error.kind(), "no_decision" | "not_asked" | "approval" | "ledger") => {
                        StatusCode::NOT_FOUND
                    }
                    _ if error.kind() == "store" => StatusCode::SERVICE_UNAVAILABLE,
                    _ => StatusCode::INTERNAL_SERVER_ERROR,
                };
                Self::new(status, error.kind(), error.to_string()).fix(error.fix())
            }
            CallError::Random(_) => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", error.to_string())
            }
        }
    }
}
