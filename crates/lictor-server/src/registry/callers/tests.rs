use lictor_core::Timestamp;

use super::*;
use crate::identity::Kind;

fn token() -> Known {
    let (id, tenant, owner) = ("t1".to_owned(), "acme".to_owned(), "ci".to_owned());
    let token = Token { id, tenant, kind: Kind::Service, owner, created: Timestamp(0), expires: None };
    Arc::new((token, None))
}

#[test]
fn a_change_is_seen_by_whoever_asks_next_also_while_one_looks_a_token_up() {
    let (callers, secret) = (Callers::default(), Digest::of(b"secret"));
    let mark = callers.get(secret, Head::START).unwrap_err();
    callers.keep(secret, &token(), Head::START, mark);
    assert!(callers.get(secret, Head::START).is_ok());
    callers.forget();
    let late = callers.get(secret, Head::START).unwrap_err();
    // Looked up before the next change, remembered after it.
    callers.forget();
    callers.keep(secret, &token(), Head::START, late);
    assert!(callers.get(secret, Head::START).is_err());
}

#[test]
fn a_change_by_another_server_is_seen_when_the_record_has_another_end() {
    let (callers, secret) = (Callers::default(), Digest::of(b"secret"));
    let mark = callers.get(secret, Head::START).unwrap_err();
    callers.keep(secret, &token(), Head::START, mark);
    assert!(callers.get(secret, Head::START).is_ok());
    assert!(callers.get(secret, Head { seq: 1, hash: Digest::of(b"record") }).is_err());
}
