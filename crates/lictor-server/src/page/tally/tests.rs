use std::sync::mpsc;

use lictor_store::{Draft, Durability, MemoryStore, Transaction, View};

use super::*;

/// A store whose readers wait until they are let go.
struct Slow {
    below: MemoryStore,
    turns: Mutex<mpsc::Receiver<()>>,
}

impl Store for Slow {
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let _ = self.turns.lock().unwrap().recv();
        self.below.read(f)
    }

    fn write(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.below.write(durability, f)
    }
}

#[test]
fn whoever_looks_while_others_count_is_told_how_far_it_got() {
    let (go, turns) = mpsc::channel();
    let below = MemoryStore::new();
    let draft = || Draft { at: Timestamp(1), session: None, kind: "test".to_owned(), body: "{}".to_owned() };
    let records = 3 * PAGE + 1;
    below
        .update(Durability::Process, |tx| (0..records).try_for_each(|_| tx.append(draft()).map(drop)))
        .unwrap();
    let store: Arc<dyn Store> = Arc::new(Slow { below, turns: Mutex::new(turns) });
    let tallies = Tallies::default();
    let page = u64::try_from(PAGE).unwrap();
    // The first one has no time for more than one page; the rest is counted by another thread, which gets no turn.
    go.send(()).unwrap();
    assert_eq!(tallies.of("a", &store, Duration::ZERO).unwrap().through, page);
    for _ in 0..3 {
        let told = tallies.of("a", &store, Duration::ZERO).unwrap();
        assert_eq!((told.through, told.head), (page, 3 * page + 1));
    }
    drop(go);
    let told = tallies.of("a", &store, Duration::from_secs(60)).unwrap();
    assert_eq!(told.through, 3 * page + 1);
}
