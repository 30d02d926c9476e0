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
    let mark = callers.get(secret).unwrap_err();
    callers.keep(secret, &token(), mark);
    assert!(callers.get(secret).is_ok());
    callers.forget();
    let late = callers.get(secret).unwrap_err();
    // Looked up before the next change, remembered after it.
    callers.forget();
    callers.keep(secret, &token(), late);
    assert!(callers.get(secret).is_err());
}
