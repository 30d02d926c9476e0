use super::Pattern;

fn trim(text: &str, pattern: &str, end: bool, longest: bool) -> Option<String> {
    Pattern::new(pattern)?.trim(text, end, longest)
}

#[test]
fn ends_are_trimmed() {
    for (text, pattern, end, longest, expected) in [
        ("/a/b/c", "*/", false, false, "a/b/c"),
        ("/a/b/c", "*/", false, true, "c"),
        ("a.b.c", ".*", true, false, "a.b"),
        ("a.b.c", ".*", true, true, "a"),
        ("abc", "?", false, false, "bc"),
        ("abc", "x", false, false, "abc"),
        ("äbc", "?", false, false, "bc"),
    ] {
        assert_eq!(trim(text, pattern, end, longest).as_deref(), Some(expected), "{text} {pattern}");
    }
}

#[test]
fn matches_are_replaced() {
    let replace =
        |text: &str, pattern: &str, all| Pattern::new(pattern)?.replace(text, "-", all, false, false);
    assert_eq!(replace("aXbX", "X", true).as_deref(), Some("a-b-"));
    assert_eq!(replace("aXbX", "X", false).as_deref(), Some("a-bX"));
    assert_eq!(replace("abc", "b*", false).as_deref(), Some("a-"));
    assert_eq!(replace("abc", "", true).as_deref(), Some("abc"));
}

#[test]
fn what_is_not_modelled_or_too_much_is_not_guessed() {
    assert!(Pattern::new("[ab]").is_none());
    assert_eq!(trim(&"a".repeat(10_000), &"*a".repeat(10), false, true), None);
}
