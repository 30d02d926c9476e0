use serde_json::{Value, json};

use super::from_slice;

#[test]
fn what_could_be_read_in_two_ways_is_not_read() {
    for text in [r#"{"a":1,"a":1}"#, r#"[{"x":{"b":1,"b":2}}]"#, "{} {}", "", "{", r#"{"a":1e999}"#] {
        assert!(from_slice(text.as_bytes()).is_err(), "{text}");
    }
    let whole = json!({"a": [1, -2, 0.5, true, null, "x"], "b": {"a": {}}});
    assert_eq!(from_slice(whole.to_string().as_bytes()).unwrap(), whole);
    assert_eq!(from_slice(b" null ").unwrap(), Value::Null);
}
