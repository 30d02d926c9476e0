use super::{closest, distance};

#[test]
fn distances() {
    for (left, right, want) in [
        ("", "", 0),
        ("a", "", 1),
        ("", "abc", 3),
        ("kind", "kind", 0),
        ("kidn", "kind", 1),
        ("Kind", "kind", 0),
        ("tool", "tools", 1),
        ("session", "sesion", 1),
        ("starts_with", "startsWith", 1),
        ("abc", "xyz", 3),
    ] {
        assert_eq!(distance(left, right), want, "{left} {right}");
    }
}

#[test]
fn only_likely_slips_are_suggested() {
    let known = ["action", "payload", "facts", "session", "risk"];
    assert_eq!(closest("acton", known), Some("action"));
    assert_eq!(closest("payloads", known), Some("payload"));
    assert_eq!(closest("rsik", known), Some("risk"));
    assert_eq!(closest("weather", known), None);
    assert_eq!(closest("x", ["y"]), None);
    assert_eq!(closest(&"a".repeat(10_000), known), None);
}
