//! The language as data: errors at load, values of expressions, errors at run time; each case also against the
//! public `cel` crate where the languages overlap.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod compile;
mod differential;
mod docs;
mod generated;
mod outlook;
mod values;

use lictor_expr::{Program, Schema, Span, Type, Value};
use serde_json::{Map, Value as Json};

/// The roots of governance.yaml.
fn schema() -> Schema {
    let file = Type::record([("path", Type::String), ("access", Type::String), ("bytes", Type::Int)]);
    let counters = ["action_count", "block_count", "ask_count", "warn_count", "escalation_count"];
    Schema::builder()
        .record(
            "action",
            [
                ("kind", Type::String),
                ("tool", Type::String),
                ("cwd", Type::String),
                ("agent", Type::String),
                ("task_type", Type::optional(Type::String)),
                ("session_id", Type::optional(Type::String)),
                ("user", Type::optional(Type::String)),
                ("tenant", Type::optional(Type::String)),
            ],
        )
        .root("payload", Type::map(Type::Dyn))
        .record(
            "facts",
            [
                ("opaque", Type::Bool),
                ("cardinality", Type::String),
                ("files", Type::list(file)),
                ("programs", Type::list(Type::String)),
                ("hosts", Type::list(Type::String)),
            ],
        )
        .record("session", counters.map(|name| (name, Type::Int)))
        .root("risk", Type::Double)
        .root("annotations", Type::map(Type::Dyn))
        .build()
}

fn environment() -> Map<String, Json> {
    serde_saphyr::from_str(include_str!("../cases/environment.yaml")).expect("environment.yaml")
}

/// The source with a line of carets under the span and the message.
fn underlined(source: &str, span: Span, message: &str) -> String {
    let (start, end) = (span.start as usize, span.end as usize);
    let before = source.get(..start).expect("a character boundary").chars().count();
    let width = source.get(start..end).expect("a character boundary").chars().count().max(1);
    format!("{}{} {message}", " ".repeat(before), "^".repeat(width))
}

/// What compiling gives: the source and its errors.
fn compile_shown(source: &str) -> Result<Program, String> {
    Program::compile(source, &schema(), &Type::Dyn).map_err(|errors| shown(source, errors))
}

fn shown(source: &str, errors: Vec<lictor_expr::CompileError>) -> String {
    let lines = errors.iter().map(|error| underlined(source, error.span, &error.to_string()));
    std::iter::once(source.to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
}

fn to_json(value: &Value<'_>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::from(*value),
        Value::Int(value) => Json::from(*value),
        Value::Double(value) => Json::from(*value),
        Value::Text(text) => Json::from(text.as_str()),
        Value::List(list) => {
            (0..list.len()).map(|index| to_json(&list.get(index).expect("within the list"))).collect()
        }
        Value::Map(map) => map
            .keys()
            .iter()
            .map(|key| (key.as_str().to_owned(), to_json(&map.get(key.as_str()).expect("a key"))))
            .collect(),
    }
}

/// Every id is there once.
fn assert_distinct<'a>(ids: impl Iterator<Item = &'a str>) {
    let mut seen = std::collections::BTreeSet::new();
    for id in ids {
        assert!(seen.insert(id), "the id {id} is used twice");
    }
}
