use super::*;
use crate::{Origin, Source, load};

/// Whole and broken seconds, as a number.
#[test]
fn a_moment_may_come_twice_a_second() {
    for (text, wanted) in [("0.5", Some(500)), ("2", Some(2_000)), ("1.25", Some(1_250)), ("0", None)] {
        let policy = format!("version: 1\nfeedback: [{{name: a, say: b, every_n_seconds: {text}}}]\n");
        let source = Source { origin: Origin::User, path: "g.yaml".to_owned(), bytes: policy.into_bytes() };
        let found = load(&[source]).ok().map(|loaded| loaded.policy.feedback()[0].trigger.every_n_millis);
        assert_eq!(found.flatten().map(std::num::NonZero::get), wanted, "{text}");
    }
}

#[test]
fn lengths_of_time_may_have_decimals() {
    for (text, wanted) in [
        ("500ms", Some(500)),
        ("1.5s", Some(1_500)),
        ("0.25m", Some(15_000)),
        ("2h", Some(7_200_000)),
        ("0.0004s", Some(0)),
        ("1.s", None),
        (".5s", None),
        ("1.2.3s", None),
        ("1.5", None),
        ("1.0000000001s", None),
        ("-1s", None),
        ("99999999999999999999s", None),
    ] {
        assert_eq!(millis(text), wanted, "{text}");
    }
}

#[test]
fn data_is_what_yaml_says_it_is() {
    let tree = crate::yaml::parse("x.yaml", b"{a: 1, b: '1', c: [true, null], d: {e: text}}").unwrap();
    let wanted = serde_json::json!({"a": 1, "b": "1", "c": [true, null], "d": {"e": "text"}});
    assert_eq!(data(&tree), wanted);
}
