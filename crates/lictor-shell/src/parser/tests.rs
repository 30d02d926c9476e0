use super::{MAX_DEPTH, parse};

/// Bytes looked at for each byte of text, at most, whatever the text is.
const MOST_STEPS_PER_BYTE: u64 = 8;

#[test]
fn nesting_is_bounded() {
    for open in [
        "(",
        "$(",
        "{ ",
        "if ",
        "while ",
        "case x in x) ",
        "\"$(",
        "${x:-",
        "$((",
        "[[ $(",
        "<(",
        "`\\`",
        "a=(",
        "x() { ",
    ] {
        let parsed = parse(&open.repeat(10_000), 0);
        assert!(parsed.fault.depth || parsed.fault.syntax.is_some(), "{open}");
    }
    let parsed = parse(&"(".repeat(MAX_DEPTH as usize + 1), 0);
    assert!(parsed.fault.depth);
}

#[test]
fn reading_is_linear() {
    let units = [
        "a ",
        "a;",
        "$x ",
        "'a' ",
        "\"a$x\" ",
        "a && ",
        "a | ",
        "{a,b} ",
        "<<A ",
        "((",
        "((a) ",
        "$(( ",
        "`a` ",
        "\\a",
        "${x/a/b} ",
        "if a; then b; fi; ",
        "for a in b; do c; done\n",
        "case a in b) c;; esac\n",
        "f() { a; }\n",
        "#a\n",
        "a=(b c) ",
        "[[ a =~ (b|c) ]] ",
        "!(a|b) ",
        "a > b 2>&1 ",
        "cat <<A\nb\nA\n",
        ")",
        "fi ",
        "\"",
        "'",
    ];
    for unit in units {
        let text = unit.repeat(20_000 / unit.len());
        let steps = parse(&text, 0).steps;
        let most = text.len() as u64 * MOST_STEPS_PER_BYTE;
        assert!(steps <= most, "{unit:?}: {steps} steps for {} bytes", text.len());
    }
}
