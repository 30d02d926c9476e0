use super::*;

#[test]
fn a_state_counts_once_for_its_action_and_only_unchanged() {
    let mut sealer = Sealer::new().expect("a key");
    let (call, other) = (Digest::of(b"call"), Digest::of(b"other"));
    let now = Timestamp::default();
    let text = sealer.seal(Some("a1".to_owned()), call, None, now);
    assert!(Sealer::is_ours(&text));
    assert_eq!(sealer.open(&text, &other, now), Err(BadState::OtherCall));
    for at in 0..text.len() {
        let mut changed = text.clone().into_bytes();
        changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
        let changed = String::from_utf8(changed).expect("ASCII");
        assert_eq!(sealer.open(&changed, &call, now), Err(BadState::Altered), "changed at {at}");
    }
    assert_eq!(sealer.open(&text, &call, now).expect("it counts").approval.as_deref(), Some("a1"));
    assert_eq!(sealer.open(&text, &call, now), Err(BadState::Used));
    let late = sealer.seal(None, call, None, now);
    assert_eq!(sealer.open(&late, &call, now.plus_millis(LASTS_MS)), Err(BadState::Expired));
    let elsewhere = Sealer::new().expect("a key").seal(None, call, None, now);
    assert_eq!(sealer.open(&elsewhere, &call, now), Err(BadState::Altered));
}
