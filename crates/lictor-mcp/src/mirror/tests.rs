use serde_json::json;

use super::*;

fn tool(schema: Value) -> Value {
    json!({"name": "query", "inputSchema": schema})
}

fn fields(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

#[test]
fn arguments_are_repeated_as_the_protocol_says() {
    let schema = json!({"type": "object", "properties": {
        "text": {"type": "string", "x-mcp-header": "Text"},
        "deep": {"type": "object", "properties": {"count": {"type": "integer", "x-mcp-header": "Count"}}},
        "other": {"type": "string"},
    }});
    let declared = declared(&tool(schema)).expect("allowed");
    let of = |arguments: Value| of_arguments(&declared, &fields(arguments));
    let header = |name: &str, value: &str| (format!("{PARAM}{name}"), value.to_owned());
    assert_eq!(
        of(json!({"text": "us-west1", "deep": {"count": -7}})),
        [header("count", "-7"), header("text", "us-west1")]
    );
    assert_eq!(of(json!({"text": null, "other": "x"})), []);
    for (text, encoded) in [
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ] {
        assert_eq!(of(json!({"text": text})), [header("text", encoded)]);
        assert_eq!(agree(&declared, &fields(json!({"text": text})), &[header("text", encoded)]), Ok(()));
    }
    let arguments = fields(json!({"text": "a", "deep": {"count": 42}}));
    let good = [header("text", "a"), header("count", "42.0"), header("unknown", "x")];
    assert_eq!(agree(&declared, &arguments, &good), Ok(()));
    for wrong in [
        vec![header("text", "a")],
        vec![header("text", "b"), header("count", "42")],
        vec![header("text", "a"), header("text", "a"), header("count", "42")],
        vec![header("text", "=?base64?!?="), header("count", "42")],
    ] {
        assert!(agree(&declared, &arguments, &wrong).is_err(), "{wrong:?}");
    }
    assert!(agree(&declared, &fields(json!({})), &[header("text", "a")]).is_err(), "said, but not there");
}

#[test]
fn a_definition_that_asks_for_headers_in_another_way_is_not_used() {
    let string = |name: &str| json!({"type": "string", "x-mcp-header": name});
    for properties in [
        json!({"a": string("")}),
        json!({"a": string("a b")}),
        json!({"a": string("a\r\nB: c")}),
        json!({"a": string("Region"), "b": string("region")}),
        json!({"a": {"type": "number", "x-mcp-header": "A"}}),
        json!({"a": {"type": "string", "x-mcp-header": 1}}),
        json!({"a": {"type": "array", "items": string("A")}}),
        json!({"a": {"anyOf": [string("A")]}}),
    ] {
        assert_eq!(
            declared(&tool(json!({"type": "object", "properties": properties}))),
            None,
            "{properties}"
        );
    }
    assert_eq!(declared(&tool(json!({"x-mcp-header": "A"}))), None);
    assert_eq!(
        declared(&tool(json!({"properties": {"x-mcp-header": {"type": "string"}}}))),
        Some(Vec::new())
    );
}

#[test]
fn headers_and_body_must_agree() {
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "größe", "_meta": {VERSION: "2026-07-28"}}});
    let message = Message::parse(line.to_string().as_bytes()).expect("a message");
    let own = headers(&message);
    let lookup = |headers: &[(String, String)], name: &str| {
        headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.clone())
    };
    let verdict = |headers: &[(String, String)]| {
        let found: Vec<_> = ["mcp-protocol-version", "mcp-method", "mcp-name"]
            .map(|name| (name, lookup(headers, name)))
            .to_vec();
        check(&message, |name| found.iter().find(|(known, _)| *known == name)?.1.as_deref())
    };
    assert_eq!(verdict(&own), Ok(()));
    for at in 0..own.len() {
        let mut missing = own.clone();
        missing.remove(at);
        assert!(verdict(&missing).is_err(), "{missing:?}");
        let mut other = own.clone();
        other[at].1.push('x');
        assert!(verdict(&other).is_err(), "{other:?}");
    }
}
