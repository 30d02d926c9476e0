use lictor_store::{Draft, Durability, MemoryStore};

use super::*;

fn asked(pairs: &[(&str, &str)]) -> HashMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_day_begins_and_ends_where_the_reader_is() {
    let berlin = TimeZone::fixed(jiff::tz::offset(1));
    let at = |text: &str, end: bool| moment(text, &berlin, end).map(|at| at.0);
    assert_eq!(at("1970-01-02", false), Some(23 * 3_600_000));
    assert_eq!(at("1970-01-01", true), Some(23 * 3_600_000), "the end of a day is the beginning of the next");
    assert_eq!(at("1970-01-01T00:00:01Z", true), Some(1_000));
    assert_eq!((at("yesterday", false), at("1970-13-01", false)), (None, None));
}

#[test]
fn what_is_said_about_time_text_and_people_narrows_the_record() {
    let store = MemoryStore::new();
    for (seconds, user) in [(1, "ada"), (2, "bob"), (3, "ada")] {
        let body = json!({"action": {"actor": {"user": user}, "payload": {"command": "echo \"Hi\""}}});
        let draft = Draft {
            at: Timestamp(seconds * 1_000),
            session: None,
            kind: "evaluated".to_owned(),
            body: body.to_string(),
        };
        store.update(Durability::Process, |tx| tx.append(draft.clone()).map(drop)).unwrap();
    }
    let found = |pairs: &[(&str, &str)]| -> Vec<u64> {
        let wanted = Wanted::of(&asked(pairs), &TimeZone::UTC).unwrap().within(&store).unwrap();
        let records = store.view(|view| view.records(&wanted.next(0, 100))).unwrap();
        let fits = |record: &&Record| wanted.fits(record, &crate::http::entry(record));
        records.iter().filter(fits).map(|record| record.seq).collect()
    };
    assert_eq!(found(&[]), [1, 2, 3]);
    assert_eq!(found(&[("from", "1970-01-01T00:00:02Z")]), [2, 3]);
    assert_eq!(found(&[("until", "1970-01-01T00:00:02Z")]), [1]);
    assert_eq!(found(&[("until", "1970-01-01")]), [1, 2, 3], "the whole day");
    assert_eq!(found(&[("user", "ada")]), [1, 3]);
    assert_eq!(found(&[("text", "ECHO \"hi\"")]), [1, 2, 3], "as people write it, not as JSON does");
    assert_eq!(found(&[("text", "hello")]), [] as [u64; 0]);
    for wrong in [("decision", "maybe"), ("from", "soon"), ("until", "")] {
        assert!(Wanted::of(&asked(&[wrong]), &TimeZone::UTC).is_err(), "{wrong:?}");
    }
}
