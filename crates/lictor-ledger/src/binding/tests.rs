use proptest::prelude::*;

use super::{Moves, snippet, snippet_at};

fn snippet_of(content: &[u8], line: u32) -> Option<String> {
    snippet_at(&content.split(|byte| *byte == b'\n').collect::<Vec<_>>(), line)
}

fn follow(old: Option<&str>, line: u32, new: &str) -> Option<u32> {
    let wanted = snippet_of(old.unwrap_or(new).as_bytes(), line).unwrap();
    Moves::between(old.map(str::as_bytes), new.as_bytes()).follow(line, &wanted)
}

#[test]
fn lines_are_followed() {
    let old = "a\nb\nbad()\nc\nd\n";
    for (new, line) in [
        (old, Some(3)),
        ("x\na\nb\nbad()\nc\nd\n", Some(4)),
        ("bad()\nc\nd\n", Some(1)),
        ("a\nb\n    bad( )\r\nc\nd\n", Some(3)),
        ("a\nb\nc\nd\nbad()\n", Some(5)),
        ("a\nb\ngood()\nc\nd\n", None),
        ("a\nb\nc\nd\n", None),
        ("", None),
    ] {
        assert_eq!(follow(Some(old), 3, new), line, "{new:?}");
    }
}

#[test]
fn of_two_that_look_the_same_the_right_one_is_followed() {
    let old = "f {\n}\ng {\n}\n";
    assert_eq!(follow(Some(old), 4, "f {\n}\nnew\ng {\n}\n"), Some(5));
    assert_eq!(follow(Some("go\nx\ngo\n"), 3, "go\nx\nstop\n"), None);
}

#[test]
fn without_the_old_file_the_nearest_line_that_looks_the_same_counts() {
    let wanted = snippet(b"bad()").unwrap();
    let moves = Moves::between(None, b"bad()\nx\nx\nx\nbad()\n");
    assert_eq!(moves.follow(4, &wanted), Some(5));
    assert_eq!(moves.follow(1, &wanted), Some(1));
    assert_eq!(Moves::between(None, b"x\n").follow(1, &wanted), None);
}

#[test]
fn very_different_large_files_are_not_compared_line_by_line() {
    let file = |prefix: &str| (0..5_000).map(|n| format!("{prefix}{n}\n")).collect::<String>();
    let (old, mut new) = (file("a"), file("b"));
    new.push_str("a4000\n");
    assert_eq!(follow(Some(&old), 4_001, &new), Some(5_001));
}

#[test]
fn blank_and_missing_lines_have_no_fingerprint() {
    assert_eq!(snippet_of(b"a\n \t\nb", 2), None);
    assert_eq!(snippet_of(b"a", 0), None);
    assert_eq!(snippet_of(b"a", 9), None);
}

proptest! {
    /// A line is found whatever is inserted around it.
    #[test]
    fn insertions_elsewhere_never_lose_a_line(
        before in prop::collection::vec("[a-c]{0,2}", 0..12),
        after in prop::collection::vec("[a-c]{0,2}", 0..12),
        above in prop::collection::vec("[a-c]{0,2}", 0..6),
        below in prop::collection::vec("[a-c]{0,2}", 0..6),
    ) {
        let text = |parts: &[&[String]]| parts.concat().join("\n");
        let flagged = vec!["flagged".to_owned()];
        let old = text(&[&before, &flagged, &after]);
        let new = text(&[&above, &before, &flagged, &after, &below]);
        let line = u32::try_from(before.len()).unwrap() + 1;
        let expected = line + u32::try_from(above.len()).unwrap();
        prop_assert_eq!(follow(Some(&old), line, &new), Some(expected));
    }
}
