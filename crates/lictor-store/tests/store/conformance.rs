//! Both stores do what every store must do.

use lictor_store::{Durability, MemoryStore, SqliteStore, Store, conformance};

use crate::log;

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

#[test]
fn a_store_that_was_opened_anew_is_the_same_store_with_a_connection_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path().join("store.db")).unwrap();
    log::append_counted(&store, Durability::Process, "parent".to_owned()).unwrap();
    let again = store.reopen().unwrap();
    log::append_counted(&again, Durability::Process, "child".to_owned()).unwrap();
    assert_eq!(log::sound_bodies(&store, 0, None), ["parent", "child"]);
    std::fs::remove_file(store.file()).unwrap();
    assert!(store.reopen().is_err(), "a store that is gone is not made anew");
}
