//! The reviewed cases.

use std::path::Path;

use serde::Deserialize;

/// A text and what it does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) text: String,
    /// Whether the lines say how commands stand on the line.
    #[serde(default)]
    pub(crate) standing: bool,
    pub(crate) does: Vec<String>,
}

/// All cases, in the order of files and lines.
#[expect(clippy::expect_used, clippy::panic, reason = "a case that cannot be read must stop the tests")]
pub(crate) fn all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("cases").map(|entry| entry.expect("entry").path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "yaml")) {
        let text = std::fs::read_to_string(file).expect("readable");
        let read: Vec<Case> =
            serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        cases.extend(read);
    }
    cases
}
