//! Old records move to archives; both the rest and the archives stay verifiable, and they join.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use lictor_core::{SessionKey, Timestamp};
use lictor_store::{
    Anchor, Anchoring, Draft, Durability, Fault, Head, Keep, Keyring, MemoryStore, Query, Record, RecordKey,
    RetainError, Retained, Retention, Segment, Space, SqliteOptions, SqliteStore, Store, StoreExt,
    Verification, View, WithArchives, retain, verify,
};

use crate::log;

const NOW: Timestamp = Timestamp(1_000_000);

fn fill(store: &dyn Store, times: impl Iterator<Item = i64>) -> Vec<Record> {
    times
        .map(|at| {
            let draft = Draft { at: Timestamp(at), ..log::draft(format!("{{\"at\": {at}}}")) };
            store.update(Durability::Process, |tx| tx.append(draft)).unwrap()
        })
        .collect()
}

fn check(store: &dyn Store, anchor: Option<Anchor>) -> Verification {
    store.view(|view| verify(view, 1..=u64::MAX, anchor)).unwrap()
}

fn base(store: &dyn Store) -> Head {
    store.view(|view| view.base()).unwrap()
}

fn segments(directory: &Path) -> Vec<Segment> {
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    files.map(|file| Segment::read(&file, |_| {}).unwrap()).collect()
}

fn both(test: impl Fn(&dyn Store, &Path)) {
    for sqlite in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let archive = directory.path().join("archive");
        fs::create_dir(&archive).unwrap();
        if sqlite {
            test(&SqliteStore::open(directory.path().join("store.db")).unwrap(), &archive);
        } else {
            test(&MemoryStore::new(), &archive);
        }
    }
}

#[test]
fn what_is_archived_is_complete_and_joins_the_rest() {
    both(|store, archive| {
        let written = fill(store, 0..1200);
        let file = retain(store, Keep::Newest(100), archive, Timestamp(1200)).unwrap().expect("an archive");
        assert_eq!(file.file_name().unwrap(), "log-0000000001-0000001100.jsonl.gz");
        let mut archived = Vec::new();
        let segment = Segment::read(&file, |record| archived.push(record.clone())).unwrap();
        assert_eq!(segment.faults, []);
        assert_eq!(archived, written[..1100]);
        assert_eq!(base(store), segment.last);
        let kept = store.view(|view| view.records(&Query::all())).unwrap();
        assert_eq!(kept[..100], written[1100..]);
        assert_eq!(kept.last().unwrap().kind, Retained::KIND);

        let verification = check(store, None);
        assert_eq!(
            (verification.faults.as_slice(), verification.checked),
            ([].as_slice(), Some((1101, 1201)))
        );
        fill(store, 1200..1210);
        retain(store, Keep::Since(Timestamp(1205)), archive, NOW).unwrap().expect("another archive");
        assert_eq!(base(store).seq, 1206, "the record about the first archive lies between");
        assert!(check(store, None).is_sound());
        assert_eq!(segments(archive).len(), 2);
        Segment::join(segments(archive), base(store)).unwrap();

        let gone = Anchor::from(written[10].head());
        assert_eq!(check(store, Some(gone)).anchoring, Anchoring::Archived(gone));
        let forged = Anchor { hash: gone.hash, ..base(store).into() };
        assert!(!check(store, Some(forged)).is_sound());
        assert!(check(store, Some(base(store).into())).is_sound());
    });
}

#[test]
fn nothing_to_archive_changes_nothing() {
    both(|store, archive| {
        assert_eq!(retain(store, Keep::Newest(5), archive, NOW).unwrap(), None);
        fill(store, 10..15);
        let head = store.view(|view| view.head()).unwrap();
        assert_eq!(retain(store, Keep::Newest(5), archive, NOW).unwrap(), None);
        assert_eq!(retain(store, Keep::Since(Timestamp(10)), archive, NOW).unwrap(), None);
        assert_eq!(store.view(|view| view.head()).unwrap(), head);
        assert_eq!(fs::read_dir(archive).unwrap().count(), 0);
    });
}

#[test]
fn an_archive_that_cannot_be_written_removes_nothing() {
    both(|store, archive| {
        fill(store, 0..10);
        let error = retain(store, Keep::Newest(2), &archive.join("not there"), NOW).unwrap_err();
        assert!(matches!(error, RetainError::Write { .. }), "{error}");
        assert_eq!(base(store), Head::START);
    });
}

#[test]
fn an_archive_left_by_a_crash_does_not_disturb() {
    both(|store, archive| {
        fill(store, 0..20);
        let left = retain(store, Keep::Newest(10), archive, NOW).unwrap().unwrap();
        // As if the first attempt had written more than the one that counted.
        fs::copy(&left, archive.join("copy.jsonl.gz")).unwrap();
        Segment::join(segments(archive), base(store)).unwrap();
        fs::remove_file(left).unwrap();
        Segment::join(segments(archive), base(store)).unwrap();
    });
}

#[test]
fn tampering_with_an_archive_is_found() {
    both(|store, archive| {
        fill(store, 0..20);
        let file = retain(store, Keep::Newest(10), archive, NOW).unwrap().unwrap();
        let mut text = String::new();
        MultiGzDecoder::new(fs::File::open(&file).unwrap()).read_to_string(&mut text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let read = |text: String| {
            fs::write(&file, text).unwrap();
            Segment::read(&file, |_| {})
        };
        let changed = read(text.replacen("\\\"at\\\": 4}", "\\\"at\\\": 5}", 1)).unwrap();
        assert_eq!(
            changed.faults[0].to_string(),
            "record 5 was changed: its content does not match its hash"
        );
        assert!(Segment::join(vec![changed], base(store)).is_err());
        let removed = read([&lines[..3], &lines[4..]].concat().join("\n")).unwrap();
        assert_eq!(removed.faults[0].to_string(), "record 4 is missing");
        let shortened = read(lines[..8].join("\n")).unwrap();
        assert_eq!(shortened.faults, [], "sound in itself");
        assert!(Segment::join(vec![shortened], base(store)).is_err(), "but it does not reach the store");
        assert!(read(format!("{}\n{}", lines[1], lines[0])).unwrap_err().to_string().contains("line 2"));
        assert!(read("{}".to_owned()).unwrap_err().to_string().contains("line 1"));
        assert!(read(String::new()).unwrap_err().to_string().contains("empty"));
    });
}

#[test]
fn evidence_of_tampering_is_not_archived() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("store.db");
    fill(&SqliteStore::open(&file).unwrap(), 0..20);
    log::raw(&file, "UPDATE log SET body = '' WHERE seq = 3");
    let store = SqliteStore::open(&file).unwrap();
    let error = retain(&store, Keep::Newest(5), directory.path(), NOW).unwrap_err();
    assert!(error.to_string().starts_with("record 3 was changed"), "{error}");
    assert_eq!(base(&store), Head::START);
}

#[test]
fn anchors_are_lines_of_text() {
    let head = fill(&MemoryStore::new(), 0..3).last().unwrap().head();
    let anchor = Anchor::from(head);
    assert_eq!(anchor.to_string(), format!("3 {}", head.hash));
    let text = format!("{anchor}\n\n{}\n", Anchor { seq: 2, ..anchor });
    assert_eq!(Anchor::newest(&text), Ok(Some(anchor)));
    assert_eq!(Anchor::newest(" \n"), Ok(None));
    for bad in ["3", "x y", "3 0123", "-1 0", &format!("{anchor} more")] {
        assert!(Anchor::newest(bad).unwrap_err().to_string().contains(bad), "{bad}");
    }
}

const DAY: i64 = 24 * 60 * 60 * 1000;

/// Sealed, with a hundred records of a day each.
fn hundred_days(file: &Path) -> SqliteStore {
    let keys = Keyring::of(RecordKey::from_bytes([1; 32]));
    let store = SqliteOptions::new().keys(keys).open(file).unwrap();
    for day in 0..100 {
        let session = Some(SessionKey { agent: "a".to_owned(), id: format!("{}", day % 7) });
        let draft = Draft { at: Timestamp(day * DAY), session, ..log::draft(format!("{{\"day\": {day}}}")) };
        store
            .update(Durability::Process, |tx| {
                tx.put(Space::Session, format!("{}", day % 7).as_bytes(), day.to_string().as_bytes())?;
                tx.append(draft)
            })
            .unwrap();
    }
    store
}

#[test]
fn what_is_old_goes_and_is_still_read() {
    let directory = tempfile::tempdir().unwrap();
    let archive = directory.path().join("archive");
    let store = hundred_days(&directory.path().join("store.db"));
    let now = Timestamp(100 * DAY);
    let all = store.view(|view| view.records(&Query::all())).unwrap();
    let retention = Retention { keep: Duration::from_secs(30 * 86_400), ..Retention::default() };
    assert_eq!(retention.apply(&store, &archive, now).unwrap(), 70);
    assert_eq!(retention.apply(&store, &archive, now).unwrap(), 0, "nothing more to move");
    assert_eq!(Retention::default().apply(&store, &archive, now).unwrap(), 0);
    assert_eq!(check(&store, None).faults, []);
    store
        .view(|view| {
            let whole = WithArchives::new(view, &archive)?;
            let records = whole.records(&Query::all())?;
            assert_eq!(records[..100], all);
            assert_eq!(records.len(), 101);
            let checked = verify(&whole, 1..=u64::MAX, Some(all[3].head().into()))?;
            assert_eq!((checked.faults.as_slice(), checked.records), ([].as_slice(), 101));
            assert!(matches!(checked.anchoring, Anchoring::Used(_)));
            let queries = [
                Query::all().after(65).limit(10),
                Query::all().newest_first().before(76).limit(10),
                Query::all().session(all[3].session.clone().unwrap()),
                Query::all().newest_first().session(all[3].session.clone().unwrap()).limit(12),
                Query::all().after(10).before(20),
                Query::all().limit(0),
            ];
            for query in queries {
                let found: Vec<u64> = whole.records(&query)?.iter().map(|record| record.seq).collect();
                let memory = MemoryStore::new();
                memory.update(Durability::Process, |tx| {
                    records.iter().try_for_each(|record| {
                        let Record { at, session, kind, body, .. } = record.clone();
                        tx.append(Draft { at, session, kind, body }).map(drop)
                    })
                })?;
                let expected = memory.view(|view| view.records(&query))?;
                assert_eq!(found, expected.iter().map(|record| record.seq).collect::<Vec<_>>(), "{query:?}");
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_is_too_much_goes() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path().join("store.db")).unwrap();
    fill(&store, 0..2000);
    let used = store.used_bytes().unwrap();
    let retention = Retention { max_size: used / 2, ..Retention::default() };
    let moved = retention.apply(&store, &directory.path().join("archive"), Timestamp(2000)).unwrap();
    assert!((1100..1300).contains(&moved), "{moved}");
    assert!(store.used_bytes().unwrap() <= used / 2, "{} of {used}", store.used_bytes().unwrap());
    assert!(check(&store, None).is_sound());
}

/// A rewritten archive is sound in itself; the seals show that it is not the original.
#[test]
fn a_forged_archive_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let archive = directory.path().join("archive");
    let store = hundred_days(&directory.path().join("store.db"));
    Retention { keep: Duration::from_secs(30 * 86_400), ..Retention::default() }
        .apply(&store, &archive, Timestamp(100 * DAY))
        .unwrap();
    let file = fs::read_dir(&archive).unwrap().next().unwrap().unwrap().path();
    let mut text = String::new();
    MultiGzDecoder::new(fs::File::open(&file).unwrap()).read_to_string(&mut text).unwrap();
    let faults = |text: String| {
        fs::write(&file, text).unwrap();
        store.view(|view| verify(&WithArchives::new(view, &archive)?, 1..=u64::MAX, None)).unwrap().faults
    };
    assert_eq!(faults(text.clone()), []);
    assert_eq!(
        faults(text.replacen("{\\\"day\\\": 4}", "{\\\"day\\\": 5}", 1))[0],
        Fault::Changed { seq: 5 }
    );
    let cut: String = text.lines().skip(1).map(|line| format!("{line}\n")).collect();
    assert_eq!(faults(cut)[0], Fault::Missing { first: 1, last: 1 });
    let unsealed: String = text
        .lines()
        .map(|line| {
            let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
            line.as_object_mut().unwrap().remove("seal");
            format!("{line}\n")
        })
        .collect();
    assert_eq!(faults(unsealed), [Fault::Unsealed { seq: 70 }]);
}

/// A missing or unreadable archive is a fault; later records are still read and checked.
#[test]
fn an_archive_that_cannot_be_had_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let archive = directory.path().join("archive");
    let store = hundred_days(&directory.path().join("store.db"));
    for days in [60, 30] {
        Retention { keep: Duration::from_secs(days * 86_400), ..Retention::default() }
            .apply(&store, &archive, Timestamp(100 * DAY))
            .unwrap();
    }
    let mut files: Vec<_> = fs::read_dir(&archive).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let [first, second] = files.as_slice() else { panic!("{files:?}") };
    let checked =
        || store.view(|view| verify(&WithArchives::new(view, &archive)?, 1..=u64::MAX, None)).unwrap();
    let numbers = |query: Query| -> Result<Vec<u64>, String> {
        let found = store.view(|view| WithArchives::new(view, &archive)?.records(&query));
        Ok(found.map_err(|error| error.to_string())?.iter().map(|record| record.seq).collect())
    };
    let all = checked();
    assert_eq!((all.faults.as_slice(), all.records), ([].as_slice(), 102));
    let aside = directory.path().join("aside");
    let whole = fs::read(second).unwrap();
    for (name, damage) in [
        ("removed", Box::new(|| fs::rename(second, &aside).unwrap()) as Box<dyn Fn()>),
        ("not an archive", Box::new(|| fs::write(second, "nothing").unwrap())),
        ("cut off", Box::new(|| fs::write(second, &whole[..whole.len() / 2]).unwrap())),
    ] {
        damage();
        let broken = checked();
        let [Fault::Archive { what }] = broken.faults.as_slice() else { panic!("{name}: {broken:?}") };
        assert!(what.contains("restore"), "{name}: {what}");
        assert_eq!((broken.records, broken.checked), (72, Some((1, 102))), "{name}");
        // Records before and after it can be read; those in it cannot.
        assert_eq!(numbers(Query::all()).unwrap(), (1..=40).collect::<Vec<_>>(), "{name}");
        assert!(numbers(Query::all().after(40)).is_err(), "{name}");
        assert_eq!(numbers(Query::all().after(70).limit(2)).unwrap(), [71, 72], "{name}");
        assert_eq!(numbers(Query::all().newest_first().limit(90)).unwrap().len(), 32, "{name}");
        assert!(numbers(Query::all().newest_first().before(71)).is_err(), "{name}");
        fs::write(second, &whole).unwrap();
    }
    fs::remove_file(first).unwrap();
    let [Fault::Archive { what }] = &checked().faults[..] else { panic!("{:?}", checked()) };
    assert!(what.starts_with("records 1 to 40 are not in the store any more"), "{what}");
    fs::remove_dir_all(&archive).unwrap();
    assert!(!checked().is_sound(), "nor without the directory");
}

#[test]
fn what_was_moved_takes_no_space() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("store.db");
    let store = SqliteStore::open(&file).unwrap();
    fill(&store, 0..2000);
    let moved = Retention { keep: Duration::ZERO, ..Retention::default() };
    moved.apply(&store, &directory.path().join("archive"), Timestamp(5000)).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().len(), store.used_bytes().unwrap());
    assert!(check(&store, None).is_sound());
}

#[test]
fn a_store_in_memory_may_keep_only_the_newest_records() {
    let store = MemoryStore::keeping(10);
    let records = fill(&store, 0..25);
    assert_eq!(base(&store), records[14].head());
    let kept = store.view(|view| view.records(&Query::all())).unwrap();
    assert_eq!(kept, records[15..]);
    let rest = store.view(|view| verify(view, 16..=u64::MAX, None)).unwrap();
    assert_eq!(rest.faults, []);
    let given_up = store.update::<()>(Durability::Process, |tx| {
        tx.append(log::draft("{}"))?;
        Err(lictor_store::StoreError::Abandoned)
    });
    assert!(given_up.is_err());
    assert_eq!(store.view(|view| view.records(&Query::all())).unwrap(), kept);
}
