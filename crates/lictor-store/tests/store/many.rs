//! Sixteen processes write to one store at once.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Output};
use std::time::Duration;

use lictor_store::{Durability, SqliteOptions, SqliteStore, StoreError, StoreExt};

use crate::{child, log};

const WRITERS: usize = 16;
const EACH: usize = 200;

pub(crate) fn write_many(writer: &str, file: &Path) {
    // The timeout is not tested here, and the machine may be busy.
    let options = SqliteOptions::new().wait(Duration::from_secs(120));
    for round in 0..EACH / 10 {
        let store = options.open(file).unwrap();
        for step in 0..10 {
            let durability =
                if step == 0 && round % 10 == 0 { Durability::Power } else { Durability::Process };
            log::append_counted(&store, durability, format!("{writer} {}", round * 10 + step)).unwrap();
        }
    }
}

#[test]
fn no_record_is_lost_or_doubled() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state/store.db");
    let writers: Vec<Child> =
        (0..WRITERS).map(|writer| child::command("many", writer, &file).spawn().unwrap()).collect();
    for output in writers.into_iter().map(|writer| writer.wait_with_output().unwrap()) {
        let Output { status, stderr, .. } = output;
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    }
    let bodies = log::sound_bodies(&SqliteStore::open(&file).unwrap(), 0, None);
    assert_eq!(bodies.len(), WRITERS * EACH);
    let expected: BTreeSet<String> =
        (0..WRITERS).flat_map(|writer| (0..EACH).map(move |n| format!("{writer} {n}"))).collect();
    assert_eq!(bodies.iter().cloned().collect::<BTreeSet<_>>(), expected);
    for writer in 0..WRITERS {
        let own: Vec<&String> =
            bodies.iter().filter(|body| body.starts_with(&format!("{writer} "))).collect();
        let in_order: Vec<String> = (0..EACH).map(|n| format!("{writer} {n}")).collect();
        assert!(own.into_iter().eq(&in_order), "the records of writer {writer} keep their order");
    }
}

#[test]
fn a_store_that_stays_busy_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("store.db");
    let holder = SqliteStore::open(&file).unwrap();
    let other = SqliteOptions::new().wait(Duration::from_millis(20)).open(&file).unwrap();
    holder
        .update(Durability::Process, |tx| {
            tx.append(log::draft("held"))?;
            // Readers continue meanwhile, and do not see uncommitted changes.
            assert_eq!(other.view(|view| view.head())?.seq, 0);
            let refused = other.update(Durability::Process, |tx| tx.append(log::draft("refused")));
            let Err(error @ StoreError::Busy { .. }) = refused else { panic!("{refused:?}") };
            let text = error.to_string();
            assert!(text.contains("busy for 20 ms") && text.contains(&file.display().to_string()), "{text}");
            Ok(())
        })
        .unwrap();
    assert_eq!(other.update(Durability::Process, |tx| tx.append(log::draft("next"))).unwrap().seq, 2);
}

/// Every cold start reads the log beside the file, so it must not grow with the store.
#[test]
fn the_log_beside_the_file_stays_short() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("store.db");
    let length = || std::fs::metadata(directory.path().join("store.db-wal")).unwrap().len();
    // As hooks do: a few transactions, and the process is gone.
    let write = |count| {
        for n in 0..count {
            let store = SqliteStore::open(&file).unwrap();
            log::append_counted(&store, Durability::Process, format!("{n} {}", "x".repeat(1000))).unwrap();
        }
    };
    let short = 64 * 4096 + 10 * 4096;
    write(300);
    assert!(length() < short, "{}", length());
    // A reader prevents the checkpoint, but neither side waits for the other.
    let reader = SqliteStore::open(&file).unwrap();
    reader
        .view(|view| {
            let before = view.head()?;
            write(300);
            assert_eq!(view.head()?, before, "a reader sees one state");
            assert!(length() > short, "{}", length());
            Ok(())
        })
        .unwrap();
    write(1);
    assert!(length() < short, "{}", length());
    assert_eq!(log::sound_bodies(&reader, 0, None).len(), 601);
}

/// A checkpoint waits for the disk, so a frequent writer does it rarely, and leaves a short log at its end.
#[test]
fn the_log_of_a_process_that_stays_may_be_longer_until_it_ends() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path().join("store.db")).unwrap();
    let length = || std::fs::metadata(directory.path().join("store.db-wal")).unwrap().len();
    let short = 80 * 4096;
    let mut longest = 0;
    for n in 0..3_000 {
        log::append_counted(&store, Durability::Process, format!("{n} {}", "x".repeat(1000))).unwrap();
        longest = longest.max(length());
    }
    assert!(longest > 8 * short && longest < 17 * short, "{longest}");
    log::append_counted(&store, Durability::Process, "last".to_owned()).unwrap();
    drop(store);
    assert!(length() < short, "{}", length());
}
