use super::*;

#[test]
fn lines_break_between_words() {
    let text = wrapped("  ", &"word ".repeat(30));
    assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    assert_eq!(text.split_whitespace().count(), 30);
    let long = "x".repeat(100);
    assert_eq!(wrapped("  ", &format!("a {long} b")), format!("  a\n    {long}\n    b\n"));
}

#[test]
fn what_is_cut_off_shows() {
    assert_eq!(clipped("short", 10), "short");
    assert_eq!(clipped("a line\nand more", 9), "a line a…");
}
