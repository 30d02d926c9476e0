//! Smoke test.
use lictor_core::Timestamp;
use lictor_store::*;

#[test]
fn append_and_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a/b/store.db");
    for store in [&SqliteStore::open(&file).unwrap() as &dyn Store, &MemoryStore::new()] {
        let draft = Draft { at: Timestamp(1), session: None, kind: "x".into(), body: "{}".into() };
        let record = store
            .update(Durability::Power, |tx| {
                tx.put(Space::Session, b"k", b"v")?;
                tx.append(draft.clone())
            })
            .unwrap();
        let (head, found) = store.view(|view| Ok((view.head()?, view.get(Space::Session, b"k")?))).unwrap();
        assert_eq!(head, record.head());
        assert_eq!(found.as_deref(), Some(b"v".as_slice()));
        let failed: Result<(), StoreError> = store.update(Durability::Process, |tx| {
            tx.append(draft.clone())?;
            tx.put(Space::Session, b"k", b"w")?;
            Err(StoreError::other("no"))
        });
        assert!(failed.is_err());
        assert_eq!(store.view(|view| view.head()).unwrap(), record.head());
        assert_eq!(store.view(|view| view.records(&Query::all())).unwrap(), [record]);
    }
}
