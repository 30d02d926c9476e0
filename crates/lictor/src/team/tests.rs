use super::*;

fn bundle(away: Away, max_age: u64, fetched: i64) -> Bundle {
    Bundle {
        url: "http://127.0.0.1:1".to_owned(),
        tenant: "team".to_owned(),
        version: 1,
        text: None,
        away,
        max_age,
        fetched: Timestamp(fetched),
    }
}

fn server(away: Option<Away>, max_age: Option<u64>) -> ServerConfig {
    ServerConfig { url: "http://127.0.0.1:1".to_owned(), away, max_age, token_file: None }
}

#[test]
fn the_stricter_word_counts() {
    let cases = [
        (None, Away::Pass, Away::Pass),
        (Some(Away::LastGood), Away::Pass, Away::LastGood),
        (Some(Away::Pass), Away::Block, Away::Block),
        (Some(Away::Block), Away::Pass, Away::Block),
    ];
    for (said, published, wanted) in cases {
        assert_eq!(away(Some(&bundle(published, 60, 0)), &server(said, None)), wanted);
    }
    assert_eq!(away(None, &server(None, None)), Away::LastGood);
}

#[test]
fn the_shorter_age_counts_and_a_clock_set_back_makes_nothing_young() {
    let hour = bundle(Away::LastGood, 3_600, 10_000_000);
    let at = |millis| Timestamp(10_000_000 + millis);
    assert!(is_young(Some(&hour), &server(None, None), at(3_600_000)));
    assert!(!is_young(Some(&hour), &server(None, None), at(3_600_001)));
    assert!(!is_young(Some(&hour), &server(None, Some(1_000)), at(1_001)));
    assert!(is_young(Some(&hour), &server(None, None), at(-SLACK)));
    assert!(!is_young(Some(&hour), &server(None, None), at(-SLACK - 1)));
    assert!(!is_young(Some(&hour), &server(Some(Away::Block), None), at(IN_TOUCH + 1)));
    assert!(!is_young(None, &server(None, None), at(0)));
}
