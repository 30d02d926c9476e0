use lictor_store::{Draft, MemoryStore, Query};
use serde_json::json;

use super::*;

const DAY: i64 = 24 * 60 * 60 * 1_000;

fn keyed(key: &str, body: &str, at: i64) -> Keyed {
    Keyed::new("token", "/v1/evaluate", key, body.as_bytes(), Timestamp(at))
}

fn append(store: &dyn Store) -> Result<Value, StoreError> {
    let draft =
        Draft { at: Timestamp(1), session: None, kind: "evaluated".to_owned(), body: "{}".to_owned() };
    let record = store.update(Durability::Process, |tx| tx.append(draft))?;
    Ok(json!({"id": record.seq}))
}

fn count(store: &dyn Store) -> usize {
    store.view(|view| view.records(&Query::all())).unwrap().len()
}

fn entries(store: &dyn Store) -> usize {
    store.view(|view| view.scan(Space::Meta, &Keys::prefix("once"))).unwrap().len()
}

#[test]
fn what_was_done_is_answered_from_the_store() {
    let store = Marked::new(Arc::new(MemoryStore::new()));
    let request = keyed("a", "x", 1_000);
    assert_eq!(request.before(&store).unwrap(), Before::Never);
    let answer = request.carry_out(true, || append(&store)).unwrap().unwrap();
    assert_eq!(request.before(&store).unwrap(), Before::Answered(answer));
    assert_eq!(keyed("a", "y", 1_000).before(&store).unwrap(), Before::Other);
    assert_eq!(keyed("b", "x", 1_000).before(&store).unwrap(), Before::Never);
    // Another server, which did not look before.
    assert!(keyed("a", "x", 2_000).carry_out(true, || append(&store)).is_none());
    assert_eq!(count(&store), 1);
}

#[test]
fn a_change_and_its_note_are_one() {
    let store = Marked::new(Arc::new(MemoryStore::new()));
    let request = keyed("a", "x", 1_000);
    // The process ends between the change and the answer.
    let lost = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        request.carry_out(true, || -> Result<Value, StoreError> {
            append(&store)?;
            panic!("gone")
        })
    }));
    assert!(lost.is_err());
    assert_eq!((request.before(&store).unwrap(), count(&store)), (Before::Done, 1));
    // The thread is used again, for a request without a key.
    append(&store).unwrap();
    assert_eq!((entries(&store), count(&store)), (2, 2));
}

#[test]
fn a_secret_is_not_kept_and_what_failed_may_be_tried_again() {
    let store = Marked::new(Arc::new(MemoryStore::new()));
    let secret = keyed("a", "x", 1_000);
    secret.carry_out(false, || append(&store)).unwrap().unwrap();
    assert_eq!(secret.before(&store).unwrap(), Before::Done);
    let failing = keyed("b", "x", 1_000);
    let failed = failing.carry_out(true, || {
        append(&store)?;
        Err::<Value, _>(StoreError::Abandoned)
    });
    assert!(failed.unwrap().is_err());
    assert_eq!(failing.before(&store).unwrap(), Before::Never);
    assert!(keyed("b", "x", 1_001).carry_out(true, || append(&store)).unwrap().is_ok());
    assert_eq!(count(&store), 3);
}

#[test]
fn after_a_day_it_is_forgotten() {
    let store = Marked::new(Arc::new(MemoryStore::new()));
    for number in 0..5 {
        keyed(&number.to_string(), "x", 1_000).carry_out(true, || append(&store)).unwrap().unwrap();
    }
    assert_eq!(entries(&store), 10);
    assert_eq!(keyed("0", "x", 1_000 + DAY).before(&store).unwrap(), Before::Never);
    keyed("0", "x", 1_000 + DAY).carry_out(true, || append(&store)).unwrap().unwrap();
    assert_eq!(entries(&store), 4, "four of five are gone, and one is new");
    assert_eq!(count(&store), 6);
}
