use super::{COLUMNS, draw, rows};

#[test]
fn colours_become_looks_and_text_stays_text() {
    let drawn = draw("t", "a \u{1b}[1;31mno\u{1b}[0m <b> & \u{1b}[2mdim\u{1b}[0m\n");
    assert!(drawn.contains("fill=\"#ff7b72\" font-weight=\"bold\">no</text>"), "{drawn}");
    assert!(drawn.contains("&lt;b&gt; &amp;"), "{drawn}");
    assert!(drawn.contains("fill=\"#8b949e\">dim</text>"), "{drawn}");
    assert!(!drawn.contains('\u{1b}'), "{drawn}");
}

#[test]
fn long_lines_go_on_below_and_lose_nothing() {
    let long = format!("    {}", "word ".repeat(60).trim_end());
    let rows = rows(&long);
    assert!(rows.len() > 2 && rows.iter().all(|row| row.len() <= COLUMNS));
    let words: usize = rows
        .iter()
        .map(|row| row.iter().map(|(c, _)| *c).collect::<String>().split_whitespace().count())
        .sum();
    assert_eq!(words, 60);
    assert!(rows.iter().all(|row| row.iter().take(4).all(|(c, _)| *c == ' ')));
}
