use super::*;

/// A process with others in it, as every program that embeds the library is, keeps the limit that it has.
#[test]
fn only_a_process_that_asked_is_bounded() {
    let limit = || getrlimit(Resource::As).current;
    let before = limit();
    let judging = Bounded::begin();
    assert_eq!(limit(), before);
    drop(judging);
    assert_eq!(limit(), before);
}
