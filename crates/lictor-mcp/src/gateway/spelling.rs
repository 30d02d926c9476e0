//! Other spellings of a tool's arguments. Lenient servers read `Path` as `path`, also inside other arguments, and would do
//! something else than what was judged.

use serde_json::{Map, Value};

use crate::message::is_spelled_like;

/// How many parts of a schema are looked at for one object. A schema may refer to itself.
const MOST_PARTS: usize = 256;

/// The first argument that is another spelling of a declared one: as it is given, and as it is declared.
pub(super) fn respelled(schema: &Value, arguments: &Map<String, Value>) -> Option<(String, String)> {
    in_fields(schema, &[schema], arguments)
}

fn in_fields(root: &Value, schemas: &[&Value], fields: &Map<String, Value>) -> Option<(String, String)> {
    let declared: Vec<(&String, &Value)> = parts(root, schemas)
        .into_iter()
        .filter_map(|part| part.get("properties")?.as_object())
        .flatten()
        .collect();
    fields.iter().find_map(|(given, value)| {
        let own: Vec<&Value> =
            declared.iter().filter(|(known, _)| *known == given).map(|(_, schema)| *schema).collect();
        if own.is_empty() {
            let meant = declared.iter().find(|(known, _)| is_spelled_like(given, known));
            return meant.map(|(known, _)| (given.clone(), (*known).clone()));
        }
        in_value(root, &own, value)
    })
}

fn in_value(root: &Value, schemas: &[&Value], value: &Value) -> Option<(String, String)> {
    match value {
        Value::Object(fields) => in_fields(root, schemas, fields),
        Value::Array(items) => {
            let each: Vec<&Value> =
                parts(root, schemas).into_iter().filter_map(|part| part.get("items")).collect();
            items.iter().find_map(|item| in_value(root, &each, item))
        }
        _ => None,
    }
}

/// The schemas with everything that they refer to or are made of.
fn parts<'a>(root: &'a Value, schemas: &[&'a Value]) -> Vec<&'a Value> {
    let mut found = schemas.to_vec();
    let mut at = 0;
    while let Some(part) = found.get(at).copied().filter(|_| found.len() < MOST_PARTS) {
        at += 1;
        let referred = part.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
        found.extend(referred.and_then(|to| root.pointer(to)));
        for several in ["allOf", "anyOf", "oneOf"] {
            found.extend(part.get(several).and_then(Value::as_array).into_iter().flatten());
        }
    }
    found
}

#[cfg(test)]
mod tests;
