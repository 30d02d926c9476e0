use super::*;
use crate::{Origin, Source, load};

fn redactor(list: &str) -> Redactor {
    let bytes = format!("redact: {list}\n").into_bytes();
    let source = Source { origin: Origin::Repository, path: "governance.yaml".to_owned(), bytes };
    load(&[source]).unwrap_or_else(|error| panic!("{error}")).policy.redactor().unwrap()
}

#[test]
fn every_pattern_sees_the_text_as_it_was() {
    let redactor = redactor("['ACME-[0-9]+', '7 of 9', '[0-9]+ of 9 and']");
    for (text, clean) in [
        ("x ACME-12 y ACME-3", "x [redacted] y [redacted]"),
        ("ACME-7 of 9", "[redacted]"),
        ("7 of 9 and more", "[redacted] more"),
        ("nothing of it", "nothing of it"),
        ("", ""),
        ("größe ACME-1 größe", "größe [redacted] größe"),
        // Built-in redaction applies too.
        ("ACME-1 password=correcthorse", "[redacted] password=[redacted]"),
        ("password=correcthorse", "password=[redacted]"),
    ] {
        assert_eq!(redactor.redact(text), clean, "{text}");
    }
}

#[test]
fn without_patterns_it_is_what_lictor_knows_by_itself() {
    let redactor = redactor("[]");
    assert!(!redactor.may_redact_json("{}"));
    assert!(redactor.may_redact_json("password=correcthorse"));
}

#[test]
fn texts_are_looked_at_one_by_one_not_as_json() {
    let redactor = redactor("['^pin=\"[0-9]+\"$']");
    let mut value =
        serde_json::json!({"payload": {"command": "pin=\"1234\"", "n": 1}, "reason": "a pin=\"1234\""});
    assert!(redactor.may_redact_json(&value.to_string()));
    lictor_core::redact::json(&mut value, &redactor);
    assert_eq!(value["payload"]["command"], "[redacted]");
    assert_eq!(value["reason"], "a pin=\"1234\"", "the pattern is anchored");
}
