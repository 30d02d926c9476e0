use proptest::prelude::*;

use super::*;

fn text(all: &[u64]) -> String {
    let mut text = String::new();
    all.iter().for_each(|number| push(&mut text, *number));
    text
}

proptest! {
    #[test]
    fn what_is_written_is_read(all in prop::collection::vec(prop_oneof![0..2000_u64, any::<u64>()], 0..20)) {
        let written = text(&all);
        prop_assert_eq!(numbers(&written).collect::<Option<Vec<_>>>(), Some(all));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[ -~]{0,40}") {
        let _ = numbers(&text).take(100).count();
    }
}

#[test]
fn small_numbers_are_short() {
    assert_eq!(text(&[0, 31, 32, 1_000]), "0O]1eO");
    assert_eq!(text(&[u64::MAX]).len(), 13);
}

#[test]
fn what_was_not_written_is_refused() {
    for text in ["]", "] 1", "~", "ü", "/", "\\", "||||||||||||@", "]]]]]]]]]]]]]1"] {
        assert_eq!(numbers(text).collect::<Option<Vec<_>>>(), None, "{text}");
    }
}
