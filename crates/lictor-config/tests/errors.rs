//! Errors of policy files, checked to the underlined character.
//!
//! A case is `=== id` (with `user` or `managed` after it when the file is not a repository's), the file, `---`,
//! and exactly what is printed. `BLESS=1 cargo test -p lictor-config --test errors` writes the current output,
//! for review.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail by panicking")]
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use lictor_config::{Diagnostic, Origin, Severity, Source, load};

struct Case {
    head: String,
    input: String,
    expected: String,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for part in text.split("=== ").skip(1) {
        let (head, rest) = part.split_once('\n').expect("a head line");
        let (input, expected) = rest.split_once("---\n").unwrap_or((rest, ""));
        cases.push(Case {
            head: head.to_owned(),
            input: input.to_owned(),
            expected: expected.trim_end().to_owned(),
        });
    }
    cases
}

/// `<NUL>`, `<TAB>` and similar are placeholders for characters that cannot be in a text file.
fn bytes(input: &str) -> Vec<u8> {
    if input.contains("<HUGE>") {
        return vec![b'x'; 100 * 1024 * 1024];
    }
    let text = input.replace("<NUL>", "\0").replace("<TAB>", "\t").replace("<BELL>", "\u{7}");
    let mut bytes = Vec::new();
    for (index, part) in text.split("<BAD>").enumerate() {
        if index > 0 {
            bytes.push(0xff);
        }
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}

fn printed(case: &Case) -> (String, bool) {
    let origin = match case.head.split_whitespace().nth(1) {
        Some("user") => Origin::User,
        Some("managed") => Origin::Managed,
        _ => Origin::Repository,
    };
    let bytes = bytes(&case.input);
    let source = String::from_utf8_lossy(&bytes).into_owned();
    let source = if source.len() > 100_000 { String::new() } else { source };
    let loaded = load(&[Source { origin, path: "governance.yaml".to_owned(), bytes }]);
    let (problems, refused): (Vec<Diagnostic>, bool) = match loaded {
        Ok(loaded) => (loaded.check(), false),
        Err(error) => (error.diagnostics, true),
    };
    assert_eq!(refused, problems.iter().any(|problem| problem.severity == Severity::Error), "{}", case.head);
    let shown: Vec<String> = problems.iter().map(|problem| problem.render(&source)).collect();
    (if shown.is_empty() { "nothing".to_owned() } else { shown.join("\n") }, refused)
}

fn files() -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/errors");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_problem_is_shown_where_it_is() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    let mut ids = BTreeSet::new();
    let mut refused = 0;
    for file in files() {
        let mut all = String::new();
        for case in cases(&fs::read_to_string(&file).unwrap()) {
            let id = case.head.split_whitespace().next().unwrap().to_owned();
            assert!(ids.insert(id.clone()), "two cases are called {id}");
            let (found, is_refused) = printed(&case);
            refused += usize::from(is_refused);
            if found != case.expected {
                let _ = write!(wrong, "\n=== {id}\nexpected:\n{}\nfound:\n{found}\n", case.expected);
            }
            let _ = write!(all, "=== {}\n{}---\n{found}\n\n", case.head, case.input);
        }
        if bless {
            fs::write(&file, all.trim_end().to_owned() + "\n").unwrap();
        }
    }
    assert!(bless || wrong.is_empty(), "{wrong}");
    assert!(ids.len() >= 120 && refused >= 100, "{} cases, {refused} of them refused", ids.len());
}
