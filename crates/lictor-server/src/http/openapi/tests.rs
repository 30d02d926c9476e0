use std::collections::BTreeSet;

use super::*;

fn names(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get("$ref") {
                found.insert(target.trim_start_matches("#/components/schemas/").to_owned());
            }
            fields.values().for_each(|value| names(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| names(value, found)),
        _ => {}
    }
}

#[test]
fn every_schema_that_is_named_is_there_and_every_one_of_ours_is_used() {
    let document = openapi();
    let mut named = BTreeSet::new();
    names(&document, &mut named);
    let there: BTreeSet<String> =
        document["components"]["schemas"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(named.difference(&there).collect::<Vec<_>>(), Vec::<&String>::new());
    let ours: Map<String, Value> = serde_json::from_str(SCHEMAS).unwrap();
    let unused: Vec<&String> =
        ours.keys().filter(|name| !named.contains(*name) && *name != "Anything").collect();
    assert!(unused.is_empty(), "{unused:?}");
    let vague: Vec<_> =
        endpoints().into_iter().filter(|one| one.gives == "Anything").map(|one| one.path).collect();
    assert!(vague.is_empty(), "{vague:?}");
}

/// A schema with references followed.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(target) => resolved(document, document.pointer(target.trim_start_matches('#')).unwrap()),
        None => schema,
    }
}

fn options(schema: &Value) -> &[Value] {
    schema["anyOf"].as_array().map_or(&[], Vec::as_slice)
}

/// The first type that is named, if one is.
fn kind(schema: &Value) -> &str {
    schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or_default()
}

/// Text that fits.
fn text(schema: &Value) -> String {
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    if pattern.contains("http") {
        "https://example.com".to_owned()
    } else if pattern.contains("a-f") {
        "0".repeat(64)
    } else if schema["minLength"].as_u64().unwrap_or(0) > 3 {
        "long enough to be one".to_owned()
    } else {
        "ada".to_owned()
    }
}

/// Values that fit a schema: one with everything in it, and one more for each other way to say a part of it.
fn samples(document: &Value, schema: &Value) -> Vec<Value> {
    let schema = resolved(document, schema);
    if let Some(value) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return vec![value.clone()];
    }
    if !options(schema).is_empty() {
        return options(schema).iter().flat_map(|option| samples(document, option)).collect();
    }
    match kind(schema) {
        "string" => vec![json!(text(schema))],
        "integer" => vec![schema.get("minimum").cloned().unwrap_or(json!(1))],
        "number" => vec![json!(1.5)],
        "boolean" => vec![json!(true)],
        "null" => vec![Value::Null],
        "array" => samples(document, &schema["items"]).into_iter().map(|item| json!([item])).collect(),
        "object" => {
            let properties = schema["properties"].as_object().cloned().unwrap_or_default();
            let each: Vec<(String, Vec<Value>)> =
                properties.into_iter().map(|(name, part)| (name, samples(document, &part))).collect();
            let first: Map<String, Value> =
                each.iter().map(|(name, values)| (name.clone(), values[0].clone())).collect();
            let mut all = vec![Value::Object(first.clone())];
            for (name, values) in each {
                all.extend(values.into_iter().skip(1).map(|value| {
                    let mut other = first.clone();
                    other.insert(name.clone(), value);
                    Value::Object(other)
                }));
            }
            all
        }
        _ => vec![json!({"anything": 1})],
    }
}

/// Every object in a value, with its schema.
fn objects<'a>(
    document: &'a Value,
    schema: &'a Value,
    value: &Value,
    at: &str,
    found: &mut Vec<(String, &'a Value)>,
) {
    let schema = resolved(document, schema);
    let alike = |option: &&Value| match (kind(resolved(document, option)), value) {
        ("object", Value::Object(fields)) => {
            let known = resolved(document, option)["properties"].as_object();
            known.is_none_or(|known| fields.keys().all(|name| known.contains_key(name)))
        }
        ("array", Value::Array(_)) => true,
        _ => false,
    };
    if let Some(option) = options(schema).iter().find(alike) {
        return objects(document, option, value, at, found);
    }
    match value {
        Value::Object(fields) if schema["properties"].is_object() => {
            found.push((at.to_owned(), schema));
            for (name, part) in fields {
                objects(document, &schema["properties"][name], part, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (number, part) in items.iter().enumerate() {
                objects(document, &schema["items"], part, &format!("{at}/{number}"), found);
            }
        }
        _ => {}
    }
}

/// The fields that a type says it has, when it meets one that it does not.
fn told(error: &str) -> Option<BTreeSet<String>> {
    let (_, listed) = error.split_once("unknown field `zzz`, expected ")?;
    Some(listed.split('`').skip(1).step_by(2).map(str::to_owned).collect())
}

/// Whether an object with any fields in it fits.
fn takes_anything(schema: &Value) -> bool {
    let said = schema.get("type").is_some() || !options(schema).is_empty() || schema.get("enum").is_some();
    !said || (kind(schema) == "object" && schema["additionalProperties"] != json!(false))
}

/// Whether null fits.
fn takes_null(document: &Value, schema: &Value) -> bool {
    let schema = resolved(document, schema);
    let named = |word: &str| {
        schema["type"] == word || schema["type"].as_array().is_some_and(|all| all.contains(&json!(word)))
    };
    let listed = schema["enum"].as_array().is_some_and(|all| all.contains(&Value::Null));
    let said = ["type", "anyOf", "enum", "const"].iter().any(|word| schema.get(word).is_some());
    !said || named("null") || listed || options(schema).iter().any(|option| takes_null(document, option))
}

/// What is wrong between a schema and the type that is read: fields of one that the other does not have, fields that only
/// one of them needs, and values that only one of them takes.
fn differences(document: &Value, taken: Taken) -> Vec<String> {
    let schema = &document["components"]["schemas"][taken.schema];
    let mut wrong = Vec::new();
    let name = taken.schema;
    for sample in samples(document, schema) {
        if let Err(error) = (taken.read)(sample.clone()) {
            wrong.push(format!("{name}: {sample} is not read: {error}"));
            continue;
        }
        let mut all = Vec::new();
        objects(document, schema, &sample, "", &mut all);
        for (at, schema) in all {
            let properties: BTreeSet<String> =
                schema["properties"].as_object().unwrap().keys().cloned().collect();
            let changed = |change: &dyn Fn(&mut Map<String, Value>)| {
                let mut other = sample.clone();
                change(other.pointer_mut(&at).unwrap().as_object_mut().unwrap());
                (taken.read)(other).map_err(|error| error.to_string())
            };
            let closed = schema["additionalProperties"] == json!(false);
            match changed(&|fields| drop(fields.insert("zzz".to_owned(), json!(1)))) {
                Ok(()) if closed => {
                    wrong.push(format!("{name}{at}: the type takes fields that it does not know"))
                }
                Ok(()) => {}
                // One of several forms, told apart by their only field.
                Err(error) if closed && properties.len() == 1 && error.contains("a single key") => {}
                Err(error) => match told(&error) {
                    Some(fields) if fields == properties => {}
                    fields => wrong.push(format!(
                        "{name}{at}: {properties:?} in the schema, in the type {fields:?} ({error})"
                    )),
                },
            }
            let needed =
                |field: &String| schema["required"].as_array().is_some_and(|all| all.contains(&json!(field)));
            for field in &properties {
                let without = changed(&|fields| drop(fields.remove(field)));
                if without.is_ok() == needed(field) {
                    wrong.push(format!("{name}{at}/{field}: needed by one, not by the other: {without:?}"));
                }
                let part = resolved(document, &schema["properties"][field.as_str()]);
                let odd = changed(&|fields| drop(fields.insert(field.clone(), json!({"zzz": [1]}))));
                if odd.is_ok() && !takes_anything(part) {
                    wrong.push(format!("{name}{at}/{field}: the type takes anything"));
                }
                let null = changed(&|fields| drop(fields.insert(field.clone(), Value::Null)));
                if null.is_ok() != takes_null(document, part) {
                    wrong.push(format!(
                        "{name}{at}/{field}: null is taken by one, not by the other: {null:?}"
                    ));
                }
            }
        }
    }
    wrong
}

#[test]
fn bodies_in_the_document_are_the_types_that_are_read() {
    let document = openapi();
    let mut wrong = Vec::new();
    let taken: Vec<Taken> =
        endpoints().into_iter().filter_map(|endpoint| endpoint.takes).chain([SETUP, SIGN_IN]).collect();
    assert!(taken.len() > 20);
    for one in taken {
        wrong.extend(differences(&document, one));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The test above sees what it is for.
#[test]
fn a_field_that_only_one_side_has_is_found() {
    let mut document = openapi();
    let taken = Taken::of::<super::super::judge::Approve>("Approve");
    assert_eq!(differences(&document, taken), Vec::<String>::new());
    let properties = document["components"]["schemas"]["Approve"]["properties"].as_object_mut().unwrap();
    let seen = properties.remove("seen").unwrap();
    assert!(!differences(&document, taken).is_empty(), "a field of the type is not in the schema");
    let properties = document["components"]["schemas"]["Approve"]["properties"].as_object_mut().unwrap();
    properties.insert("seen".to_owned(), seen.clone());
    properties.insert("more".to_owned(), seen);
    assert!(!differences(&document, taken).is_empty(), "a field of the schema is not in the type");
}
