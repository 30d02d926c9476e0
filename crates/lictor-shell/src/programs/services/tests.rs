use super::{ROWS, rows};

#[test]
fn rows_are_sorted_by_program() {
    assert!(ROWS.is_sorted_by_key(|(program, _, _)| *program));
}

#[test]
fn every_row_is_found_by_its_program() {
    for (program, pattern, _) in ROWS {
        assert!(rows(program).any(|(_, found, _)| found == pattern), "{program} {pattern}");
    }
    assert_eq!(rows("zzz").count() + rows("Zed").count() + rows("").count(), 0);
}
