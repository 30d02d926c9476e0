//! Generates the JSON Schema of a policy file from the tables.

use serde_json::{Map, Value as Json, json};

use crate::sections::FILE;
use crate::sections::graph::COMBINATORS;
use crate::table::{Key, Shape, Table};

/// The schema file for editors, beside the policy: `init` names it in the first line of a new policy, and `lictor
/// schema` writes its content. Nothing is fetched from the network.
pub const SCHEMA_FILE: &str = "governance.schema.json";
/// The id of the schema.
const ID: &str = "urn:lictor:schema:governance";

/// The JSON Schema (draft 2020-12) that editors check and complete policy files with.
#[must_use]
pub fn schema() -> Json {
    let mut definitions = Map::new();
    definitions.insert("node".to_owned(), Json::Null);
    let root = table(&FILE, &mut definitions);
    let mut nodes = vec![json!({"type": "string", "description": "The name of a guard."})];
    nodes.extend(COMBINATORS.iter().map(|combinator| table(combinator, &mut definitions)));
    let node = json!({"anyOf": nodes});
    definitions.insert("node".to_owned(), node);
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        "title": "governance.yaml",
        "$defs": definitions,
    });
    if let (Some(schema), Json::Object(root)) = (schema.as_object_mut(), root) {
        schema.extend(root);
    }
    schema
}

fn table(table: &'static Table, definitions: &mut Map<String, Json>) -> Json {
    let mut properties = Map::new();
    for key in table.keys {
        properties.insert(key.name.to_owned(), property(key, definitions));
    }
    let required: Vec<&str> = table.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let mut schema = json!({
        // A section with nothing below it is an empty section.
        "type": if required.is_empty() { json!(["object", "null"]) } else { json!("object") },
        "description": table.about,
        "properties": properties,
        "additionalProperties": false,
    });
    if let Some(fields) = schema.as_object_mut().filter(|_| !required.is_empty()) {
        fields.insert("required".to_owned(), json!(required));
    }
    schema
}

fn property(key: &'static Key, definitions: &mut Map<String, Json>) -> Json {
    let mut schema = shape(&key.shape, definitions);
    if let Some(fields) = schema.as_object_mut() {
        let about = if key.trusted {
            format!("{} Only in the user's or the managed file.", key.about)
        } else {
            key.about.to_owned()
        };
        fields.insert("description".to_owned(), json!(about));
    }
    schema
}

fn shape(of: &'static Shape, definitions: &mut Map<String, Json>) -> Json {
    let scalar = json!(["string", "number", "boolean"]);
    match of {
        Shape::Text => json!({"type": scalar}),
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Integer => json!({"type": "integer", "minimum": 0}),
        Shape::Fraction => json!({"type": "number", "minimum": 0, "maximum": 1}),
        Shape::Duration => json!({"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?(ms|s|m|h|d)$"}),
        Shape::Word(words) => {
            let numbers = words.iter().filter_map(|word| word.parse::<u64>().ok()).map(Json::from);
            json!({"enum": words.iter().map(|word| json!(word)).chain(numbers).collect::<Vec<_>>()})
        }
        Shape::Regex => json!({"type": "string", "format": "regex"}),
        Shape::Path | Shape::Expression | Shape::Actions => json!({"type": "string"}),
        Shape::Argv => one_or_many(&json!({"type": scalar})),
        Shape::List(item) => one_or_many(&shape(item, definitions)),
        Shape::Names(value) | Shape::ByActions(value) => {
            json!({"type": ["object", "null"], "additionalProperties": shape(value, definitions)})
        }
        Shape::Fields(fields) => {
            let name = fields.name.replace(".*", "_entry").replace("[]", "_item").replace('.', "_");
            if !definitions.contains_key(&name) {
                // Inserted before it is filled, so that a recursive table terminates.
                definitions.insert(name.clone(), Json::Null);
                let definition = table(fields, definitions);
                definitions.insert(name.clone(), definition);
            }
            json!({"$ref": format!("#/$defs/{name}")})
        }
        Shape::OneOf(shapes) => {
            json!({"anyOf": shapes.iter().map(|one| shape(one, definitions)).collect::<Vec<_>>()})
        }
        Shape::Number => json!({"type": "number", "minimum": 0}),
        Shape::Data => json!({"type": ["object", "null"]}),
        Shape::Node => json!({"$ref": "#/$defs/node"}),
    }
}

/// A list, or one value that counts as a list of one.
fn one_or_many(item: &Json) -> Json {
    json!({"anyOf": [{"type": ["array", "null"], "items": item}, item]})
}

#[cfg(test)]
mod tests;
