//! `/openapi.json`, made from the table of endpoints.

use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::{endpoints, problem};

pub(super) async fn document() -> Response {
    problem::json(StatusCode::OK, "application/json", &openapi())
}

/// The document.
pub(crate) fn openapi() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in endpoints() {
        let by_query = endpoint.method == Method::GET || endpoint.method == Method::DELETE;
        let in_path = endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let text = json!({"type": "string"});
        let in_path =
            in_path.map(|name| json!({"name": name, "in": "path", "required": true, "schema": text}));
        let taken = endpoint.takes.iter().filter(|_| by_query);
        let in_query = taken.map(|name| json!({"name": name, "in": "query", "schema": text}));
        let mut operation = Map::new();
        let mut set = |name: &str, value: Value| operation.insert(name.to_owned(), value);
        set("summary", json!(endpoint.about));
        set("security", json!([{"token": []}]));
        set("parameters", in_path.chain(in_query).collect());
        let problem =
            json!({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}});
        set(
            "responses",
            json!({
                "200": {"description": "Done.", "content": {"application/json": {"schema": {"type": "object"}}}},
                "default": {"description": "Why not.", "content": problem},
            }),
        );
        if !by_query {
            let fields: Map<String, Value> =
                endpoint.takes.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
            let schema = json!({"type": "object", "properties": fields, "additionalProperties": false});
            let content = json!({"application/json": {"schema": schema}});
            set("requestBody", json!({"required": true, "content": content}));
        }
        let path = paths.entry(endpoint.path).or_insert_with(|| Value::Object(Map::new()));
        if let Some(methods) = path.as_object_mut() {
            methods.insert(endpoint.method.as_str().to_ascii_lowercase(), Value::Object(operation));
        }
    }
    let open = |about: &str, kind: &str| json!({"get": {"summary": about, "responses": {"200": {"description": "As it is.", "content": {kind: {}}}, "default": {"description": "Why not."}}}});
    paths.insert("/healthz".to_owned(), open("Whether the server lives.", "text/plain"));
    paths.insert("/readyz".to_owned(), open("Whether it can answer.", "text/plain"));
    paths.insert("/metrics".to_owned(), open("What it has done, for Prometheus.", "text/plain"));
    paths.insert("/openapi.json".to_owned(), open("This document.", "application/json"));
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Lictor", "version": env!("CARGO_PKG_VERSION"), "description": "Bodies are the params of `lictor rpc`; see docs/rpc.md."},
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Problem": {"type": "object", "required": ["type", "status", "detail"], "properties": {
                "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
                "detail": {"type": "string"}, "fix": {"type": "string"}}}},
        },
    })
}
