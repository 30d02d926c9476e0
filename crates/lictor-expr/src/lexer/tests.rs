use super::{Symbol, Token, tokens};

fn one(source: &str) -> Token {
    let tokens = tokens(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    assert_eq!(tokens.len(), 2, "{source}: {tokens:?}");
    tokens[0].0.clone()
}

#[test]
fn literals() {
    for (source, want) in [
        ("0", Token::Int(0)),
        ("0x1F", Token::Int(31)),
        ("9223372036854775808", Token::Int(1 << 63)),
        ("1.5", Token::Double(1.5)),
        (".5", Token::Double(0.5)),
        ("1e3", Token::Double(1000.0)),
        ("1E-2", Token::Double(0.01)),
        ("''", Token::Text(String::new())),
        (r#""a\"b""#, Token::Text("a\"b".into())),
        (r#"r"a\b""#, Token::Text("a\\b".into())),
        (r"'\x41\u00e9\U0001F600\101'", Token::Text("Aé😀A".into())),
        ("'''a'b\nc'''", Token::Text("a'b\nc".into())),
        ("\"\"\"\"\"\"", Token::Text(String::new())),
        ("// note\n x // end", Token::Word("x".into())),
        ("r", Token::Word("r".into())),
    ] {
        assert_eq!(one(source), want, "{source}");
    }
}

#[test]
fn symbols_print_as_they_are_read() {
    for source in [
        "(", ")", "[", "]", "{", "}", ",", ":", ".", "?", "!", "-", "+", "*", "/", "%", "==", "!=", "<",
        "<=", ">", ">=", "&&", "||",
    ] {
        let Token::Symbol(symbol) = one(source) else { panic!("{source}") };
        assert_eq!(symbol.text(), source);
    }
    assert_eq!(one("<="), Token::Symbol(Symbol::LessEqual));
}
