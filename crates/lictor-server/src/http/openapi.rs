//! `/openapi.json`, generated from the table of endpoints and from the command line's JSON schemas.

use axum::http::{Method, StatusCode};
use axum::response::Response;
use lictor::forms::DEFINITIONS;
use serde_json::{Map, Value, json};

use super::problem;
use super::table::{EXPORT, Endpoint, FILTERS, Param, ParamKind, SETUP, SIGN_IN, STREAM, Taken, endpoints};
use crate::registry::LONGEST_CHAIN;

/// The schemas of bodies and responses.
const SCHEMAS: &str = include_str!("schemas.json");

/// Why any endpoint may refuse.
const REFUSALS: [(u16, &str); 9] = [
    (400, "The request does not fit."),
    (401, "Nobody knows the token."),
    (403, "The token may not do this, or the request names somebody else."),
    (404, "There is no such thing."),
    (
        409,
        "Something else is under way, or was answered already, or the idempotency key was used for something else.",
    ),
    (413, "The body is too large."),
    (422, "The policy is refused, or the tests of one."),
    (429, "Too many requests for one token."),
    (503, "The record cannot be reached; nothing was acknowledged."),
];

pub(super) async fn document() -> Response {
    problem::json(StatusCode::OK, "application/json", &openapi())
}

/// The document.
#[must_use]
pub fn openapi() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in endpoints() {
        let path = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        if let Some(methods) = path.as_object_mut() {
            methods.insert(endpoint.method.as_str().to_ascii_lowercase(), operation(&endpoint));
        }
    }
    for (path, method, value) in others() {
        paths.insert(path.to_owned(), json!({method: value}));
    }
    let mut schemas: Map<String, Value> = serde_json::from_str(SCHEMAS).unwrap_or_default();
    let mut forms: Value = serde_json::from_str(DEFINITIONS).unwrap_or_default();
    refer(&mut forms);
    schemas.extend(forms.as_object().cloned().unwrap_or_default());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Lictor", "version": env!("CARGO_PKG_VERSION"),
            "description": "Bodies are the params of `lictor rpc`, answers what commands print with `--json`. Later versions add fields and change none. Parameters that an address does not list are refused. `Idempotency-Key`: a request that was answered in the last day gets the same answer and changes nothing; one whose answer had a secret in it gets 409.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas,
        },
    })
}

/// Definitions refer to each other by where they stand.
fn refer(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get_mut("$ref") {
                *target = target.replace("#/$defs/", "#/components/schemas/");
            }
            fields.values_mut().for_each(refer);
        }
        Value::Array(items) => items.iter_mut().for_each(refer),
        _ => {}
    }
}

fn content(kind: &str, schema: &str) -> Value {
    json!({kind: {"schema": {"$ref": format!("#/components/schemas/{schema}")}}})
}

fn responses(gives: &str, codes: impl Fn(u16) -> bool) -> Value {
    let mut all = Map::new();
    all.insert(
        "200".to_owned(),
        json!({"description": "Done.", "content": content("application/json", gives)}),
    );
    for (code, about) in REFUSALS.into_iter().filter(|(code, _)| codes(*code)) {
        let refusal =
            json!({"description": about, "content": content("application/problem+json", "Problem")});
        all.insert(code.to_string(), refusal);
    }
    Value::Object(all)
}

fn operation(endpoint: &Endpoint) -> Value {
    let mut value = json!({
        "summary": endpoint.about,
        "security": [{"token": []}],
        "parameters": parameters(endpoint),
        "responses": responses(endpoint.gives, |_| true),
    });
    if let (Some(takes), Some(fields)) = (endpoint.takes, value.as_object_mut()) {
        // A request without a body is one with an empty object.
        let required = (takes.read)(json!({})).is_err();
        let body = json!({"required": required, "content": content("application/json", takes.schema)});
        fields.insert("requestBody".to_owned(), body);
    }
    value
}

/// What [`registry::name`](crate::registry::name) takes.
fn name_schema() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[A-Za-z0-9._@-]+$"})
}

fn parameters(endpoint: &Endpoint) -> Vec<Value> {
    let in_path = endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = in_path.map(|name| {
        let schema = match name {
            "seq" => json!({"type": "integer", "minimum": 0, "maximum": super::table::MOST_SEQ}),
            "tenant" | "uid" => name_schema(),
            "machine" => {
                json!({"type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[A-Za-z0-9_@-]+$"})
            }
            _ => json!({"type": "string", "minLength": 1}),
        };
        json!({"name": name, "in": "path", "required": true, "schema": schema})
    });
    let in_query = endpoint.query.iter().copied().flatten().map(parameter);
    let key = (endpoint.method != Method::GET).then(
        // Spaces around a header are not part of it.
        || json!({"name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "minLength": 1, "maxLength": super::LONGEST_KEY, "pattern": "^[!-~]([ -~]*[!-~])?$"}}),
    );
    in_path.chain(in_query).chain(key).collect()
}

/// A key of a query.
fn parameter(Param { name, kind, about }: &Param) -> Value {
    let schema = match kind {
        ParamKind::Text => json!({"type": "string"}),
        ParamKind::Chain => {
            json!({"type": "string", "minLength": 1, "maxLength": LONGEST_CHAIN, "pattern": "^[A-Za-z0-9._@=-]+$"})
        }
        ParamKind::Number(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        ParamKind::Word(words) => json!({"enum": words}),
        ParamKind::Time => json!({"type": "string", "anyOf": [{"format": "date"}, {"format": "date-time"}]}),
    };
    json!({"name": name, "in": "query", "description": about, "schema": schema})
}

/// An address for records that takes their filters and needs a token.
fn filtered(mut value: Value, own: &[Param], mut parameters: Vec<Value>) -> Value {
    parameters.extend(own.iter().chain(FILTERS).map(parameter));
    let refusals = responses("Anything", |code| [400, 401, 403, 404, 429, 503].contains(&code));
    if let Some(fields) = value.as_object_mut() {
        fields.insert("security".to_owned(), json!([{"token": []}]));
        fields.insert("parameters".to_owned(), json!(parameters));
        let all = fields.get_mut("responses").and_then(Value::as_object_mut);
        if let (Some(all), Value::Object(refusals)) = (all, refusals) {
            all.extend(refusals.into_iter().filter(|(code, _)| code != "200"));
        }
    }
    value
}

/// Addresses that need no token, or answer with something else.
fn others() -> Vec<(&'static str, &'static str, Value)> {
    let plain = |about: &str, kind: &str| json!({"summary": about, "responses": {"200": {"description": "As it is.", "content": {kind: {}}}}});
    let entering = |about: &str, takes: Taken| {
        json!({
            "summary": about,
            "requestBody": {"required": true, "content": content("application/json", takes.schema)},
            "responses": responses("MintedToken", |code| code != 404 && code != 422),
        })
    };
    let mut ready = plain("Whether it can answer.", "text/plain");
    if let Some(all) = ready.get_mut("responses").and_then(Value::as_object_mut) {
        all.insert(
            "503".to_owned(),
            json!({"description": "Not now.", "content": content("application/problem+json", "Problem")}),
        );
    }
    let stream = filtered(
        plain(
            "Records as they come: server-sent events whose id is the record's number.",
            "text/event-stream",
        ),
        STREAM,
        vec![
            json!({"name": "Last-Event-ID", "in": "header", "schema": {"type": "integer", "minimum": 0, "maximum": super::table::MOST_SEQ}, "description": "The same, as browsers say it."}),
        ],
    );
    let export = filtered(
        json!({"summary": "Records as a file that names the filter, the first and last record and the head of the chain.",
               "responses": {"200": {"description": "The file.", "content":
                   {"application/x-ndjson": {}, "text/csv": {}, "text/plain": {}}}}}),
        EXPORT,
        Vec::new(),
    );
    vec![
        ("/v1/records/stream", "get", stream),
        ("/v1/records/export", "get", export),
        (
            "/v1/setup",
            "post",
            entering("Become the first operator, with the code that was printed at the first start.", SETUP),
        ),
        ("/v1/sign-in", "post", entering("Get a token for twelve hours with a password.", SIGN_IN)),
        ("/healthz", "get", plain("Whether the server lives.", "text/plain")),
        ("/readyz", "get", ready),
        ("/metrics", "get", plain("What it has done, for Prometheus.", "text/plain")),
        ("/openapi.json", "get", plain("This document.", "application/json")),
    ]
}

#[cfg(test)]
mod tests;
