//! The subset of JSON Schema that the published schemas use. Unknown keywords are refused.

use serde_json::{Map, Value};

/// Why a document does not fit a schema; empty when it does. Fields that the schema does not name are refused too,
/// unless it says that there may be others: a new field has to be published.
pub fn problems(schema: &Value, document: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    Checker { root: schema }.check(schema, document, "", &mut problems);
    problems
}

struct Checker<'a> {
    root: &'a Value,
}

impl Checker<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
        for (keyword, rule) in schema.as_object().unwrap() {
            let fits = match keyword.as_str() {
                "const" => rule == value,
                "enum" => rule.as_array().unwrap().contains(value),
                "type" => is(rule.as_str().unwrap(), value),
                "minimum" => value.as_f64() >= rule.as_f64(),
                "maximum" => value.as_f64() <= rule.as_f64(),
                "pattern" => {
                    assert_eq!(rule, "^[0-9a-f]{64}$");
                    let text = value.as_str().unwrap_or_default();
                    text.len() == 64 && text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))
                }
                "$ref" => {
                    let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    self.check(&self.root["$defs"][name], value, at, problems);
                    true
                }
                "anyOf" => {
                    let ways = rule.as_array().unwrap().iter().map(|way| {
                        let mut found = Vec::new();
                        self.check(way, value, at, &mut found);
                        found
                    });
                    problems.extend(ways.min_by_key(Vec::len).unwrap());
                    true
                }
                "$schema"
                | "$defs"
                | "title"
                | "description"
                | "x-json-lines"
                | "properties"
                | "additionalProperties"
                | "prefixItems"
                | "items"
                | "required" => true,
                other => panic!("the schema uses `{other}`, which is not checked"),
            };
            if !fits {
                problems.push(format!("{at}: {value} does not fit {keyword} {rule}"));
            }
        }
        match value {
            Value::Object(fields) => self.fields(schema, fields, at, problems),
            Value::Array(items) => {
                let first = schema.get("prefixItems").and_then(Value::as_array);
                for (index, item) in items.iter().enumerate() {
                    let one = first.and_then(|first| first.get(index)).or(schema.get("items"));
                    if let Some(one) = one {
                        self.check(one, item, &format!("{at}/{index}"), problems);
                    }
                }
            }
            _ => {}
        }
    }

    fn fields(&self, schema: &Value, fields: &Map<String, Value>, at: &str, problems: &mut Vec<String>) {
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            if !fields.contains_key(name.as_str().unwrap()) {
                problems.push(format!("{at}: {name} is missing"));
            }
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, value) in fields {
            let at = format!("{at}/{name}");
            match (properties.and_then(|known| known.get(name)), schema.get("additionalProperties")) {
                (Some(known), _) => self.check(known, value, &at, problems),
                (None, Some(Value::Bool(true))) => {}
                (None, Some(others @ Value::Object(_))) => self.check(others, value, &at, problems),
                (None, _) if properties.is_some() => problems.push(format!("{at}: is not in the schema")),
                (None, _) => {}
            }
        }
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("unknown type `{other}`"),
    }
}

#[test]
fn what_does_not_fit_is_found() {
    use serde_json::json;
    let schema = json!({"type": "object", "required": ["a"], "properties": {
        "a": {"$ref": "#/$defs/small"}, "b": {"anyOf": [{"const": 1}, {"type": "null"}]},
        "c": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"enum": ["x"]}},
        "d": {"type": "object", "additionalProperties": {"type": "boolean"}},
    }, "$defs": {"small": {"type": "integer", "minimum": 0, "maximum": 9}}});
    let fits = json!({"a": 3, "b": null, "c": ["any", "x"], "d": {"k": true}});
    assert_eq!(problems(&schema, &fits), Vec::<String>::new());
    let wrong = [
        json!({}),
        json!({"a": 10}),
        json!({"a": "3"}),
        json!({"a": 3, "b": 2}),
        json!({"a": 3, "c": [1]}),
        json!({"a": 3, "c": ["s", "y"]}),
        json!({"a": 3, "d": {"k": 1}}),
        json!({"a": 3, "new": 1}),
        json!([]),
    ];
    for document in wrong {
        assert!(!problems(&schema, &document).is_empty(), "{document}");
    }
}
