//! `docs/features.md` names a test for every feature of the source documents, and each of them exists.

use std::collections::BTreeMap;
use std::fs;

use crate::root;

/// How many features each document has.
const FEATURES: [(&str, usize); 4] = [
    ("Findings ledger (ctx)", 45),
    ("verdikt", 85),
    ("Guardrails (WINK)", 84),
    ("Policies with callbacks (VRE, issue 22)", 46),
];

/// Whether a file has a test with this name; a file alone is a page or a crate whose samples are run, or the
/// licence.
fn is_shown(file: &str, test: Option<&str>) -> bool {
    let place = if file.starts_with("lictor") { root().join("crates").join(file) } else { root().join(file) };
    let Ok(text) = fs::read_to_string(place) else { return false };
    let Some(test) = test else {
        return file.ends_with(".md") || file.ends_with("lib.rs") || file == "LICENSE";
    };
    if file.ends_with(".py") {
        return test.starts_with("test_") && text.contains(&format!("\ndef {test}("));
    }
    let Some(at) = text.find(&format!("fn {test}(")) else { return false };
    let (before, _) = text.split_at(at);
    before.lines().rev().take(4).any(|line| line.trim() == "#[test]")
}

fn rows(page: &str) -> BTreeMap<&str, Vec<Vec<&str>>> {
    let mut found: BTreeMap<&str, Vec<Vec<&str>>> = BTreeMap::new();
    let mut section = "";
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        } else if line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit() {
            let cells = line.trim_matches('|').split(" | ").map(str::trim).collect();
            found.entry(section).or_default().push(cells);
        }
    }
    found
}

#[test]
fn every_feature_is_shown_by_a_test_that_exists() {
    let page = fs::read_to_string(root().join("docs/features.md")).unwrap();
    let rows = rows(&page);
    for (section, count) in FEATURES {
        let rows = &rows[section];
        assert_eq!(rows.len(), count, "{section}");
        for (index, row) in rows.iter().enumerate() {
            let (number, shown) = (row[0], *row.last().unwrap());
            assert_eq!(number, (index + 1).to_string(), "{section}");
            let words: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
            assert!(is_shown(words[0], words.get(1).copied()), "{section} {number}: there is no {shown}");
        }
    }
}

#[test]
fn a_test_that_is_gone_is_noticed() {
    assert!(is_shown("lictor-engine/tests/extend.rs", Some("equal_names_can_be_numbered")));
    assert!(!is_shown("lictor-engine/tests/extend.rs", Some("equal_names_can_be_numberd")));
    assert!(!is_shown("lictor-engine/tests/extended.rs", Some("equal_names_can_be_numbered")));
    assert!(is_shown("python/tests/test_readme.py", Some("test_the_samples_print_what_they_say")));
    assert!(!is_shown("python/tests/test_readme.py", Some("ported")), "a helper is no test");
    assert!(!is_shown("python/tests/test_readme.py", Some("test_the_samples")));
    // A helper is no test.
    assert!(!is_shown("lictor-engine/tests/extend.rs", Some("passing")));
}
