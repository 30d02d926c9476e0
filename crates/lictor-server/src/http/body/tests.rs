use lictor::rpc::{EvaluateParams, PostParams, ResolveParams};
use serde_json::json;

use super::*;

fn said<T: DeserializeOwned>(body: &Value) -> String {
    read::<T>(body).err().unwrap_or_default()
}

#[test]
fn what_does_not_fit_is_said_in_plain_words_and_where() {
    for (body, expected) in [
        (json!({}), "the body does not fit: missing field `action`"),
        (json!({"action": null}), "the body does not fit: `action`: invalid type: null, expected an object"),
        (
            json!({"action": ["bash"]}),
            "the body does not fit: `action`: invalid type: list, expected an object",
        ),
        (
            json!({"action": {"kind": "bash", "payload": [1]}}),
            "the body does not fit: `action.payload`: invalid type: list, expected an object",
        ),
        (
            json!({"action": {"kind": 1}}),
            "the body does not fit: `action.kind`: invalid type: integer `1`, expected a string",
        ),
        (
            json!({"action": {"kind": "bash", "payload": null}}),
            "the body does not fit: `action.payload`: invalid type: null, expected an object",
        ),
    ] {
        assert_eq!(said::<EvaluateParams>(&body), expected);
    }
    for body in [json!([]), json!([{"kind": "bash"}]), json!(null), json!("text"), json!(1)] {
        let said = format!("{}{}", said::<EvaluateParams>(&body), said::<PostParams>(&body));
        assert!(!said.contains("struct") && !said.contains("Params"), "{said}");
        assert!(not_an_object(&body).is_some());
    }
    assert_eq!(not_an_object(&json!({})), None);
}

#[test]
fn what_fits_is_read_as_before() {
    let body =
        json!({"action": {"kind": "bash", "payload": {"command": "ls"}, "chain": ["a"]}, "mode": "dry"});
    let read: EvaluateParams = read(&body).unwrap();
    assert_eq!((read.action.kind.to_string(), read.action.chain.len()), ("bash".to_owned(), 1));
    let answers = json!({"id": 1, "answers": [true, {"approved": false, "reason": "no"}]});
    assert_eq!(super::read::<ResolveParams>(&answers).unwrap().answers.len(), 2);
}
