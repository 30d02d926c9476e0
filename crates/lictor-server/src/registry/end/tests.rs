use std::convert::Infallible;

use lictor_core::Digest;

use super::*;

fn head(seq: u64) -> Head {
    Head { seq, hash: Digest::of(&seq.to_be_bytes()) }
}

/// What is known at that time, when a look finds that record.
fn got(end: &End, now: Instant, found: u64) -> u64 {
    end.get(now, || Ok::<_, Infallible>(head(found))).unwrap().seq
}

#[test]
fn one_looks_again_while_the_others_take_what_is_known_until_it_is_too_old() {
    let (end, start) = (End::default(), Instant::now());
    assert_eq!(got(&end, start, 1), 1);
    assert_eq!(got(&end, start + AGAIN / 2, 2), 1, "known");
    let later = start + AGAIN;
    let slow = end.get(later, || {
        assert!(end.state.try_lock().is_ok(), "a look must not hold the lock");
        assert_eq!(got(&end, later, 2), 1, "another one looks");
        assert_eq!(got(&end, start + FRESH, 3), 3, "too old");
        Ok::<_, Infallible>(head(2))
    });
    assert_eq!(slow.unwrap(), head(2));
    assert_eq!(got(&end, start + FRESH, 4), 3, "the later look counts");
}

#[test]
fn a_look_that_fails_leaves_nothing_behind() {
    let (end, start) = (End::default(), Instant::now());
    assert_eq!(end.get(start, || Err("no answer")), Err("no answer"));
    assert_eq!(got(&end, start, 1), 1);
}

#[test]
fn what_was_seen_before_a_change_does_not_count_after_it() {
    let (end, start) = (End::default(), Instant::now());
    let before = end.get(start, || {
        end.forget();
        Ok::<_, Infallible>(head(1))
    });
    assert_eq!(before.unwrap(), head(1));
    assert_eq!(got(&end, start, 2), 2);
    end.forget();
    assert_eq!(got(&end, start, 3), 3);
}
