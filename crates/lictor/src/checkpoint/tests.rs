use lictor_store::MemoryStore;

use super::*;
use crate::Options;

struct Signed {
    _home: tempfile::TempDir,
    project: Project,
    store: MemoryStore,
}

fn signed() -> Signed {
    let home = tempfile::tempdir().unwrap();
    let project = Project::around(home.path(), &Options::new().home(home.path()));
    Signed { _home: home, project, store: MemoryStore::new() }
}

impl Signed {
    fn add(&self, records: u64) {
        let draft = |number: u64| Draft {
            at: Timestamp(17),
            session: None,
            kind: "note".to_owned(),
            body: format!("{{\"b\":{number},\"a\":1}}"),
        };
        self.store
            .update(Durability::Process, |tx| {
                (0..records).try_for_each(|number| tx.append(draft(number)).map(drop))
            })
            .unwrap();
    }

    fn sign(&self) -> Checkpoint {
        sign(&self.project, &self.store, Timestamp(18)).unwrap()
    }

    fn records(&self) -> Vec<Record> {
        self.store.view(|view| view.records(&Query::all())).unwrap()
    }
}

fn exported(records: &[Record]) -> String {
    records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect()
}

fn checked(records: &[Record], key: Option<&str>) -> Checked {
    check(exported(records).as_bytes(), key).unwrap()
}

/// The attack of a writer of the record without its keys.
fn chained_anew(records: &[Record]) -> Vec<Record> {
    let mut head = Head::START;
    let draft = |record: &Record| Draft {
        at: record.at,
        session: record.session.clone(),
        kind: record.kind.clone(),
        body: record.body.clone(),
    };
    records
        .iter()
        .map(|record| {
            let again = Record::after(head, draft(record));
            head = again.head();
            again
        })
        .collect()
}

#[test]
fn whoever_has_the_public_key_can_check_what_was_exported() {
    let record = signed();
    record.add(3);
    let key = record.sign().seal.key;
    record.add(2);
    let told = checked(&record.records(), Some(&key));
    assert_eq!((told.records, told.signed, &told.faults), (6, Some(3), &Vec::new()));
    assert_eq!(told.keys, [key]);
}

#[test]
fn a_record_that_was_written_anew_is_not_signed() {
    let record = signed();
    record.add(3);
    let key = record.sign().seal.key;
    let mut records = record.records();
    records[1].body = "{}".to_owned();
    let changed = checked(&records, Some(&key));
    assert_eq!(changed.faults, ["record 2 was changed: its content does not match its hash"]);
    let anew = checked(&chained_anew(&records), Some(&key));
    assert_eq!(
        (anew.signed, anew.faults.as_slice()),
        (None, &["the checkpoint in record 4 is not signed by this key".to_owned()][..])
    );
}

#[test]
fn another_key_does_not_count() {
    let (one, other) = (signed(), signed());
    one.add(1);
    one.sign();
    other.add(1);
    let key = other.sign().seal.key;
    assert_eq!(checked(&one.records(), Some(&key)).faults.len(), 1);
    assert_eq!(checked(&one.records(), None).faults, Vec::<String>::new());
}

#[test]
fn an_export_may_begin_later_but_has_no_gaps() {
    let record = signed();
    record.add(5);
    record.sign();
    let records = record.records();
    assert_eq!(checked(&records[2..], None).faults, Vec::<String>::new());
    let gap = [&records[..2], &records[3..]].concat();
    assert_eq!(checked(&gap, None).faults, ["record 3 is missing"]);
    assert!(check("{\"seq\": 1}\n".as_bytes(), None).is_err());
}

#[test]
fn one_is_due_after_a_thousand_records() {
    let record = signed();
    let due = || sign_if_due(&record.project, &record.store, Timestamp(18)).unwrap();
    record.add(EVERY - 1);
    assert_eq!(due(), 0);
    record.add(1);
    assert_eq!(due(), EVERY);
    assert_eq!(due(), EVERY, "nothing came since");
    record.add(EVERY);
    assert_eq!(due(), 2 * EVERY + 1);
}
