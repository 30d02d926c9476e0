use super::ROWS;

#[test]
fn rows_are_sorted_by_program() {
    assert!(ROWS.is_sorted_by_key(|(program, _, _)| *program));
}
