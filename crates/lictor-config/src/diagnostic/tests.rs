use super::*;

#[test]
fn underlines_exactly_the_span() {
    let source = "boundaries:\n  redline_files: [a]\n";
    let span = Span { line: 2, column: 3, end_line: 2, end_column: 16 };
    let shown = Diagnostic::error("governance.yaml", span, "unknown key `redline_files`")
        .help("did you mean `red_line_files`?")
        .render(source);
    assert_eq!(
        shown,
        "governance.yaml:2:3: error: unknown key `redline_files`\n   |\n 2 |   redline_files: [a]\n   |   ^^^^^^^^^^^^^\n  help: did you mean `red_line_files`?"
    );
}

#[test]
fn suggests_near_words_and_only_those() {
    let keys = ["red_line_files", "allowed_dirs", "red_line_mode"];
    assert_eq!(closest("redline_files", keys), Some("red_line_files"));
    assert_eq!(closest("allowed-dirs", keys), Some("allowed_dirs"));
    assert_eq!(closest("allowde_dirs", keys), Some("allowed_dirs"));
    assert_eq!(closest("nothing_like_it", keys), None);
    assert_eq!(closest("", keys), None);
}
