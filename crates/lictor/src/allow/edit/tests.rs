use super::*;

fn added(text: &str) -> Option<String> {
    with(text, "bash_safety", "allow", &[quoted("rm -rf x")], &note(7))
}

const ENTRY: &str = "- 'rm -rf x'  # lictor allow 7\n";

#[test]
fn entries_go_where_they_belong_and_nothing_else_changes() {
    assert_eq!(added("").unwrap(), format!("version: 1\nbash_safety:\n  allow:\n    {ENTRY}"));
    assert_eq!(
        added("version: 1 # mine\n").unwrap(),
        format!("version: 1 # mine\nbash_safety:\n  allow:\n    {ENTRY}")
    );
    assert_eq!(
        added("bash_safety:\n  # why\n  blocked_programs: [make]\nbudget: {max_actions: 1}\n").unwrap(),
        format!(
            "bash_safety:\n  allow:\n    {ENTRY}  # why\n  blocked_programs: [make]\nbudget: {{max_actions: 1}}\n"
        )
    );
    assert_eq!(
        added("bash_safety:\n    allow:\n    - 'a'\n").unwrap(),
        format!("bash_safety:\n    allow:\n    {ENTRY}    - 'a'\n")
    );
    assert_eq!(
        added("bash_safety:\n  allow: ['a, b', c]\n").unwrap(),
        format!("bash_safety:\n  allow:\n    - 'a, b'\n    - c\n    {ENTRY}")
    );
}

#[test]
fn what_is_not_understood_is_left_alone() {
    assert_eq!(added("bash_safety: {allow: [a]}\n"), None);
    assert_eq!(added("bash_safety:\n  allow: [{a: b}]\n"), None);
}

#[test]
fn an_exception_can_be_taken_back() {
    for text in [
        "version: 1\n",
        "version: 1\nbash_safety:\n  blocked_programs: [make]\n",
        "bash_safety:\n  allow:\n    - 'a'\nbudget: {max_actions: 1}\n",
    ] {
        let with = added(text).unwrap();
        assert_eq!(without(&with, 7).unwrap(), text, "{with}");
        assert_eq!(without(&with, 8), None);
    }
}
