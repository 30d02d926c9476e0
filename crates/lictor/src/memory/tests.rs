use super::*;

/// A process that embeds the library keeps its own limit.
#[test]
fn only_a_process_that_asked_is_bounded() {
    let limit = || getrlimit(Resource::As).current;
    let before = limit();
    let judging = Bounded::begin();
    assert_eq!(limit(), before);
    drop(judging);
    assert_eq!(limit(), before);
}
