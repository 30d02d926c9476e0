use super::*;

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    let refused = [
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call"}"#, "stands twice"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1,"x":2}}}"#,
            "stands twice",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"Method":"tools/call"}"#, "another spelling of `method`"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"b","name":"a"}}"#,
            "another spelling of `name`",
        ),
        (r#"[{"id":1,"method":"ping"}]"#, "not a JSON object"),
        ("{\"id\":1", "not strict JSON"),
    ];
    for (line, told) in refused {
        let error = Message::parse(line.as_bytes()).expect_err(line).to_string();
        assert!(error.contains(told), "{line}: {error}");
    }
    let deep = "[".repeat(10_000);
    assert!(Message::parse(format!("{{\"params\":{deep}").as_bytes()).is_err());
    assert_eq!(Message::parse(&vec![b' '; MAX_LINE + 1]), Err(Malformed::TooLong));
}

#[test]
fn unknown_fields_survive() {
    let line = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":{"Name":"kept"},"x-vendor":[1.5,null,true]}}"#;
    let message = Message::parse(line.as_bytes()).expect("a message");
    let again = Message::parse(message.to_line().as_bytes()).expect("the same message");
    assert_eq!(message, again);
    assert_eq!(message.param("x-vendor"), Some(&json!([1.5, null, true])));
    assert_eq!(message.param("arguments"), Some(&json!({"Name": "kept"})));
}
