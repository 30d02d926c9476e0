use super::after_prefix;

#[test]
fn the_end_of_a_prefix_is_the_next_byte_string_that_does_not_have_it() {
    assert_eq!(after_prefix(b"ab"), Some(b"ac".to_vec()));
    assert_eq!(after_prefix(b"a\xff\xff"), Some(b"b".to_vec()));
    assert_eq!(after_prefix(b"\xff"), None);
    assert_eq!(after_prefix(b""), None);
}
