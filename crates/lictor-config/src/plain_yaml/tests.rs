use serde_json::json;

use super::{read_plain, write_plain};

#[test]
fn what_is_written_is_read_again() {
    let value = json!({
        "version": 1,
        "by": "Ada: \"the first\" # really",
        "empty": [], "none": null, "yes": true, "text": "true", "number": "12",
        "lines": "a\nb\t\u{7}",
        "list": [{"argv": ["sh", "-c", "- x"], "files": {"scripts/a.sh": "00", "a b": "11"}}, "plain", [1, [2]]],
    });
    let text = write_plain(&value);
    assert_eq!(read_plain("f", text.as_bytes()).unwrap(), value, "{text}");
}

#[test]
fn it_reads_like_yaml() {
    let text = write_plain(&json!({"trust": [{"argv": ["make", "lint"], "what": "lint"}]}));
    assert_eq!(text, "trust:\n  - argv:\n      - \"make\"\n      - \"lint\"\n    what: \"lint\"\n");
}
