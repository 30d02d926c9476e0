use super::*;

/// Reported coverage is real: tested with names that distinguish entries.
#[test]
fn what_is_said_to_be_covered_is() {
    let entries = [
        "a*",
        "a/*",
        "a/**",
        "**/a",
        "**/a*",
        "a/b*",
        "a/b/**",
        "b/a",
        "b/**/a",
        "*",
        "**",
        "a",
        "a/b",
        "{a,b}",
        "a/{b,c}",
        "[ab]",
        "?",
        "**/b/a",
        "a**",
        "a*b",
        "!a",
        "a/*/b",
        "**/*.rs",
        "src/**/*.rs",
        "x__*",
        "x__y_*",
    ];
    let names = [
        "a",
        "b",
        "ab",
        "a/b",
        "a/c",
        "a/b/c",
        "b/a",
        "b/c/a",
        "c/b/a",
        "a/x/b",
        "x.rs",
        "src/x.rs",
        "src/y/x.rs",
        "x__y_z",
        "x__z",
        "a/b/a",
        "abb",
        "a/ab",
        "",
    ];
    let mut covered = 0;
    for wide in entries {
        for narrow in entries.into_iter().filter(|narrow| globs(wide, narrow)) {
            covered += 1;
            for name in names.into_iter().filter(|name| fast_glob::glob_match(narrow, name)) {
                assert!(fast_glob::glob_match(wide, name), "`{wide}` does not stand for `{narrow}`: {name}");
            }
        }
    }
    assert!(covered > 20, "only {covered}");
}

#[test]
fn hosts_below_a_domain_are_covered() {
    assert!(hosts("*.example.com", "api.example.com"));
    assert!(hosts("*.example.com", "*.eu.example.com"));
    assert!(hosts("*", "example.com"));
    assert!(!hosts("*.example.com", "example.com"));
    assert!(!hosts("*.example.com", "*.example.com"), "the same is said elsewhere");
    assert!(!hosts("*.example.com", "badexample.com"));
    assert!(!hosts("example.com", "api.example.com"));
}
