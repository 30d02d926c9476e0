use proptest::prelude::*;

use super::*;

fn key(byte: u8) -> RecordKey {
    RecordKey::from_bytes([byte; 32])
}

fn effects() -> Effects {
    let key = key(1);
    let mut effects = Effects::default();
    effects.put(&key, Space::Grant, b"a", &entry_seal(&key, Space::Grant, b"a", b"1"));
    effects.delete(&key, Space::Grant, b"b");
    effects
}

#[test]
fn a_seal_fits_one_record_one_key_and_its_own_effects() {
    let hash = Digest::of(b"record");
    let seal = Seal::new(&key(1), &hash, &effects());
    assert!(seal.fits(&key(1), &hash));
    assert!(!seal.fits(&key(2), &hash));
    assert!(!seal.fits(&key(1), &Digest::of(b"another")));
    let mut other = seal.clone();
    other.effects.pop();
    assert!(!other.fits(&key(1), &hash));
}

#[test]
fn seals_come_back_from_bytes_and_text() {
    let seal = Seal::new(&key(1), &Digest::of(b"record"), &effects());
    assert_eq!(Seal::from_bytes(&seal.to_bytes()), Some(seal.clone()));
    let text = serde_json::to_string(&seal).unwrap();
    assert_eq!(serde_json::from_str::<Seal>(&text).unwrap(), seal);
    assert_eq!(seal.effects(), Some(effects()));
    assert!(serde_json::from_str::<Seal>("\"zz\"").is_err());
    assert!(serde_json::from_str::<Seal>("\"00\"").is_err());
}

#[test]
fn effects_follow_each_other() {
    let key = key(1);
    let seal = |value: &[u8]| entry_seal(&key, Space::Grant, b"a", value);
    let mut all = Effects::default();
    let mut first = Effects::default();
    first.put(&key, Space::Grant, b"a", &seal(b"1"));
    all.then(first);
    let mut second = Effects::default();
    second.put(&key, Space::Grant, b"a", &seal(b"2"));
    all.then(second);
    assert_eq!(all.left(), 1);
    assert!(!all.clone().take(&key, Space::Grant, b"a", b"1"), "an older value does not follow");
    assert!(!all.clone().take(&key, Space::Plan, b"a", b"2"));
    assert!(all.take(&key, Space::Grant, b"a", b"2"));
    assert!(!all.take(&key, Space::Grant, b"a", b"2"), "there is only one");
    assert_eq!(all.left(), 0);
}

#[test]
fn a_whole_account_forgets_what_came_before() {
    let key = key(1);
    let mut all = effects();
    all.then(Effects::whole());
    assert_eq!(all.left(), 0);
    let mut gone = Effects::default();
    gone.delete(&key, Space::Grant, b"a");
    all.then(gone);
    assert_eq!(all, Effects::whole());
}

proptest! {
    #[test]
    fn no_bytes_make_it_fall_over(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Some(effects) = Effects::from_bytes(&bytes) {
            prop_assert!(effects.to_bytes().len() <= bytes.len());
        }
        let _ = Seal::from_bytes(&bytes);
    }
}
