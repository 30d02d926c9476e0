use super::*;

#[test]
fn what_differs_is_shown_with_what_stands_around_it() {
    let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
    let new = "a\nb\nc\nD\ne\nf\ng\nh\ni\n";
    assert_eq!(
        unified(old, new, 1),
        ["@@ -3,3 +3,3 @@", " c", "-d", "+D", " e", "@@ -8 +8,2 @@", " h", "+i"]
    );
}

#[test]
fn a_text_that_comes_or_goes_is_one_hunk() {
    assert_eq!(unified("", "a\nb\n", 3), ["@@ -0,0 +1,2 @@", "+a", "+b"]);
    assert_eq!(unified("a\n", "", 3), ["@@ -1 +0,0 @@", "-a"]);
}

#[test]
fn equal_texts_have_no_hunks() {
    assert!(hunks("a\nb", "a\nb", 2).is_empty());
    assert!(hunks("", "", 2).is_empty());
}

#[test]
fn all_lines_can_be_asked_for() {
    let hunks = hunks("a\nb\nc", "a\nB\nc", usize::MAX);
    let [hunk] = hunks.as_slice() else { panic!("{hunks:?}") };
    let expected = [(Change::Kept, "a"), (Change::Removed, "b"), (Change::Added, "B"), (Change::Kept, "c")];
    assert_eq!(hunk.lines, expected);
}
