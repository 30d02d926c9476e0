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

#[test]
fn lines_fit_a_terminal_and_words_stay_whole() {
    let text = "note     claude-code: files named with `@` reach the model\nshort\n";
    assert_eq!(
        fitted(text, 40),
        "note     claude-code: files named with\n         `@` reach the model\nshort\n"
    );
    let coloured = "\u{1b}[32mok     \u{1b}[0m  one two three four five\n";
    assert_eq!(fitted(coloured, 30), "\u{1b}[32mok     \u{1b}[0m  one two three four\n         five\n");
    assert_eq!(fitted("error: one two three four", 15), "error: one two\n  three four");
    // Colours take no room, and a word that fits nowhere is left whole: it is copied.
    assert_eq!(fitted("\u{1b}[1;31merror\u{1b}[0m: one two", 14), "\u{1b}[1;31merror\u{1b}[0m: one two");
    assert_eq!(fitted("see /a/very/long/path/indeed now", 10), "see\n  /a/very/long/path/indeed\n  now");
}

#[test]
fn nothing_that_is_printed_moves_hides_or_reorders_anything() {
    let all = Style { colour: true };
    for (painted, shown) in [
        (format!("{}\n", all.red("block")), "\u{1b}[1m\u{1b}[31mblock\u{1b}[0m\n"),
        (all.bold("x"), "\u{1b}[1mx\u{1b}[0m"),
        (all.dim("x"), "\u{1b}[2mx\u{1b}[0m"),
        (all.green("x"), "\u{1b}[32mx\u{1b}[0m"),
        (all.yellow("x"), "\u{1b}[33mx\u{1b}[0m"),
        (all.decision(Decision::Ask), "\u{1b}[1m\u{1b}[33mask\u{1b}[0m"),
    ] {
        assert_eq!(safe(&painted), shown);
        assert_eq!(seen(&painted), seen(shown), "colours take no room before they are written either");
    }
    assert_eq!(
        safe(&all.bold("\u{1b}[32mpass")),
        "\u{1b}[1m\\u{1b}[32mpass\u{1b}[0m",
        "only its own colours"
    );
    assert_eq!(safe("a\tb\nc – é"), "a\tb\nc – é");
    for foreign in [
        "\u{1b}[2J",
        "\u{1b}[32mpass\u{1b}[0m",
        "\u{1b}[8mx",
        "\u{9b}2J",
        "\u{1b}]0;t\u{7}",
        "a\rb",
        "\u{202e}x",
        "a\u{200b}b",
        "\u{8}",
    ] {
        let shown = safe(foreign);
        assert!(!shown.chars().any(is_deceptive), "{foreign:?} became {shown:?}");
    }
    let json = serde_json::json!({"text": "a\u{202e}b\u{e0041}\u{9b}"});
    let shown = json_line(&json).unwrap().trim_end().to_owned();
    assert!(!shown.chars().any(is_deceptive), "{shown:?}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), json);
}
