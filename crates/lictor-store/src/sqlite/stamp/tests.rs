use std::fs;

use lictor_core::{Digest, Timestamp};

use super::Stamp;
use crate::sqlite::beside;
use crate::{Draft, Durability, SqliteStore, StoreExt as _};

fn draft(body: String) -> Draft {
    Draft { at: Timestamp(17), session: None, kind: "note".to_owned(), body }
}

#[test]
fn it_changes_with_every_commit_and_with_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("lictor.db");
    let missing = Stamp::of(&file);
    assert_eq!(missing, Stamp::of(&file));
    let store = SqliteStore::open(&file).unwrap();
    for number in 0..3 {
        let before = Stamp::of(&file);
        assert_ne!(missing, before);
        store.view(|view| view.head()).unwrap();
        assert_eq!(before, Stamp::of(&file), "reading changes nothing");
        store.update(Durability::Process, |tx| tx.append(draft(number.to_string())).map(drop)).unwrap();
        assert_ne!(before, Stamp::of(&file));
    }
}

/// A reader that sees a changed stamp must see the commit.
#[test]
fn it_does_not_change_before_the_commit_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("lictor.db");
    let store = SqliteStore::open(&file).unwrap();
    let log = || fs::metadata(beside(&file, "-wal")).unwrap().len();
    let (before, short) = (Stamp::of(&file), log());
    store
        .update(Durability::Process, |tx| {
            // More than SQLite keeps in memory: it goes to the log while the transaction is still open.
            for number in 0..800_u64 {
                tx.append(draft(
                    (0..256)
                        .map(|part| Digest::of(&[number, part].map(u64::to_be_bytes).concat()).to_string())
                        .collect(),
                ))?;
            }
            assert!(log() > short);
            assert_eq!(before, Stamp::of(&file));
            Ok(())
        })
        .unwrap();
    assert_ne!(before, Stamp::of(&file));
}
