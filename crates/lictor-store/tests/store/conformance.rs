//! Both stores do what every store must do.

use lictor_store::{MemoryStore, SqliteStore, Store, conformance};

fn run(make: impl Fn() -> Box<dyn Store>) {
    for (name, check) in conformance::CHECKS {
        assert_eq!(check(&*make()).map_err(|error| error.to_string()), Ok(()), "{name}");
    }
}

#[test]
fn memory() {
    run(|| Box::new(MemoryStore::new()));
}

#[test]
fn sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let count = std::cell::Cell::new(0);
    run(|| {
        count.set(count.get() + 1);
        Box::new(SqliteStore::open(directory.path().join(format!("{}/store.db", count.get()))).unwrap())
    });
}
