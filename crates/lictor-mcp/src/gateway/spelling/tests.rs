use serde_json::json;

use super::*;

#[test]
fn other_spellings_are_found_at_any_depth() {
    let schema = json!({
        "properties": {
            "path": {},
            "options": {"$ref": "#/$defs/options"},
            "edits": {"items": {"anyOf": [{"properties": {"file": {}}}, {"type": "null"}]}},
        },
        "$defs": {"options": {"allOf": [{"properties": {"target": {}, "Kind": {}, "kind": {}}}]}},
    });
    let told = |arguments: Value| {
        respelled(&schema, arguments.as_object().expect("an object")).map(|(given, _)| given)
    };
    for (arguments, given) in [
        (json!({"Path": 1}), "Path"),
        (json!({"path": 1, "PATH": 2}), "PATH"),
        (json!({"options": {"Target": 1}}), "Target"),
        (json!({"edits": [{"file": 1}, {"File": 2}]}), "File"),
    ] {
        assert_eq!(told(arguments.clone()).as_deref(), Some(given), "{arguments}");
    }
    for arguments in [
        json!({"path": 1, "other": {"Path": 2}}),
        json!({"options": {"target": 1, "Kind": 2, "kind": 3}}),
        json!({"edits": [[{"File": 2}], "File"]}),
    ] {
        assert_eq!(told(arguments.clone()), None, "{arguments}");
    }
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let schema = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"properties": {"a": {"$ref": "#"}}}]});
    let arguments = json!({"a": {"a": {"A": 1}}});
    let told = respelled(&schema, arguments.as_object().expect("an object"));
    assert_eq!(told, Some(("A".to_owned(), "a".to_owned())));
}
