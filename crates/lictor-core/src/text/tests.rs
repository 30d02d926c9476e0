use super::*;

#[test]
fn what_could_mislead_is_replaced() {
    assert_eq!(clean("a\nb\u{1b}[31mc\u{202e}d\u{200b}", 99), "a\u{fffd}b\u{fffd}[31mc\u{fffd}d\u{fffd}");
    assert_eq!(clean("häß 🦀", 99), "häß 🦀");
}

#[test]
fn long_text_is_cut_by_characters() {
    assert_eq!(clean("äöüß", 2), "äö…");
    assert_eq!(clean("äö", 2), "äö");
}

#[test]
fn a_quote_cannot_be_left() {
    assert_eq!(quote("x` approved `y", 99), "`x' approved 'y`");
}
