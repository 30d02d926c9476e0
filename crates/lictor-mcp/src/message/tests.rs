use serde::Deserialize as Derive;

use super::*;

#[derive(Derive)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    line: String,
    refused: Option<String>,
}

#[test]
fn every_line_is_one_message_or_none() {
    let cases: Vec<Case> = serde_saphyr::from_str(include_str!("cases.yaml")).expect("the cases");
    assert!(cases.len() > 20);
    for Case { id, line, refused } in cases {
        match (Message::parse(line.as_bytes()), refused) {
            (Ok(message), None) => assert_eq!(message.to_line(), format!("{line}\n"), "{id}"),
            (Err(error), Some(told)) => assert!(error.to_string().contains(&told), "{id}: {error}"),
            (read, _) => panic!("{id}: {read:?}"),
        }
    }
}

#[test]
fn depth_and_length_are_bounded() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
        let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{{\"a\":{deep}}}}}");
        assert!(matches!(Message::parse(line.as_bytes()), Err(Malformed::Json(_))));
    }
    assert_eq!(Message::parse(&vec![b' '; MAX_LINE + 1]), Err(Malformed::TooLong));
}

/// Every line that differs in one byte from a good one is read in the same way after it was written anew, or not at all.
#[test]
fn what_is_sent_on_is_what_was_judged() {
    let cases: Vec<Case> = serde_saphyr::from_str(include_str!("cases.yaml")).expect("the cases");
    let mut read = 0;
    for case in cases {
        for at in 0..case.line.len() {
            for byte in [b'"', b'\\', b'{', b'}', b'0', b',', b' ', b'N', 0xff] {
                let mut line = case.line.clone().into_bytes();
                line[at] = byte;
                let Ok(message) = Message::parse(&line) else { continue };
                read += 1;
                let again =
                    Message::parse(message.to_line().as_bytes()).expect("what was written can be read");
                assert_eq!(message, again, "{}", case.id);
            }
        }
    }
    assert!(read > 1000, "{read}");
}

#[test]
fn whoever_waits_for_a_line_that_is_no_message_is_found() {
    let cases: Vec<Case> = serde_saphyr::from_str(include_str!("cases.yaml")).expect("the cases");
    for Case { id, line, .. } in cases {
        let Ok(message) = Message::parse(line.as_bytes()) else { continue };
        assert_eq!(id_in(line.as_bytes()).as_ref(), message.id(), "{id}");
    }
    let deep = format!(
        r#"{{"result":{{"id":1,"a":{}}}, "id" : "b\"7" }}"#,
        "[".repeat(10_000) + &"]".repeat(10_000)
    );
    assert_eq!(id_in(deep.as_bytes()), Some(json!("b\"7")));
    assert_eq!(id_in(b"{\"id\":7,\"result\":{\"text\":\"\xff\xfe\"}}"), Some(json!(7)));
    assert_eq!(id_in(b"{\"id\":7,\"result\":{\"text\":\"cut"), Some(json!(7)));
    for nobody in ["{\"id\":1,\"id\":2}", "{\"id\":{}}", "{\"a\":\"id\"}", "[\"id\",1]", "\"id\":1", "id", ""]
    {
        assert_eq!(id_in(nobody.as_bytes()), None, "{nobody}");
    }
}
