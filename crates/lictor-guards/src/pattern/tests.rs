use super::*;

#[test]
fn look_around_and_back_references_are_refused() {
    for bad in ["(?=x)", r"(a)\1", "[", "*"] {
        assert!(Pattern::anywhere(bad).is_err(), "{bad}");
    }
    let error = Pattern::anywhere("(?=x)").unwrap_err().to_string();
    assert!(error.contains("`(?=x)`") && error.contains("look-around"), "{error}");
}

#[test]
fn the_needed_literal_is_in_every_match() {
    for (source, literal) in [
        (r"rm\s+-rf\s+/", Some("-rf")),
        (r"DROP\s+TABLE", Some("TABLE")),
        ("ab?c", Some("a")),
        ("ab+c", Some("ab")),
        ("a|b", None),
        ("(?i)x", None),
        (r"\bgit push\b", Some("git push")),
    ] {
        assert_eq!(needed_literal(source).as_deref(), literal, "{source}");
    }
}

#[test]
fn a_whole_pattern_has_to_match_all_of_it() {
    let pattern = Pattern::whole("rm -rf target").unwrap();
    assert!(pattern.is_match("rm -rf target"));
    assert!(!pattern.is_match("rm -rf target /"));
}

#[test]
fn a_pattern_that_is_too_large_forbids_everything_and_excepts_nothing() {
    let large = "(?:[a-z]{1000}){1000}";
    assert!(Pattern::anywhere(large).unwrap().is_match("ls"));
    assert!(!Pattern::whole(large).unwrap().is_match("ls"));
}

#[test]
fn a_pattern_is_compiled_once_and_only_for_a_text_that_it_could_match() {
    let pattern = Pattern::anywhere(r"rm\s+-rf\s+/").unwrap();
    assert!(!pattern.is_match("ls"));
    assert!(pattern.compiled.get().is_none());
    assert!(pattern.is_match("rm -rf /"));
    assert!(pattern.compiled.get().is_some());
}
