use serde::Deserialize;

use super::Misread;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Wanted {
    name: String,
    #[serde(default)]
    list: Vec<Inner>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only read")]
struct Inner {
    n: u32,
}

#[test]
fn what_is_wrong_is_said_in_plain_words_with_its_place() {
    for (text, said) in [
        ("{", "line 1, column 1: it ends in the middle"),
        ("", "line 1, column 0: it ends in the middle"),
        ("{\n  nonsense", "line 2, column 3: it is not JSON from here on"),
        (r#"{"name": "a"} more"#, "line 1, column 15: it is not JSON from here on"),
        ("{}", "line 1, column 2: `name` is missing"),
        (r#"{"nam": 1}"#, "line 1, column 6: `nam` is not known; known are `name`, `list`"),
        (r#"{"name": "a", "name": "b"}"#, "line 1, column 20: `name` is there twice"),
        (r#"{"name": 7}"#, "line 1, column 10: the number `7` stands where text is wanted"),
        (r#"{"name": null}"#, "line 1, column 13: `null` stands where text is wanted"),
        (r#"{"name": true}"#, "line 1, column 13: `true` stands where text is wanted"),
        (r#"{"name": "a", "list": "b"}"#, r#"line 1, column 25: the text "b" stands where a list is wanted"#),
        (
            r#"{"name": "a", "list": ["b"]}"#,
            r#"line 1, column 26: the text "b" stands where an object is wanted"#,
        ),
        (r#"{"name": "a", "list": {}}"#, "line 1, column 22: an object stands where a list is wanted"),
        (
            r#"{"name": "a", "list": [{"n": -1}]}"#,
            "line 1, column 31: the number `-1` stands where a whole number from 0 on is wanted",
        ),
    ] {
        let error = serde_json::from_str::<Wanted>(text).unwrap_err();
        assert_eq!(Misread::from(error).to_string(), said, "{text}");
    }
}
