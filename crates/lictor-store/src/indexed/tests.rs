use std::sync::Arc;

use lictor_core::{SessionKey, Timestamp};

use super::Indexed;
use crate::{Draft, Durability, MemoryStore, Query, Record, SqliteStore, Store, StoreExt as _, conformance};

#[test]
fn it_does_what_every_store_must() {
    for (name, check) in conformance::CHECKS {
        check(&Indexed::new(Arc::new(MemoryStore::new()))).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

fn fill(store: &dyn Store, records: std::ops::Range<u64>) {
    let mut drafts = records.map(|number| {
        let session =
            (number % 3 != 0).then(|| SessionKey { agent: "a".to_owned(), id: format!("s{}", number % 401) });
        let kind = if number % 97 == 0 { "rare" } else { "common" };
        Draft { at: Timestamp(17), session, kind: kind.to_owned(), body: number.to_string() }
    });
    store.update(Durability::Process, |tx| drafts.try_for_each(|draft| tx.append(draft).map(drop))).unwrap();
}

fn look(store: &dyn Store, query: &Query) -> Vec<Record> {
    store.view(|view| view.records(query)).unwrap()
}

/// Every combination of filters gives the same result as the underlying store, also after new writes and after
/// pruning.
#[test]
fn it_finds_what_reading_everything_finds() {
    let directory = tempfile::tempdir().unwrap();
    let below = Arc::new(SqliteStore::open(directory.path().join("lictor.db")).unwrap());
    let store = Indexed::new(Arc::clone(&below) as Arc<dyn Store>);
    let queries = || {
        let session = |id: &str| SessionKey { agent: "a".to_owned(), id: id.to_owned() };
        let base = [
            Query::all().kind("rare"),
            Query::all().kind("common"),
            Query::all().kind("nothing"),
            Query::all().session(session("s7")),
            Query::all().session(session("nobody")),
            Query::all().session(session("s7")).kind("rare"),
            Query::all().session(session("s97")).kind("common"),
        ];
        let ranges = base.into_iter().flat_map(|query| [query.clone(), query.after(500).before(4_000)]);
        let both = ranges.flat_map(|query| [query.clone(), query.newest_first()]);
        both.flat_map(|query| [query.clone().limit(3), query]).collect::<Vec<_>>()
    };
    for more in [0..3_000, 3_000..5_000] {
        fill(&*below, more);
        for query in queries() {
            assert_eq!(look(&store, &query), look(&*below, &query), "{query:?}");
        }
    }
    below.update(Durability::Process, |tx| tx.prune(1_500)).unwrap();
    for query in queries() {
        assert_eq!(look(&store, &query), look(&*below, &query), "{query:?}");
    }
}
