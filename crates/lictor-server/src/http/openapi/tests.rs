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
