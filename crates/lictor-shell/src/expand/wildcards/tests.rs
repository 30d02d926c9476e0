use super::plain;

#[test]
fn classes_and_groups_become_wildcards() {
    for (pattern, expected) in [
        (".[[:alpha:]]laude", ".?laude"),
        ("[![:space:]x]a", "?a"),
        ("[]a[=b=]]", "?"),
        (".@(claude|x)", ".*"),
        ("+(a|@(b|c))d", "*d"),
        ("!(keep)", "*"),
        ("a?(b).txt", "a*.txt"),
    ] {
        assert_eq!(plain(pattern), expected, "{pattern}");
    }
}

#[test]
fn plain_patterns_stay() {
    for pattern in ["*.rs", "[a-z]x", "[!x]y", "a(b)", "a@b", "[[:alpha", "@(open", "[]"] {
        assert_eq!(plain(pattern), pattern, "{pattern}");
    }
}
