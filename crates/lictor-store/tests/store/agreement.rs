//! Any sequence of operations leaves both stores in the same state.

use lictor_core::{SessionKey, Timestamp};
use lictor_store::{
    Draft, Durability, Entry, Head, Keys, MemoryStore, Query, Record, Space, SqliteStore, Store, StoreError,
    StoreExt, Transaction,
};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Operation {
    Append(Draft),
    Put(Space, Vec<u8>, Vec<u8>),
    Delete(Space, Vec<u8>),
    Prune(u64),
}

/// Operations in one transaction, and whether it is rolled back at its end. Sometimes the file is closed after
/// it.
#[derive(Debug, Clone)]
struct Step {
    operations: Vec<Operation>,
    durability: Durability,
    abandon: bool,
    reopen: bool,
}

fn space() -> impl Strategy<Value = Space> {
    prop::sample::select(vec![Space::Session, Space::Grant, Space::Meta])
}

/// Few different keys, so that they meet.
fn key() -> impl Strategy<Value = Vec<u8>> {
    vec(prop::sample::select(vec![0, b'a', 0xff]), 0..3)
}

fn draft() -> impl Strategy<Value = Draft> {
    let session = proptest::option::of(("[ab]?", "[12]?").prop_map(|(agent, id)| SessionKey { agent, id }));
    (any::<i64>(), session, "[xy]", any::<String>()).prop_map(|(at, session, kind, body)| Draft {
        at: Timestamp(at),
        session,
        kind,
        body,
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => draft().prop_map(Operation::Append),
        4 => (space(), key(), vec(any::<u8>(), 0..40)).prop_map(|(space, key, value)| Operation::Put(space, key, value)),
        2 => (space(), key()).prop_map(|(space, key)| Operation::Delete(space, key)),
        1 => (0..12u64).prop_map(Operation::Prune),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    (vec(operation(), 0..6), any::<bool>(), prop::bool::weighted(0.3), prop::bool::weighted(0.2)).prop_map(
        |(operations, power, abandon, reopen)| {
            let durability = if power { Durability::Power } else { Durability::Process };
            Step { operations, durability, abandon, reopen }
        },
    )
}

fn run(tx: &mut dyn Transaction, step: &Step) -> Result<Vec<Record>, StoreError> {
    let mut appended = Vec::new();
    for operation in step.operations.clone() {
        match operation {
            Operation::Append(draft) => appended.push(tx.append(draft)?),
            Operation::Put(space, key, value) => tx.put(space, &key, &value)?,
            Operation::Delete(space, key) => tx.delete(space, &key)?,
            Operation::Prune(through) => tx.prune(through)?,
        }
    }
    if step.abandon { Err(StoreError::Abandoned) } else { Ok(appended) }
}

#[derive(Debug, PartialEq)]
struct Seen {
    ends: (Head, Head),
    records: Vec<Vec<Record>>,
    entries: Vec<Vec<Entry>>,
}

fn seen(store: &dyn Store) -> Seen {
    let session = SessionKey { agent: "a".to_owned(), id: "1".to_owned() };
    let queries = [
        Query::all(),
        Query::all().newest_first().limit(2),
        Query::all().kind("x").after(2),
        Query::all().session(session).before(7),
    ];
    let keys = [
        Keys::all(),
        Keys::prefix("a"),
        Keys::prefix(b"\xff").reversed(),
        Keys::range(b"\0", b"b").limit(2).beyond(b"\0"),
        Keys::all().reversed().beyond(b"a").limit(3),
    ];
    let look = store.view(|view| {
        let spaces = [Space::Session, Space::Grant, Space::Meta];
        let scans = spaces.iter().flat_map(|space| keys.iter().map(|keys| view.scan(*space, keys)));
        Ok(Seen {
            ends: (view.base()?, view.head()?),
            records: queries.iter().map(|query| view.records(query)).collect::<Result<_, _>>()?,
            entries: scans.collect::<Result<_, _>>()?,
        })
    });
    look.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_and_sqlite_agree(steps in vec(step(), 1..12)) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("store.db");
        let memory = MemoryStore::new();
        let mut sqlite = SqliteStore::open(&file).unwrap();
        for step in &steps {
            let expected = memory.update(step.durability, |tx| run(tx, step));
            let found = sqlite.update(step.durability, |tx| run(tx, step));
            prop_assert_eq!(found.ok(), expected.ok());
            if step.reopen {
                drop(sqlite);
                sqlite = SqliteStore::open(&file).unwrap();
            }
            prop_assert_eq!(seen(&sqlite), seen(&memory));
        }
    }
}
