use super::*;
use crate::action::SessionKey;
use crate::digest::Digest;

#[test]
fn the_id_of_a_request_depends_on_all_of_it() {
    let request = |action: &[u8], session: Option<(&str, &str)>, policy: &[u8]| Request {
        action: Digest::of(action),
        session: session.map(|(agent, id)| SessionKey { agent: agent.to_owned(), id: id.to_owned() }),
        policy: Digest::of(policy),
    };
    let ids = [
        request(b"a", None, b"p").id(),
        request(b"b", None, b"p").id(),
        request(b"a", None, b"q").id(),
        request(b"a", Some(("", "s")), b"p").id(),
        request(b"a", Some(("s", "")), b"p").id(),
        request(b"a", Some(("ab", "c")), b"p").id(),
        request(b"a", Some(("a", "bc")), b"p").id(),
    ];
    let different: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(different.len(), ids.len());
    assert_eq!(request(b"a", None, b"p").id(), ids[0]);
}
