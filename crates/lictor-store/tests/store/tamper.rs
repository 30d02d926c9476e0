//! Writes that bypass the store. Each kind of change is detected and named.

use std::path::PathBuf;

use lictor_store::{
    Anchor, Anchoring, Durability, Head, Query, SqliteStore, StoreError, StoreExt, Verification, verify,
};
use rusqlite::Connection;

use crate::log;

/// A store with twenty records, closed, and its head.
fn store() -> (tempfile::TempDir, PathBuf, Head) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("store.db");
    let store = SqliteStore::open(&file).expect("a store");
    let mut append = |n| log::append_counted(&store, Durability::Process, format!("{{\"n\": {n}}}"));
    let last = (1..=20).map(&mut append).last().expect("records").expect("appended");
    (directory, file, last.head())
}

fn check(file: &PathBuf, anchor: Option<Anchor>) -> Verification {
    let store = SqliteStore::open(file).expect("a store");
    store.view(|view| verify(view, 1..=u64::MAX, anchor)).expect("readable")
}

fn faults(verification: &Verification) -> Vec<String> {
    verification.faults.iter().map(ToString::to_string).collect()
}

/// Changes to the file, and the result of verification.
const CASES: &[(&str, &[&str])] = &[
    ("UPDATE log SET body = '{\"n\": 0}' WHERE seq = 7", &["record 7 was changed"]),
    ("UPDATE log SET at = at + 1 WHERE seq = 1", &["record 1 was changed"]),
    ("UPDATE log SET kind = 'other' WHERE seq = 20", &["record 20 was changed"]),
    ("UPDATE log SET agent = '', session = '' WHERE seq = 3", &["record 3 was changed"]),
    ("UPDATE log SET hash = zeroblob(32) WHERE seq = 5", &["record 5 was changed"]),
    ("UPDATE log SET prev = zeroblob(32) WHERE seq = 5", &["record 5 was changed"]),
    ("DELETE FROM log WHERE seq = 9", &["record 9 is missing"]),
    ("DELETE FROM log WHERE seq BETWEEN 9 AND 11", &["records 9 to 11 are missing"]),
    ("DELETE FROM log WHERE seq <= 2", &["records 1 to 2 are missing"]),
    (
        "UPDATE log SET seq = -1 WHERE seq = 4; UPDATE log SET seq = 4 WHERE seq = 5; UPDATE log SET seq = 5 WHERE seq = -1",
        &["record 5 was moved to place 4", "record 4 was moved to place 5"],
    ),
    (
        "DELETE FROM log WHERE seq = 6; UPDATE log SET seq = 6 WHERE seq = 12",
        &["record 12 was moved to place 6", "record 12 is missing"],
    ),
    (
        "DELETE FROM log WHERE seq <= 5; INSERT INTO base SELECT 1, 5, prev FROM log WHERE seq = 6",
        &["records up to 5 were removed without having been archived"],
    ),
];

#[test]
fn every_change_is_found_and_named() {
    for (sql, expected) in CASES {
        let (_directory, file, head) = store();
        assert!(check(&file, Some(head.into())).is_sound(), "sound before");
        log::raw(&file, sql);
        let found = faults(&check(&file, None));
        assert_eq!(found.len(), expected.len(), "{sql}: {found:#?}");
        for (found, expected) in found.iter().zip(*expected) {
            assert!(found.contains(expected), "{sql}: {found} should say: {expected}");
        }
    }
}

/// Replaces record `seq` by one that is sound in itself.
fn forge(file: &PathBuf, seqs: std::ops::RangeInclusive<u64>) {
    let store = SqliteStore::open(file).expect("a store");
    let records = store.view(|view| view.records(&Query::all())).expect("records");
    drop(store);
    let connection = Connection::open(file).expect("a database");
    let mut before = Head::START;
    for mut record in records {
        if seqs.contains(&record.seq) {
            if record.seq == *seqs.start() {
                record.body = "{\"n\": \"forged\"}".to_owned();
            }
            record.prev = before.hash;
            record.hash = record.computed_hash();
            let sql = "UPDATE log SET body = ?, prev = ?, hash = ? WHERE seq = ?";
            let seq = i64::try_from(record.seq).expect("small");
            let row = (&record.body, record.prev.as_bytes(), record.hash.as_bytes(), seq);
            connection.execute(sql, row).expect("updated");
        }
        before = record.head();
    }
}

#[test]
fn a_record_with_a_recomputed_hash_breaks_the_link_after_it() {
    let (_directory, file, _) = store();
    forge(&file, 8..=8);
    let found = faults(&check(&file, None));
    assert_eq!(found, ["record 9 does not follow record 8: one of the two was replaced"]);
}

#[test]
fn a_log_that_was_rewritten_to_its_end_is_found_with_an_anchor_only() {
    let (_directory, file, head) = store();
    forge(&file, 8..=20);
    let unanchored = check(&file, None);
    assert!(unanchored.is_sound());
    assert_eq!(
        unanchored.anchoring.to_string(),
        "no anchor was given: removal of the newest records cannot be seen"
    );
    let found = faults(&check(&file, Some(head.into())));
    assert!(found.len() == 1 && found[0].starts_with("record 20 was rewritten"), "{found:?}");
}

#[test]
fn removal_of_the_newest_records_is_found_with_an_anchor_only() {
    let (_directory, file, head) = store();
    log::raw(&file, "DELETE FROM log WHERE seq > 17");
    let unanchored = check(&file, None);
    assert!(unanchored.is_sound());
    assert_eq!(unanchored.anchoring, Anchoring::None);
    let anchored = check(&file, Some(head.into()));
    assert_eq!(
        faults(&anchored),
        ["records 18 to 20 are missing: the log ends at 17, the anchor names record 20"]
    );
    assert_eq!(anchored.anchoring, Anchoring::Used(head.into()));
    // An older anchor covers only what was there when it was taken, and says which record that is.
    let older = SqliteStore::open(&file).unwrap().view(|view| view.head()).unwrap();
    let verification = check(&file, Some(older.into()));
    assert!(verification.is_sound());
    assert!(verification.anchoring.to_string().starts_with("anchored at record 17 ("));
}

#[test]
fn a_range_is_checked_by_itself() {
    let (_directory, file, head) = store();
    log::raw(&file, "UPDATE log SET body = '' WHERE seq = 7; DELETE FROM log WHERE seq = 10");
    let store = SqliteStore::open(&file).unwrap();
    let check = |range| store.view(|view| verify(view, range, Some(head.into()))).unwrap();
    assert!(check(1..=6).is_sound());
    assert_eq!(check(1..=6).checked, Some((1, 6)));
    assert_eq!(faults(&check(8..=10)), ["record 10 is missing"]);
    assert_eq!(faults(&check(7..=7)).len(), 1);
    assert!(check(11..=u64::MAX).is_sound());
    assert_eq!(check(11..=u64::MAX).checked, Some((11, 20)));
    assert_eq!(check(30..=40).checked, None);
}

#[test]
fn a_row_that_no_store_writes_is_damage() {
    let (_directory, file, _) = store();
    log::raw(&file, "UPDATE log SET hash = x'00' WHERE seq = 7");
    let store = SqliteStore::open(&file).unwrap();
    let error = store.view(|view| verify(view, 1..=u64::MAX, None)).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }) && error.to_string().contains("record 7"), "{error}");
}
