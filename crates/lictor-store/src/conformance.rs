//! Conformance checks for implementations of a store:
//!
//! ```
//! # use lictor_store::{MemoryStore, conformance};
//! for (name, check) in conformance::CHECKS {
//!     check(&MemoryStore::new()).unwrap_or_else(|error| panic!("{name}: {error}"));
//! }
//! ```
//!
//! Each check needs its own empty store. It returns an error, or panics with the difference.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use lictor_core::{SessionKey, Timestamp};

use crate::{Draft, Durability, Head, Keys, Query, Space, Store, StoreError, StoreExt, verify};

/// The result of a check.
pub type Outcome = Result<(), Box<dyn Error>>;
/// A check.
pub type Check = fn(&dyn Store) -> Outcome;

/// All checks.
pub const CHECKS: &[(&str, Check)] = &[
    ("a new store is empty", new_is_empty),
    ("records come back as they were written, chained", records_come_back),
    ("entries can be set, replaced and removed", entries),
    ("spaces do not share keys", spaces_are_apart),
    ("a scan is ordered, bounded and can be continued", scans),
    ("a query filters, turns around and can be continued", queries),
    ("a transaction sees its own changes", sees_itself),
    ("an error takes everything back", error_rolls_back),
    ("a panic takes everything back and leaves the store usable", panic_rolls_back),
    ("pruning keeps the chain going", prunes),
    ("pruning is taken back too", prune_rolls_back),
    ("threads do not lose each other's changes", threads),
    ("any text and any bytes are kept", any_content),
    ("of a change that may run again, the last run counts, and no other", last_run_counts),
];

fn draft(kind: &str, body: &str) -> Draft {
    Draft { at: Timestamp(17), session: None, kind: kind.to_owned(), body: body.to_owned() }
}

fn session(id: &str) -> SessionKey {
    SessionKey { agent: "agent".to_owned(), id: id.to_owned() }
}

fn append(store: &dyn Store, drafts: impl IntoIterator<Item = Draft>) -> Outcome {
    let mut drafts = drafts.into_iter();
    Ok(store.update(Durability::Process, |tx| drafts.try_for_each(|draft| tx.append(draft).map(drop)))?)
}

fn seqs(store: &dyn Store, query: &Query) -> Result<Vec<u64>, StoreError> {
    store.view(|view| Ok(view.records(query)?.into_iter().map(|record| record.seq).collect()))
}

fn new_is_empty(store: &dyn Store) -> Outcome {
    store.view(|view| {
        assert_eq!((view.base()?, view.head()?), (Head::START, Head::START));
        assert_eq!(view.records(&Query::all())?, []);
        for space in Space::ALL {
            assert_eq!(view.scan(space, &Keys::all())?, []);
        }
        Ok(())
    })?;
    Ok(())
}

fn records_come_back(store: &dyn Store) -> Outcome {
    let mut written = Vec::new();
    for (durability, id) in [(Durability::Process, "a"), (Durability::Power, "b"), (Durability::Process, "c")]
    {
        let draft = Draft { session: Some(session(id)), ..draft("kind", r#"{"a": 1}"#) };
        written.push(store.update(durability, |tx| tx.append(draft))?);
    }
    let found = store.view(|view| view.records(&Query::all()))?;
    assert_eq!(found, written);
    let mut head = Head::START;
    for record in &found {
        assert_eq!((record.seq, record.prev), (head.seq + 1, head.hash));
        assert_eq!(record.hash, record.computed_hash());
        head = record.head();
    }
    assert_eq!(store.view(|view| view.head())?, head);
    assert!(store.view(|view| verify(view, 1..=u64::MAX, Some(head.into())))?.is_sound());
    Ok(())
}

fn entries(store: &dyn Store) -> Outcome {
    let get = || store.view(|view| view.get(Space::Session, b"key"));
    store.update(Durability::Process, |tx| tx.put(Space::Session, b"key", b"one"))?;
    assert_eq!(get()?.as_deref(), Some(b"one".as_slice()));
    store.update(Durability::Process, |tx| tx.put(Space::Session, b"key", b""))?;
    assert_eq!(get()?.as_deref(), Some(b"".as_slice()));
    store.update(Durability::Process, |tx| tx.delete(Space::Session, b"key"))?;
    store.update(Durability::Process, |tx| tx.delete(Space::Session, b"never there"))?;
    assert_eq!(get()?, None);
    Ok(())
}

fn spaces_are_apart(store: &dyn Store) -> Outcome {
    store.update(Durability::Process, |tx| {
        Space::ALL.into_iter().try_for_each(|space| tx.put(space, b"key", space.name().as_bytes()))
    })?;
    for space in Space::ALL {
        let found = store.view(|view| view.scan(space, &Keys::all()))?;
        assert_eq!(found, [(b"key".to_vec(), space.name().as_bytes().to_vec())]);
    }
    Ok(())
}

fn scans(store: &dyn Store) -> Outcome {
    let keys: &[&[u8]] = &[b"", b"a", b"a\0", b"a\xff", b"a\xff\xff", b"b", b"\xff", b"\xff\xff"];
    store.update(Durability::Process, |tx| {
        keys.iter().rev().try_for_each(|key| tx.put(Space::Finding, key, b"value"))?;
        tx.put(Space::Grant, b"a", b"another space")
    })?;
    let scan = |which: Keys| -> Result<Vec<Vec<u8>>, StoreError> {
        let found = store.view(|view| view.scan(Space::Finding, &which))?;
        Ok(found.into_iter().map(|(key, _)| key).collect())
    };
    let some = |from: usize, to: usize| keys.get(from..to).unwrap_or_default();
    assert_eq!(scan(Keys::all())?, keys);
    assert_eq!(scan(Keys::prefix("a"))?, some(1, 5));
    assert_eq!(scan(Keys::prefix(b"a\xff"))?, some(3, 5));
    assert_eq!(scan(Keys::prefix(b"\xff"))?, some(6, 8));
    assert_eq!(scan(Keys::range("a", "b"))?, some(1, 5));
    assert_eq!(scan(Keys::range("b", "a"))?, some(0, 0));
    assert_eq!(scan(Keys::prefix("a").limit(2))?, some(1, 3));
    assert_eq!(scan(Keys::prefix("a").limit(2).beyond(b"a\0"))?, some(3, 5));
    assert_eq!(scan(Keys::prefix("a").limit(0))?, some(0, 0));
    let mut backwards = scan(Keys::prefix("a").reversed().limit(3))?;
    backwards.reverse();
    assert_eq!(backwards, some(2, 5));
    assert_eq!(scan(Keys::prefix("a").reversed().beyond(b"a\0"))?, some(1, 2));
    Ok(())
}

fn queries(store: &dyn Store) -> Outcome {
    let drafts = (1..=10).map(|n| {
        let session = (n % 3 != 0).then(|| session(if n % 2 == 0 { "even" } else { "odd" }));
        Draft { session, ..draft(if n > 5 { "late" } else { "early" }, "{}") }
    });
    append(store, drafts)?;
    assert_eq!(seqs(store, &Query::all())?, (1..=10).collect::<Vec<_>>());
    assert_eq!(seqs(store, &Query::all().after(3).before(6))?, [4, 5]);
    assert_eq!(seqs(store, &Query::all().newest_first().limit(3))?, [10, 9, 8]);
    assert_eq!(seqs(store, &Query::all().newest_first().before(8).limit(2))?, [7, 6]);
    assert_eq!(seqs(store, &Query::all().kind("late"))?, [6, 7, 8, 9, 10]);
    assert_eq!(seqs(store, &Query::all().session(session("even")))?, [2, 4, 8, 10]);
    assert_eq!(seqs(store, &Query::all().session(session("odd")).kind("early").limit(1))?, [1]);
    assert_eq!(seqs(store, &Query::all().session(session("none")))?, [0u64; 0]);
    assert_eq!(seqs(store, &Query::all().after(u64::MAX))?, [0u64; 0]);
    assert_eq!(seqs(store, &Query::all().limit(0))?, [0u64; 0]);
    Ok(())
}

fn sees_itself(store: &dyn Store) -> Outcome {
    store.update(Durability::Process, |tx| {
        let first = tx.append(draft("first", "{}"))?;
        tx.put(Space::Plan, b"key", b"value")?;
        assert_eq!(tx.head()?, first.head());
        assert_eq!(tx.get(Space::Plan, b"key")?.as_deref(), Some(b"value".as_slice()));
        let second = tx.append(draft("second", "{}"))?;
        assert_eq!(tx.records(&Query::all())?, [first, second]);
        tx.delete(Space::Plan, b"key")?;
        assert_eq!(tx.scan(Space::Plan, &Keys::all())?, []);
        Ok(())
    })?;
    Ok(())
}

/// Makes every kind of change and ends with `end`; none of the changes may be visible afterwards.
fn check_rollback(store: &dyn Store, end: &dyn Fn() -> Result<(), StoreError>) -> Outcome {
    append(store, [draft("kept", "{}")])?;
    store.update(Durability::Process, |tx| {
        tx.put(Space::Grant, b"kept", b"1")?;
        tx.put(Space::Grant, b"other", b"1")
    })?;
    let head = store.view(|view| view.head())?;
    let result = catch_unwind(AssertUnwindSafe(|| {
        store.update(Durability::Power, |tx| {
            tx.append(draft("gone", "{}"))?;
            tx.put(Space::Grant, b"kept", b"2")?;
            tx.put(Space::Grant, b"kept", b"3")?;
            tx.delete(Space::Grant, b"other")?;
            tx.put(Space::Grant, b"new", b"1")?;
            end()
        })
    }));
    assert!(!matches!(result, Ok(Ok(()))));
    store.view(|view| {
        assert_eq!(view.head()?, head);
        let one = b"1".to_vec();
        let kept = [(b"kept".to_vec(), one.clone()), (b"other".to_vec(), one.clone())];
        assert_eq!(view.scan(Space::Grant, &Keys::all())?, kept);
        Ok(())
    })?;
    append(store, [draft("goes on", "{}")])?;
    assert_eq!(seqs(store, &Query::all())?, [1, 2]);
    Ok(())
}

fn error_rolls_back(store: &dyn Store) -> Outcome {
    check_rollback(store, &|| Err(StoreError::other("changed my mind")))?;
    let failed = store.update(Durability::Process, |_| Err::<(), _>(StoreError::other("mine")));
    assert_eq!(failed.map_err(|error| error.to_string()), Err("mine".to_owned()));
    Ok(())
}

fn panic_rolls_back(store: &dyn Store) -> Outcome {
    check_rollback(store, &|| resume_unwind(Box::new("a guard fell over")))
}

fn prunes(store: &dyn Store) -> Outcome {
    append(store, (0..10).map(|_| draft("old", "{}")))?;
    let all = store.view(|view| view.records(&Query::all()))?;
    let fourth = all.get(3).map(crate::Record::head).ok_or("four records")?;
    store.update(Durability::Power, |tx| {
        tx.prune(4)?;
        tx.prune(2)?; // Already gone.
        tx.prune(99) // Not there yet.
    })?;
    assert_eq!(seqs(store, &Query::all())?, (5..=10).collect::<Vec<_>>());
    store.update(Durability::Process, |tx| {
        assert_eq!(tx.base()?, fourth);
        tx.prune(10)?;
        assert_eq!(tx.head()?, tx.base()?);
        let next = tx.append(draft("new", "{}"))?;
        assert_eq!(next.seq, 11);
        assert_eq!(Some(next.prev), all.last().map(|record| record.hash));
        Ok(())
    })?;
    Ok(())
}

fn prune_rolls_back(store: &dyn Store) -> Outcome {
    append(store, (0..4).map(|_| draft("old", "{}")))?;
    let failed = store.update(Durability::Process, |tx| {
        tx.prune(2)?;
        tx.append(draft("new", "{}"))?;
        tx.prune(5)?;
        tx.append(draft("new", "{}"))?;
        Err::<(), _>(StoreError::Abandoned)
    });
    assert!(failed.is_err());
    assert_eq!(seqs(store, &Query::all())?, [1, 2, 3, 4]);
    assert_eq!(store.view(|view| view.base())?, Head::START);
    Ok(())
}

fn threads(store: &dyn Store) -> Outcome {
    let add = |_| {
        store.update(Durability::Process, |tx| {
            let count = tx.get(Space::Meta, b"count")?.and_then(|bytes| bytes.first().copied()).unwrap_or(0);
            tx.put(Space::Meta, b"count", &[count + 1])?;
            tx.append(draft("added", "{}")).map(drop)
        })
    };
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4).map(|_| scope.spawn(|| (0..25).try_for_each(add))).collect();
        writers.into_iter().try_for_each(|writer| writer.join().unwrap_or(Err(StoreError::Abandoned)))
    })?;
    assert_eq!(store.view(|view| view.get(Space::Meta, b"count"))?, Some(vec![100]));
    assert_eq!(seqs(store, &Query::all())?, (1..=100).collect::<Vec<_>>());
    Ok(())
}

fn any_content(store: &dyn Store) -> Outcome {
    let long = "x".repeat(300_000);
    let texts = ["", "\0", "a\0b", "\u{10ffff}", "'; DROP TABLE log; --", long.as_str()];
    for text in texts {
        let draft = Draft {
            at: Timestamp(i64::MIN),
            session: Some(SessionKey { agent: text.to_owned(), id: text.to_owned() }),
            kind: text.to_owned(),
            body: text.to_owned(),
        };
        let record = store.update(Durability::Process, |tx| {
            tx.put(Space::Trust, text.as_bytes(), text.as_bytes())?;
            tx.append(draft)
        })?;
        let query = Query::all().newest_first().limit(1);
        assert_eq!(store.view(|view| view.records(&query))?, [record]);
        let found = store.view(|view| view.get(Space::Trust, text.as_bytes()))?;
        assert_eq!(found.as_deref(), Some(text.as_bytes()));
    }
    assert!(store.view(|view| verify(view, 1..=u64::MAX, None))?.is_sound());
    Ok(())
}

fn last_run_counts(store: &dyn Store) -> Outcome {
    let key = b"counter".as_slice();
    for round in 1..=3_u8 {
        let mut runs = 0_u64;
        let seen = store.update_retrying(Durability::Process, |tx| {
            runs += 1;
            let before = tx.get(Space::Meta, key)?.unwrap_or_default();
            tx.append(draft("counted", &format!(r#"{{"run": {runs}}}"#)))?;
            tx.put(Space::Meta, key, &[round])?;
            Ok(before)
        })?;
        assert_eq!(seen, if round == 1 { Vec::new() } else { vec![round - 1] });
        let (found, _) = store.view_cached(|view| Ok((view.get(Space::Meta, key)?, view.head()?.seq)))?;
        assert_eq!(found, (Some(vec![round]), u64::from(round)));
        let last = store.view(|view| view.records(&Query::all().newest_first().limit(1)))?;
        assert_eq!(last.first().map(|record| record.body.as_str()), Some(&*format!(r#"{{"run": {runs}}}"#)));
    }
    let refused = store.update_retrying(Durability::Process, |tx| {
        tx.append(draft("refused", "{}"))?;
        tx.put(Space::Meta, key, b"refused")?;
        Err::<(), _>(StoreError::other("refused"))
    });
    assert!(refused.is_err_and(|error| error.to_string().contains("refused")));
    let (found, head) = store.view(|view| Ok((view.get(Space::Meta, key)?, view.head()?.seq)))?;
    assert_eq!((found, head), (Some(vec![3]), 3));
    Ok(())
}
