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
    assert_eq!(added("bash_safety: {allow: [a\n  , b]}\n"), None);
    assert_eq!(added("bash_safety:\n  allow: [a] # why\n"), None);
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

#[test]
fn what_stands_on_one_line_is_put_on_lines_of_its_own() {
    assert_eq!(
        added("bash_safety: {allow: ['a, b', c], blocked_programs: [make, dd]}\n").unwrap(),
        format!("bash_safety:\n  allow:\n    - 'a, b'\n    - c\n    {ENTRY}  blocked_programs: [make, dd]\n")
    );
    assert_eq!(
        added("bash_safety: {blocked_programs: [make]}\nbudget: {max_actions: 1}\n").unwrap(),
        format!(
            "bash_safety:\n  allow:\n    {ENTRY}  blocked_programs: [make]\nbudget: {{max_actions: 1}}\n"
        )
    );
    assert_eq!(
        added("bash_safety:\n  allow: make\n").unwrap(),
        format!("bash_safety:\n  allow:\n    - make\n    {ENTRY}")
    );
}

#[test]
fn a_section_may_be_a_list_itself() {
    let added = |text| with(text, "exceptions", "", &["{rule: a, file: b}".to_owned()], &note(7)).unwrap();
    let entry = "- {rule: a, file: b}  # lictor allow 7\n";
    assert_eq!(added("version: 1\n"), format!("version: 1\nexceptions:\n  {entry}"));
    assert_eq!(
        added("exceptions: [{rule: c, file: d}]\n"),
        format!("exceptions:\n  - {{rule: c, file: d}}\n  {entry}")
    );
    assert_eq!(without(&added("version: 1\n"), 7).unwrap(), "version: 1\n");
}

#[test]
fn an_entry_that_no_longer_counts_stands_there_as_a_comment() {
    let out = |text| taken_out(text, "boundaries", "red_line_files", "a.txt", &note(7));
    let block = "boundaries:\n  red_line_files:\n    - b.txt\n    - 'a.txt'  # why\n";
    let without_it =
        "boundaries:\n  red_line_files:\n    - b.txt\n    # - 'a.txt'  # why  # lictor allow 7\n";
    assert_eq!(out(block).unwrap(), without_it);
    assert_eq!(without(without_it, 7).unwrap(), block);
    assert_eq!(
        out("boundaries: {red_line_files: [a.txt], allowed_dirs: [src]}\n").unwrap(),
        "boundaries:\n  red_line_files:\n    # - a.txt  # lictor allow 7\n  allowed_dirs: [src]\n"
    );
    assert_eq!(out("boundaries: {red_line_files: ['*.txt']}\n"), None);
    assert_eq!(out("boundaries: {allowed_dirs: [a.txt]}\n"), None);
}
