use super::*;

#[test]
fn nothing_hidden_reaches_a_page() {
    let hostile = "a\u{202e}b\u{200b}c\x1b[31m\td\ne\r".to_owned();
    assert_eq!(readable(hostile), "a\\u{202e}b\\u{200b}c\\x1b[31m    d\ne\\x0d");
    assert_eq!(readable("plain — größe\n".to_owned()), "plain — größe\n");
}
