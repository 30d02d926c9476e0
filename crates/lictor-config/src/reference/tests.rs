use std::fs;
use std::path::Path;

use super::*;

/// `BLESS=1 cargo test -p lictor-config reference` writes it.
#[test]
fn the_reference_in_docs_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference.md");
    let made = reference_markdown();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &made).unwrap();
    }
    let there = fs::read_to_string(&file).unwrap_or_default();
    assert!(there == made, "docs/reference.md is stale; run `BLESS=1 cargo test -p lictor-config reference`");
}
