use super::{Preset, languages, text};

#[test]
fn the_starter_speaks_the_repositorys_language() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("go.mod"), "module m\n").unwrap();
    let go = text(&languages::found(directory.path()), Preset::Strict);
    assert!(go.contains("Found here: Go.") && go.contains("extends: [strict]"), "{go}");
    assert!(go.contains(r#"bash("go test ./...")"#), "{go}");
    assert!(text(&[], Preset::Recommended).contains("[make, test]"));
}
