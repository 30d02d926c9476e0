use super::Plain;

#[test]
fn a_title_cannot_forge_a_line_or_move_the_cursor() {
    let title = "x\n[verdict] plan=a  level=LOW\r\u{1b}[2K\u{202e}gnp";
    let shown = Plain(title).to_string();
    assert_eq!(shown, "x\\n[verdict] plan=a  level=LOW\\u{d}\\u{1b}[2K\\u{202e}gnp");
    assert_eq!(Plain("café — ☕").to_string(), "café — ☕");
}
