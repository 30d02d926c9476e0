//! A writer of the file without the key: every kind of change is detected, and the entry or record is named.

use std::fs;
use std::path::{Path, PathBuf};

use lictor_store::{
    Durability, Fault, Keyring, Query, RecordKey, Sealing, Space, SqliteOptions, SqliteStore, StoreError,
    StoreExt, Verification, conformance, verify,
};

use crate::log;

fn keys(byte: u8) -> Keyring {
    Keyring::of(RecordKey::from_bytes([byte; 32]))
}

fn open(file: &Path) -> SqliteStore {
    SqliteOptions::new().keys(keys(1)).open(file).unwrap()
}

fn checked(file: &Path) -> Verification {
    open(file).view(|view| verify(view, 1..=u64::MAX, None)).unwrap()
}

/// A store with six records and a grant that was used up.
fn filled(directory: &Path) -> PathBuf {
    let file = directory.join("store.db");
    let store = open(&file);
    for n in 0..5 {
        log::append_counted(&store, Durability::Process, format!("{n}")).unwrap();
    }
    store
        .update(Durability::Power, |tx| {
            tx.put(Space::Grant, b"g1", b"once")?;
            tx.put(Space::Grant, b"g2", b"once")?;
            tx.append(log::draft("granted"))
        })
        .unwrap();
    // A change that no record comes with follows the last one.
    store.update(Durability::Process, |tx| tx.delete(Space::Grant, b"g1")).unwrap();
    file
}

#[test]
fn a_sealed_store_does_what_every_store_does() {
    for (name, check) in conformance::CHECKS {
        let directory = tempfile::tempdir().unwrap();
        check(&open(&directory.path().join("store.db"))).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn what_holders_of_the_key_write_is_sound() {
    let directory = tempfile::tempdir().unwrap();
    let file = filled(directory.path());
    let checked = checked(&file);
    assert_eq!(checked.faults, []);
    assert_eq!(checked.sealing, Sealing::Checked { unsealed: None });
    let plain = SqliteStore::open(&file).unwrap();
    let unchecked = plain.view(|view| verify(view, 1..=u64::MAX, None)).unwrap();
    assert_eq!(unchecked.sealing, Sealing::Unchecked);
}

/// Changes with a database tool, and the detected faults.
#[test]
fn every_change_from_outside_is_named() {
    let cases: &[(&str, &str)] = &[
        ("UPDATE entry SET value = x'39' WHERE key = CAST('g2' AS BLOB)", "the entry `g2` in `grant`"),
        (
            "DELETE FROM entry WHERE key = CAST('g2' AS BLOB)",
            "one entry that follows from the records was removed",
        ),
        (
            "INSERT INTO entry SELECT space, CAST('g3' AS BLOB), value, seal FROM entry WHERE key = CAST('g2' AS BLOB)",
            "the entry `g3` in `grant`",
        ),
        ("INSERT INTO entry VALUES ('grant', CAST('g9' AS BLOB), x'31', NULL)", "the entry `g9` in `grant`"),
        ("UPDATE log SET seal = NULL WHERE seq = 3", "record 3 has no seal"),
        ("UPDATE log SET seal = NULL WHERE seq < 3", "record 2 has no seal"),
        ("UPDATE log SET seal = NULL", "record 6 has no seal"),
        ("UPDATE log SET seal = (SELECT seal FROM log WHERE seq = 2) WHERE seq = 4", "record 4 was forged"),
        ("UPDATE log SET seal = substr(seal, 1, length(seal) - 16) WHERE seq = 6", "record 6 was forged"),
        (
            "UPDATE log SET seal = CAST(x'00000000' || substr(seal, 5) AS BLOB) WHERE seq = 6",
            "is sealed with the key",
        ),
    ];
    for (sql, names) in cases {
        let directory = tempfile::tempdir().unwrap();
        let file = filled(directory.path());
        log::raw(&file, sql);
        let faults: Vec<String> = checked(&file).faults.iter().map(Fault::to_string).collect();
        assert!(faults.iter().any(|fault| fault.contains(names)), "{sql}: {faults:?}");
    }
}

/// The cached check of an entry is not used once the entry has changed.
#[test]
fn an_entry_that_was_read_before_is_checked_again_once_it_has_changed() {
    let changes = [
        "UPDATE entry SET value = x'39' WHERE key = CAST('g2' AS BLOB)",
        "UPDATE entry SET seal = zeroblob(16) WHERE key = CAST('g2' AS BLOB)",
        "UPDATE entry SET seal = NULL WHERE key = CAST('g2' AS BLOB)",
    ];
    for sql in changes {
        let directory = tempfile::tempdir().unwrap();
        let file = filled(directory.path());
        let store = open(&file);
        let read = || store.view(|view| view.get(Space::Grant, b"g2"));
        assert_eq!(read().unwrap().as_deref(), Some(b"once".as_slice()));
        assert_eq!(read().unwrap().as_deref(), Some(b"once".as_slice()));
        log::raw(&file, sql);
        assert!(matches!(read(), Err(StoreError::Forged { .. })), "{sql}");
    }
}

/// A used grant is restored, including its seal.
#[test]
fn an_entry_put_back_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("store.db");
    let store = open(&file);
    store
        .update(Durability::Power, |tx| {
            tx.put(Space::Grant, b"g1", b"once")?;
            tx.append(log::draft("granted"))
        })
        .unwrap();
    let saved = directory.path().join("saved.db");
    log::raw(&file, &format!("VACUUM INTO '{}'", saved.display()));
    store
        .update(Durability::Power, |tx| {
            tx.delete(Space::Grant, b"g1")?;
            tx.append(log::draft("used"))
        })
        .unwrap();
    assert_eq!(checked(&file).faults, []);
    log::raw(
        &file,
        &format!("ATTACH '{}' AS saved; INSERT INTO entry SELECT * FROM saved.entry", saved.display()),
    );
    assert_eq!(checked(&file).faults, [Fault::Entry { what: "the entry `g1` in `grant`".to_owned() }]);
    // Moving records away does not make it sound.
    let store = open(&file);
    store
        .update(Durability::Power, |tx| {
            tx.prune(1)?;
            tx.append(log::draft("pruned")).map(drop)
        })
        .unwrap();
    let faults = checked(&file).faults;
    assert!(faults.iter().any(|fault| matches!(fault, Fault::Entry { .. })), "{faults:?}");
}

/// Anyone can rehash a whole log; only the key can reseal it.
#[test]
fn a_log_written_anew_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let file = filled(directory.path());
    let records = open(&file).view(|view| view.records(&Query::all())).unwrap();
    let mut head = lictor_store::Head::START;
    let connection = rusqlite::Connection::open(&file).unwrap();
    for mut record in records {
        if record.seq == 4 {
            record.body = "\"nothing happened\"".to_owned();
        }
        record.prev = head.hash;
        record.hash = record.computed_hash();
        head = record.head();
        connection
            .execute(
                "UPDATE log SET prev = ?, hash = ?, body = ? WHERE seq = ?",
                rusqlite::params![
                    record.prev.as_bytes(),
                    record.hash.as_bytes(),
                    record.body,
                    i64::try_from(record.seq).unwrap()
                ],
            )
            .unwrap();
    }
    drop(connection);
    let plain = SqliteStore::open(&file).unwrap();
    assert!(
        plain.view(|view| verify(view, 1..=u64::MAX, None)).unwrap().is_sound(),
        "the chain alone is sound"
    );
    assert_eq!(checked(&file).faults, [Fault::Forged { seq: 4 }]);
}

#[test]
fn a_forged_entry_is_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let file = filled(directory.path());
    log::raw(&file, "UPDATE entry SET value = x'39' WHERE key = CAST('g2' AS BLOB)");
    let store = open(&file);
    let read = store.view(|view| view.get(Space::Grant, b"g2"));
    assert!(matches!(&read, Err(StoreError::Forged { what, .. }) if what.contains("g2")), "{read:?}");
    let scanned = store.view(|view| view.scan(Space::Grant, &lictor_store::Keys::all()));
    assert!(matches!(scanned, Err(StoreError::Forged { .. })), "{scanned:?}");
    assert_eq!(store.view(|view| view.get(Space::Meta, b"count")).unwrap(), Some(b"5".to_vec()));
}

#[test]
fn without_the_key_nothing_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let file = filled(directory.path());
    let before = checked(&file);
    let none = SqliteStore::open(&file).unwrap();
    let refused = none.update(Durability::Process, |tx| tx.append(log::draft("unsealed")));
    assert!(matches!(refused, Err(StoreError::KeyMissing { .. })), "{refused:?}");
    let other = SqliteOptions::new().keys(keys(2)).adopt(true).open(&file).unwrap();
    let refused = other.update(Durability::Process, |tx| tx.append(log::draft("other key")));
    assert!(matches!(refused, Err(StoreError::WrongKey { .. })), "{refused:?}");
    assert_eq!(checked(&file), before);
}

/// Removing every seal does not make it a store from before the key.
#[test]
fn a_stripped_store_is_not_adopted_again() {
    let directory = tempfile::tempdir().unwrap();
    let file = filled(directory.path());
    log::raw(&file, "UPDATE log SET seal = NULL; UPDATE entry SET seal = NULL");
    let store = open(&file);
    let refused = store.update(Durability::Process, |tx| tx.append(log::draft("next")));
    assert!(matches!(refused, Err(StoreError::Unsealed { seq: 6, .. })), "{refused:?}");
    assert!(matches!(store.view(|view| view.get(Space::Grant, b"g2")), Err(StoreError::Unsealed { .. })));
    assert_eq!(checked(&file).faults, [Fault::Unsealed { seq: 6 }]);
}

#[test]
fn a_new_key_seals_everything_anew() {
    let directory = tempfile::tempdir().unwrap();
    let key_file = directory.path().join("record.key");
    let file = directory.path().join("store.db");
    let (ring, made) = Keyring::load_or_create(&key_file).unwrap();
    assert!(made);
    let store = SqliteOptions::new().keys(ring).open(&file).unwrap();
    for n in 0..3 {
        log::append_counted(&store, Durability::Process, format!("{n}")).unwrap();
    }
    drop(store);
    let ring = Keyring::rotate(&key_file).unwrap();
    let store = SqliteOptions::new().keys(ring).open(&file).unwrap();
    assert_eq!(store.view(|view| view.get(Space::Meta, b"count")).unwrap(), Some(b"3".to_vec()));
    store.update(Durability::Process, |tx| tx.append(log::draft("after"))).unwrap();
    let result = store.view(|view| verify(view, 1..=u64::MAX, None)).unwrap();
    assert_eq!(result.faults, []);
    let kinds: Vec<String> = store
        .view(|view| view.records(&Query::all()))
        .unwrap()
        .into_iter()
        .map(|record| record.kind)
        .collect();
    assert_eq!(kinds, ["test", "test", "test", "log.sealed", "test"]);
    // The record that starts the new key does not permit removing the seals of the old one.
    log::raw(&file, "UPDATE log SET seal = NULL WHERE seq < 4");
    let result = store.view(|view| verify(view, 1..=u64::MAX, None)).unwrap();
    assert_eq!(result.faults, [Fault::Unsealed { seq: 3 }]);
}

/// `fixtures/store-0.1.0.db` was written by the hooks of 0.1.0: two passes, two blocks.
#[test]
fn a_store_of_0_1_0_opens_and_is_adopted() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("store.db");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store/fixtures/store-0.1.0.db");
    fs::copy(fixture, &file).unwrap();
    let plain = SqliteStore::open(&file).unwrap();
    let before = plain.view(|view| view.records(&Query::all())).unwrap();
    assert_eq!(before.len(), 5);
    assert!(plain.view(|view| verify(view, 1..=u64::MAX, None)).unwrap().is_sound());
    drop(plain);
    let adopting = SqliteOptions::new().keys(keys(1)).adopt(true).open(&file).unwrap();
    assert!(!adopting.view(|view| view.scan(Space::Session, &lictor_store::Keys::all())).unwrap().is_empty());
    adopting.update(Durability::Process, |tx| tx.append(log::draft("sealed now"))).unwrap();
    let records = adopting.view(|view| view.records(&Query::all())).unwrap();
    assert_eq!(records.get(..5), Some(before.as_slice()), "what was there is as it was");
    assert_eq!(records.get(5).map(|record| record.kind.as_str()), Some("log.sealed"));
    let checked = checked(&file);
    assert_eq!((checked.faults, checked.sealing), (Vec::new(), Sealing::Checked { unsealed: Some(5) }));
    assert_eq!(checked.sealing.to_string(), "sealed from record 6 on; older records have no seal");
}
