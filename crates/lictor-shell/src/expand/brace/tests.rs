use super::{MOST_WORDS, Piece, expand};
use crate::ast::Part;

/// The words that an unquoted text expands to; `None` when there are too many.
fn words(text: &str) -> Option<Vec<String>> {
    let parts = [Part::Literal(text.to_owned())];
    let words = expand(&parts)?;
    let text = |word: Vec<Piece<'_>>| {
        word.iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.to_string(),
                Piece::Part(_) => "?".to_owned(),
            })
            .collect()
    };
    Some(words.into_iter().map(text).collect())
}

#[test]
fn lists_and_ranges() {
    for (text, expected) in [
        ("a{b,c}d", "abd acd"),
        ("{a,b}{c,d}", "ac ad bc bd"),
        ("{a,{b,c}}", "a b c"),
        ("{1..3}", "1 2 3"),
        ("{3..1}", "3 2 1"),
        ("{01..3}", "01 02 03"),
        ("{a..e..2}", "a c e"),
        ("{a}", "{a}"),
        ("{a,b", "{a,b"),
        ("a}{b,c}", "a}b a}c"),
        ("{1..x}", "{1..x}"),
        ("{,a}", " a"),
        ("{{a,b}", "{a {b"),
    ] {
        assert_eq!(words(text).map(|words| words.join(" ")).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn too_many_words_are_not_listed() {
    assert_eq!(words(&format!("{{1..{}}}", MOST_WORDS + 1)), None);
    assert_eq!(words(&"{a,b}".repeat(40)), None);
    assert_eq!(words(&"{a,".repeat(10_000)).map(|words| words.len()), Some(1));
    assert_eq!(words(&format!("{}{}", "{a,".repeat(1000), "}".repeat(1000))), None);
    assert_eq!(words("{-9223372036854775808..9223372036854775807}"), None);
}
