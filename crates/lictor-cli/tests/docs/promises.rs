//! The table of promises in `docs/threat-model.md`: every test that a cell names exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::root;

/// The names of all tests in Rust files below a directory.
fn tests(directory: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            tests(&path, names);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            for part in text.split("#[test]").skip(1) {
                let function = part.split("fn ").nth(1).and_then(|rest| rest.split(['(', '<']).next());
                names.extend(function.map(str::to_owned));
            }
        }
    }
}

/// The cells of tables, row by row.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = text.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---"));
    lines.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
}

#[test]
fn every_promise_names_tests_that_exist() {
    let text = fs::read_to_string(root().join("docs/threat-model.md")).unwrap();
    let section = text.split("## What is promised").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut known = BTreeSet::new();
    tests(&root().join("crates"), &mut known);
    let mut named = 0;
    for row in rows(section).filter(|row| row[0] != "promise") {
        assert_eq!(row.len(), 4, "{row:?}");
        for cell in &row[1..] {
            // Names of tests have underscores; other words in backticks do not.
            let tests: Vec<&str> =
                cell.split('`').skip(1).step_by(2).filter(|word| word.contains('_')).collect();
            let promises = !cell.starts_with("no") && !cell.starts_with("as ");
            assert!(!promises || !tests.is_empty(), "no test backs `{cell}` in `{}`", row[0]);
            for test in tests {
                assert!(known.contains(test), "`{test}` in `{}` is no test", row[0]);
                named += 1;
            }
        }
    }
    assert!(named >= 20, "{named}");
}
