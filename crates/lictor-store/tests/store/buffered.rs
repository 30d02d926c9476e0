//! A buffered transaction behaves like the underlying one.

use lictor_store::{
    Buffered, Durability, Keys, MemoryStore, Space, Store, StoreError, StoreExt, Transaction, View,
    conformance,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// A store whose transactions are all buffered.
struct Through(MemoryStore);

impl Store for Through {
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.0.read(f)
    }

    fn write(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.0.write(durability, &mut |tx| {
            let mut buffered = Buffered::new(tx);
            f(&mut buffered)?;
            buffered.finish()
        })
    }
}

#[test]
fn it_does_what_every_store_must_do() {
    for (name, check) in conformance::CHECKS {
        let store = Through(MemoryStore::new());
        assert_eq!(check(&store).map_err(|error| error.to_string()), Ok(()), "{name}");
    }
}

/// Few different keys, so that they meet.
fn key() -> impl Strategy<Value = Vec<u8>> {
    vec(prop::sample::select(vec![0, b'a', 0xff]), 0..3)
}

fn keys() -> impl Strategy<Value = Keys> {
    let start = prop_oneof![
        Just(Keys::all()),
        key().prop_map(Keys::prefix),
        (key(), key()).prop_map(|(from, to)| Keys::range(from, to)),
    ];
    (start, any::<bool>(), proptest::option::of(key()), 0..4usize).prop_map(
        |(keys, reversed, beyond, limit)| {
            let keys = if reversed { keys.reversed() } else { keys };
            let keys = if let Some(key) = beyond { keys.beyond(key) } else { keys };
            keys.limit(limit)
        },
    )
}

/// A value puts, none removes.
type Change = (Vec<u8>, Option<Vec<u8>>);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    vec((key(), proptest::option::of(vec(any::<u8>(), 0..3))), 0..12)
}

fn change(tx: &mut dyn Transaction, (key, value): &Change) {
    match value {
        Some(value) => tx.put(Space::Plan, key, value).unwrap(),
        None => tx.delete(Space::Plan, key).unwrap(),
    }
}

proptest! {
    #[test]
    fn it_reads_what_it_has_written(before in changes(), during in changes(), asked in vec(keys(), 1..5)) {
        let (plain, through) = (MemoryStore::new(), MemoryStore::new());
        for store in [&plain, &through] {
            store.update(Durability::Process, |tx| { before.iter().for_each(|one| change(tx, one)); Ok(()) }).unwrap();
        }
        plain.update(Durability::Process, |plain| {
            through.update(Durability::Process, |tx| {
                let mut buffered = Buffered::new(tx);
                for one in &during {
                    change(plain, one);
                    change(&mut buffered, one);
                    assert_eq!(plain.get(Space::Plan, &one.0)?, buffered.get(Space::Plan, &one.0)?);
                    for keys in &asked {
                        assert_eq!(plain.scan(Space::Plan, keys)?, buffered.scan(Space::Plan, keys)?, "{keys:?}");
                    }
                }
                buffered.finish()
            })
        }).unwrap();
        let all = |store: &MemoryStore| store.view(|view| view.scan(Space::Plan, &Keys::all())).unwrap();
        prop_assert_eq!(all(&plain), all(&through));
    }
}
