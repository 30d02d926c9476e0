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

#[test]
fn what_could_mislead_is_written_out_for_whoever_decides() {
    let text = "rm x \u{1b}[2K\u{9b}1m\r# harmless\u{202e}txt\u{200b}\nnext\tword";
    let seen = "rm x \\x1b[2K\\u{9b}1m\\x0d# harmless\\u{202e}txt\\u{200b}\nnext    word";
    assert_eq!(visible(text), seen);
    assert_eq!(visible_line("a\nb"), "a\\nb");
    assert_eq!(visible("häß 🦀"), "häß 🦀");
}
