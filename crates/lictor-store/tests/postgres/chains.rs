//! Chains, tenants, months and crashes.

use std::sync::Mutex;
use std::time::Duration;

use lictor_core::Timestamp;
use lictor_store::{
    Anchor, Draft, Durability, Fault, Freshness, Keep, Keyring, PostgresOptions, PostgresStore, Query,
    RecordKey, Segment, Space, Store, StoreError, StoreExt, conformance, retain, verify,
};

use crate::cluster::Cluster;

fn draft(body: impl Into<String>) -> Draft {
    Draft { at: Timestamp(1), session: None, kind: "test".to_owned(), body: body.into() }
}

fn append(store: &dyn Store, body: &str) -> Result<u64, StoreError> {
    store.update(Durability::Process, |tx| tx.append(draft(body)).map(|record| record.seq))
}

fn keys(byte: u8) -> Keyring {
    Keyring::of(RecordKey::from_bytes([byte; 32]))
}

fn faults(store: &PostgresStore) -> Vec<Fault> {
    store.view(|view| verify(view, 1..=u64::MAX, None)).unwrap().faults
}

#[test]
fn it_does_what_every_store_does() {
    let cluster = Cluster::start();
    let pool = cluster.database("kit");
    for (number, (name, check)) in conformance::CHECKS.iter().enumerate() {
        let plain = pool.store("team", &format!("plain {number}")).unwrap();
        check(&plain).unwrap_or_else(|error| panic!("{name}: {error}"));
        let sealed = pool.store("team", &format!("sealed {number}")).unwrap().keys(keys(1));
        check(&sealed).unwrap_or_else(|error| panic!("sealed: {name}: {error}"));
    }
    // One of the checks writes nothing, and makes no chain.
    assert_eq!(pool.projects("team").unwrap().len(), 2 * (conformance::CHECKS.len() - 1));
    assert_eq!(pool.projects("another team").unwrap(), [] as [String; 0]);
}

/// Many clients of many chains at once: no chain forks, no record is lost.
#[test]
fn chains_do_not_fork() {
    let cluster = Cluster::start();
    let pool = cluster.database("forks");
    let stores: Vec<PostgresStore> =
        (0..4).map(|n| pool.store("team", &format!("project {n}")).unwrap()).collect();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let stores = &stores;
            scope.spawn(move || {
                for n in 0..20 {
                    append(stores.get((writer + n) % 4).unwrap(), &format!("{writer} {n}")).unwrap();
                }
            });
        }
    });
    for store in &stores {
        assert_eq!(faults(store), []);
        assert_eq!(store.view(|view| view.head()).unwrap().seq, 40);
    }
}

/// A process's cache of a chain is valid only until another process changes the chain.
#[test]
fn what_another_process_changed_is_read_again() {
    let cluster = Cluster::start();
    let ours = cluster.database("shared").store("team", "project").unwrap().keys(keys(1));
    let pool = cluster.options("shared").connect().unwrap();
    let theirs = pool.store("team", "project").unwrap().keys(keys(1));
    let put = |store: &PostgresStore, value: &[u8]| {
        store.update(Durability::Process, |tx| tx.put(Space::Session, b"key", value)).unwrap();
    };
    let read = |store: &PostgresStore| store.view(|view| view.get(Space::Session, b"key")).unwrap();
    append(&ours, "first").unwrap();
    assert_eq!(read(&ours), None);
    // With a record and without one, by others and by ourselves.
    for (number, writer) in [&theirs, &ours, &theirs, &theirs, &ours].into_iter().enumerate() {
        let value = [u8::try_from(number).unwrap()];
        put(writer, &value);
        assert_eq!([read(&ours), read(&theirs)], [Some(value.to_vec()), Some(value.to_vec())]);
        let seen = ours.update(Durability::Process, |tx| {
            let seen = tx.get(Space::Session, b"key")?;
            tx.append(draft("seen"))?;
            Ok(seen)
        });
        assert_eq!(seen.unwrap(), Some(value.to_vec()));
    }
    let gone = theirs.update(Durability::Process, |tx| tx.delete(Space::Session, b"key"));
    gone.unwrap();
    assert_eq!([read(&ours), read(&theirs)], [None, None]);
    // Uncommitted changes are not visible.
    let abandoned = ours.update(Durability::Process, |tx| {
        tx.put(Space::Session, b"key", b"abandoned")?;
        Err::<(), _>(StoreError::Abandoned)
    });
    assert!(abandoned.is_err());
    assert_eq!(read(&ours), None);
    assert_eq!(faults(&ours), []);
}

/// Increments a counter, with a record, in a retryable change. Returns how often it ran.
fn count(store: &PostgresStore) -> Result<u64, StoreError> {
    let mut runs = 0;
    store.update_retrying(Durability::Process, |tx| {
        runs += 1;
        let before = tx.get(Space::Session, b"counter")?.and_then(|bytes| bytes.try_into().ok());
        let next = before.map_or(0, u64::from_be_bytes) + 1;
        tx.append(draft(format!("{{\"count\": {next}}}")))?;
        tx.put(Space::Session, b"counter", &next.to_be_bytes())
    })?;
    Ok(runs)
}

fn counted(store: &PostgresStore) -> u64 {
    let found = store.view(|view| view.get(Space::Session, b"counter")).unwrap();
    found.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes)
}

/// Changes of different chains are committed together; none is lost and no chain forks.
#[test]
fn chains_share_commits() {
    let cluster = Cluster::start();
    drop(cluster.database("batches"));
    let pool = cluster.options("batches").connections(4).connect().unwrap();
    let stores: Vec<PostgresStore> =
        (0..16).map(|n| pool.store(&format!("team {n}"), "project").unwrap().keys(keys(1))).collect();
    std::thread::scope(|scope| {
        for store in &stores {
            for _ in 0..2 {
                scope.spawn(move || (0..20).for_each(|_| assert!(count(store).unwrap() <= 2)));
            }
        }
    });
    for store in &stores {
        assert_eq!(faults(store), []);
        assert_eq!((counted(store), store.view(|view| view.head()).unwrap().seq), (40, 40));
    }
    // Each row says which transaction wrote it.
    let sql = "SELECT count(DISTINCT xmin::text) FROM lictor.log";
    let commits: i64 = cluster.client("owner", "batches").query_one(sql, &[]).unwrap().get(0);
    assert!(commits < 16 * 40, "{commits}");
}

/// Two servers over one database: each has a cache of the chain, and neither overwrites the other's writes.
#[test]
fn a_change_on_an_older_state_runs_again() {
    let cluster = Cluster::start();
    let ours = cluster.database("moved").store("team", "project").unwrap().keys(keys(1));
    let pool = cluster.options("moved").connect().unwrap();
    let theirs = pool.store("team", "project").unwrap().keys(keys(1));
    count(&ours).unwrap();
    assert_eq!(count(&ours).unwrap(), 1, "what is known need not be asked for");
    assert_eq!((count(&theirs).unwrap(), count(&theirs).unwrap()), (1, 1));
    let cached = ours.view_cached(|view| Ok(view.head()?.seq)).unwrap();
    assert_eq!(cached, (2, Freshness::Cached), "nobody was asked");
    assert_eq!(count(&ours).unwrap(), 2);
    assert_eq!(ours.view_cached(|view| Ok(view.head()?.seq)).unwrap(), (5, Freshness::Cached));
    std::thread::scope(|scope| {
        for store in [&ours, &theirs, &ours, &theirs] {
            scope.spawn(move || (0..25).for_each(|_| assert!(count(store).unwrap() <= 2)));
        }
    });
    assert_eq!((counted(&ours), counted(&theirs)), (105, 105));
    assert_eq!(faults(&ours), []);
}

/// A failed change in a batch does not affect the others.
#[test]
fn one_change_that_fails_does_not_take_others_with_it() {
    let cluster = Cluster::start();
    drop(cluster.database("shared_fate"));
    let pool = cluster.options("shared_fate").wait(Duration::from_millis(300)).connect().unwrap();
    let stores: Vec<PostgresStore> =
        (0..6).map(|n| pool.store("team", &format!("project {n}")).unwrap().keys(keys(1))).collect();
    for store in &stores {
        count(store).unwrap();
    }
    let holder = cluster.options("shared_fate").connect().unwrap();
    let holder = holder.store("team", "project 0").unwrap().keys(keys(1));
    let held = holder.update(Durability::Process, |tx| {
        tx.append(draft("{}"))?;
        std::thread::scope(|scope| {
            let all: Vec<_> = stores.iter().map(|store| scope.spawn(move || count(store))).collect();
            let mut all = all.into_iter().map(|one| one.join().unwrap());
            let first = all.next().unwrap();
            assert!(matches!(first, Err(StoreError::Busy { .. })), "{first:?}");
            all.for_each(|other| assert_eq!(other.unwrap(), 1));
        });
        Ok(())
    });
    held.unwrap();
    assert_eq!(count(stores.first().unwrap()).unwrap(), 2);
    for store in &stores {
        assert_eq!((faults(store), counted(store)), (Vec::new(), 2));
    }
}

#[test]
fn a_chain_that_stays_locked_is_busy() {
    let cluster = Cluster::start();
    let pool = cluster.database("busy");
    let holder = pool.store("team", "one").unwrap();
    let hasty = cluster.options("busy").wait(Duration::from_millis(50)).connect().unwrap();
    append(&holder, "first").unwrap();
    holder
        .update(Durability::Process, |tx| {
            tx.append(draft("held"))?;
            let other = hasty.store("team", "one").unwrap();
            assert_eq!(other.view(|view| view.head()).unwrap().seq, 1, "readers do not wait");
            let refused = append(&other, "refused");
            let Err(error @ StoreError::Busy { waited_ms: 50, .. }) = refused else { panic!("{refused:?}") };
            assert!(error.to_string().contains("pg_stat_activity"), "{error}");
            append(&hasty.store("team", "two").unwrap(), "another chain does not wait").map(drop)
        })
        .unwrap();
    assert_eq!(append(&holder, "next").unwrap(), 3);
}

/// A machine that disappears during a change keeps its chain locked only for a while.
#[test]
fn a_change_that_nobody_goes_on_with_is_given_up() {
    let cluster = Cluster::start();
    drop(cluster.database("gone"));
    let options = cluster.options("gone").wait(Duration::from_millis(50));
    let (gone, pool) = (options.clone().connect().unwrap(), options.connect().unwrap());
    let (gone, other) = (gone.store("team", "one").unwrap(), pool.store("team", "one").unwrap());
    let held = gone.update(Durability::Process, |tx| {
        tx.append(draft("held"))?;
        // Each try waits for the chain itself.
        let tries = (0..200).map(|_| append(&other, "another machine"));
        assert_eq!(tries.flatten().next(), Some(1));
        Ok(())
    });
    assert!(held.is_err(), "{held:?}");
    assert_eq!(append(&gone, "back again").unwrap(), 2);
}

/// If the database allows fewer connections than needed, callers wait.
#[test]
fn a_database_that_gives_few_connections_is_shared() {
    let cluster = Cluster::start();
    drop(cluster.database("few"));
    cluster.sql(
        "few",
        "CREATE ROLE application LOGIN CONNECTION LIMIT 2; GRANT USAGE ON SCHEMA lictor TO application;
         GRANT SELECT ON lictor.schema_version TO application;
         GRANT SELECT, INSERT, UPDATE, DELETE ON lictor.tenant, lictor.head, lictor.log, lictor.entry TO application",
    );
    let options = PostgresOptions::new(cluster.url("application", "few")).wait(Duration::from_secs(20));
    let pool = options.clone().connections(16).connect().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..12 {
            let store = pool.store("team", &format!("project {writer}")).unwrap();
            scope.spawn(move || (0..5).for_each(|n| assert_eq!(append(&store, "x").unwrap(), n + 1)));
        }
    });
    // Without any connection there is nothing to wait for.
    cluster.sql("few", "ALTER ROLE application CONNECTION LIMIT 0");
    assert!(options.connect().is_err());
}

/// Row-level security holds for the application's role, and for the owner of the tables.
#[test]
fn tenants_cannot_see_each_other() {
    let cluster = Cluster::start();
    let pool = cluster.database("tenants");
    for tenant in ["red", "blue"] {
        let store = pool.store(tenant, "project").unwrap();
        store
            .update(Durability::Power, |tx| {
                tx.put(Space::Grant, b"grant", tenant.as_bytes())?;
                tx.append(draft(tenant)).map(drop)
            })
            .unwrap();
    }
    cluster.sql(
        "tenants",
        "CREATE ROLE application LOGIN; GRANT USAGE ON SCHEMA lictor TO application;
         GRANT SELECT ON lictor.schema_version TO application;
         GRANT SELECT, INSERT, UPDATE, DELETE ON lictor.tenant, lictor.head, lictor.log, lictor.entry TO application;
         CREATE ROLE plain_owner LOGIN; ALTER TABLE lictor.log OWNER TO plain_owner; GRANT USAGE ON SCHEMA lictor TO plain_owner",
    );
    let application = PostgresOptions::new(cluster.url("application", "tenants")).connect().unwrap();
    let red = application.store("red", "project").unwrap();
    assert_eq!(append(&red, "by the application").unwrap(), 2);
    assert_eq!(red.view(|view| view.get(Space::Grant, b"grant")).unwrap(), Some(b"red".to_vec()));
    for role in ["application", "plain_owner"] {
        let mut client = cluster.client(role, "tenants");
        let count =
            |client: &mut postgres::Client, sql: &str| -> i64 { client.query_one(sql, &[]).unwrap().get(0) };
        assert_eq!(count(&mut client, "SELECT count(*) FROM lictor.log"), 0, "no tenant, no rows");
        client.batch_execute("SELECT set_config('lictor.tenant', 'red', false)").unwrap();
        assert_eq!(count(&mut client, "SELECT count(*) FROM lictor.log WHERE tenant = 'blue'"), 0);
        assert_eq!(count(&mut client, "SELECT count(*) FROM lictor.log"), 2);
    }
    let mut client = cluster.client("application", "tenants");
    client.batch_execute("SELECT set_config('lictor.tenant', 'red', false)").unwrap();
    let blue = "INSERT INTO lictor.entry VALUES ('blue', 'project', 'grant', 'x', 'x', NULL)";
    assert!(client.execute(blue, &[]).unwrap_err().to_string().contains("db error"));
    assert_eq!(client.execute("UPDATE lictor.head SET seq = 0 WHERE tenant = 'blue'", &[]).unwrap(), 0);
    assert_eq!(client.execute("DELETE FROM lictor.entry WHERE tenant = 'blue'", &[]).unwrap(), 0);
    // Partitions have names that can be guessed.
    let partition: String = cluster
        .client("owner", "tenants")
        .query_one(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'lictor.log'::regclass",
            &[],
        )
        .unwrap()
        .get(0);
    assert!(client.query(&format!("SELECT * FROM {partition}"), &[]).is_err());
}

/// Roles under row-level security also use the indexes, whatever the tables contain. The owner of the tables is
/// not subject to it, so it would not show the problem.
#[test]
fn indexes_serve_the_role_of_the_application() {
    let cluster = Cluster::start();
    drop(cluster.database("plans"));
    cluster.sql(
        "plans",
        "CREATE ROLE application LOGIN; GRANT USAGE ON SCHEMA lictor TO application;
         GRANT SELECT ON ALL TABLES IN SCHEMA lictor TO application; SELECT lictor.make_month(now());
         SET row_security = off;
         INSERT INTO lictor.log SELECT 'red', 'p', n, n, now(), 'a', 's' || n / 100, 'k' || n % 2, '', '', '', NULL
           FROM generate_series(1, 20000) n;
         INSERT INTO lictor.entry SELECT 'red', 'p', 'meta', convert_to('key' || n, 'UTF8'), '', NULL
           FROM generate_series(1, 20000) n",
    );
    let mut client = cluster.client("application", "plans");
    client.batch_execute("SELECT set_config('lictor.tenant', 'red', false)").unwrap();
    let log = "EXPLAIN SELECT seq FROM lictor.log WHERE tenant = 'red' AND project = 'p' AND seq > 0";
    let entry =
        "EXPLAIN SELECT value FROM lictor.entry WHERE tenant = 'red' AND project = 'p' AND space = 'meta'";
    let by_kind =
        format!("{log} AND kind_start = left('none', 60) AND kind = 'none' ORDER BY seq DESC LIMIT 40");
    let by_session =
        format!("{log} AND session_start = left('s7', 120) AND session = 's7' ORDER BY seq LIMIT 40");
    let by_key = format!("{entry} AND sha256(key) = sha256('key7') AND key_start = 'key7' AND key = 'key7'");
    let in_order =
        format!("{entry} AND key_start >= 'key7' AND key >= 'key7' ORDER BY key_start, key LIMIT 5");
    for (sql, columns) in [
        (by_kind, &["kind_start"][..]),
        (by_session, &["session_start"]),
        (format!("{log} ORDER BY seq DESC LIMIT 40"), &["seq"]),
        (by_key, &["sha256(key)", "key_start"]),
        (in_order, &["key_start"]),
    ] {
        let plan: Vec<String> =
            client.query(&sql, &[]).unwrap().iter().map(|row| row.get::<_, String>(0)).collect();
        let by = plan.iter().filter(|line| line.contains("Index Cond"));
        let by = by.into_iter().any(|line| columns.iter().any(|column| line.contains(column)));
        assert!(by, "{sql}\n{}", plan.join("\n"));
    }
}

#[test]
fn changes_from_outside_are_named() {
    let cluster = Cluster::start();
    let pool = cluster.database("tamper");
    let cases = [
        ("UPDATE lictor.entry SET value = '9'", "the entry `grant` in `grant`"),
        ("DELETE FROM lictor.entry", "one entry that follows from the records was removed"),
        ("UPDATE lictor.log SET body = 'x' WHERE seq = 2", "record 2 was changed"),
        ("DELETE FROM lictor.log WHERE seq = 2", "record 2 is missing"),
        ("UPDATE lictor.log SET seal = NULL WHERE seq = 2", "record 2 has no seal"),
    ];
    for (number, (sql, names)) in cases.iter().enumerate() {
        let project = format!("project {number}");
        let store = pool.store("team", &project).unwrap().keys(keys(1));
        for n in 0..3 {
            append(&store, &n.to_string()).unwrap();
        }
        store.update(Durability::Power, |tx| tx.put(Space::Grant, b"grant", b"once")).unwrap();
        assert_eq!(faults(&store), []);
        let only = if sql.contains("WHERE") { "AND" } else { "WHERE" };
        cluster.sql("tamper", &format!("SET row_security = off; {sql} {only} project = '{project}'"));
        let found: Vec<String> = faults(&store).iter().map(Fault::to_string).collect();
        assert!(found.iter().any(|fault| fault.contains(names)), "{sql}: {found:?}");
    }
}

/// The archives join with the remaining records, and the partition is dropped.
#[test]
fn old_months_are_archived_and_dropped() {
    let cluster = Cluster::start();
    let pool = cluster.database("months");
    let store = pool.store("team", "project").unwrap();
    for n in 0..5 {
        append(&store, &n.to_string()).unwrap();
    }
    // Months ago, as far as the database can tell.
    cluster.sql(
        "months",
        "SELECT lictor.make_month('2025-01-10'); SET row_security = off;
         UPDATE lictor.log SET received = '2025-01-10' WHERE seq <= 4",
    );
    assert_eq!(pool.reclaim().unwrap(), [] as [String; 0], "records that count are not dropped");
    let directory = tempfile::tempdir().unwrap();
    let before = Anchor::from(store.view(|view| view.head()).unwrap());
    let file = retain(&store, Keep::Newest(1), directory.path(), Timestamp(2)).unwrap().unwrap();
    assert_eq!(pool.reclaim().unwrap(), ["log_2025_01"]);
    let checked = store.view(|view| verify(view, 1..=u64::MAX, Some(before))).unwrap();
    assert_eq!(checked.faults, []);
    let base = store.view(|view| view.base()).unwrap();
    assert_eq!(base.seq, 4);
    Segment::join(vec![Segment::read(&file, |_| {}).unwrap()], base).unwrap();
    assert_eq!(append(&store, "goes on").unwrap(), 7);
}

/// The server dies without warning while clients write: nothing acknowledged is lost, nothing forks.
#[test]
fn what_was_acknowledged_survives_the_server() {
    let cluster = Cluster::start();
    let pool = cluster.database("crash");
    let rounds: usize = std::env::var("LICTOR_STORE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let acknowledged: Mutex<Vec<(usize, u64)>> = Mutex::default();
    for round in 0..rounds {
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let (pool, acknowledged) = (&pool, &acknowledged);
                scope.spawn(move || {
                    let store = pool.store("team", &format!("project {writer}")).unwrap();
                    while let Ok(seq) = append(&store, &format!("{round}")) {
                        acknowledged.lock().unwrap().push((writer, seq));
                    }
                });
            }
            let enough = |least: usize| acknowledged.lock().unwrap().len() >= least;
            let least = acknowledged.lock().unwrap().len() + 20 + 7 * round;
            while !enough(least) {
                std::thread::yield_now();
            }
            cluster.kill();
        });
        cluster.up();
        for writer in 0..4 {
            let store = pool.store("team", &format!("project {writer}")).unwrap();
            assert_eq!(faults(&store), []);
            let newest = acknowledged
                .lock()
                .unwrap()
                .iter()
                .filter(|(of, _)| *of == writer)
                .map(|(_, seq)| *seq)
                .max();
            let head = store.view(|view| view.head()).unwrap().seq;
            assert!(
                head >= newest.unwrap_or(0),
                "project {writer} ends at {head}, {newest:?} was acknowledged"
            );
            let seqs: Vec<u64> = store
                .view(|view| view.records(&Query::all().limit(usize::MAX)))
                .unwrap()
                .iter()
                .map(|record| record.seq)
                .collect();
            assert!(seqs.into_iter().eq(1..=head));
        }
    }
}

/// Connections that were idle during a restart do not each fail a request.
#[test]
fn connections_of_before_a_restart_fail_nobody() {
    const CONNECTIONS: usize = 6;
    let cluster = Cluster::start();
    let pool = cluster.database("restarted");
    let store = pool.store("team", "project").unwrap().keys(keys(1));
    append(&store, "before").unwrap();
    for change in ["killed", "restarted"] {
        // As many at once as there are connections: each of them is open afterwards.
        let together = std::sync::Barrier::new(CONNECTIONS);
        std::thread::scope(|scope| {
            for _ in 0..CONNECTIONS {
                scope.spawn(|| {
                    store.view(|_| {
                        together.wait();
                        Ok(())
                    })
                });
            }
        });
        match change {
            "killed" => {
                cluster.kill();
                cluster.up();
            }
            _ => cluster.restart(),
        }
        pool.ping().unwrap();
        append(&store, change).unwrap();
        counted(&store);
        for _ in 0..CONNECTIONS {
            assert!(count(&store).is_ok(), "{change}");
        }
    }
    assert_eq!(faults(&store), []);
}

#[test]
fn tables_of_a_newer_version_are_refused() {
    let cluster = Cluster::start();
    drop(cluster.database("newer"));
    cluster.sql("newer", "UPDATE lictor.schema_version SET version = 999");
    let refused = cluster.options("newer").connect();
    assert!(matches!(refused, Err(StoreError::NewerSchema { found: 999, known: 3, .. })), "{refused:?}");
}

/// Tables of the first version are migrated and keep their content.
#[test]
fn older_tables_are_brought_up_to_date() {
    let cluster = Cluster::start();
    let pool = cluster.database("older");
    let write = |pool: &lictor_store::PostgresPool| {
        let draft = Draft { at: Timestamp(1), session: None, kind: "k".to_owned(), body: "b".to_owned() };
        pool.store("t", "p").unwrap().update(Durability::Process, |tx| tx.append(draft).map(drop)).unwrap();
    };
    write(&pool);
    drop(pool);
    // A column takes its indexes with it.
    let back = "ALTER TABLE lictor.log DROP COLUMN kind_start, DROP COLUMN session_start;
        ALTER TABLE lictor.entry DROP COLUMN key_start;
        CREATE INDEX entry_in_order ON lictor.entry (tenant, project, space, substring(key FROM 1 FOR 500));
        UPDATE lictor.schema_version SET version = 1";
    cluster.sql("older", back);
    let pool = cluster.options("older").connect().unwrap();
    write(&pool);
    let found = pool.store("t", "p").unwrap().view(|view| view.records(&Query::all().kind("k"))).unwrap();
    assert_eq!(found.iter().map(|record| record.seq).collect::<Vec<_>>(), [1, 2]);
    // Only there can they be dropped again.
    cluster.sql("older", back);
}

/// Several servers start at once on an empty database.
#[test]
fn tables_are_made_once() {
    let cluster = Cluster::start();
    cluster.sql("postgres", "CREATE DATABASE fresh");
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| cluster.options("fresh").connect().unwrap());
        }
    });
}

#[test]
fn what_cannot_be_reached_says_so() {
    let away = PostgresOptions::new("postgres://owner@127.0.0.1:1/none?connect_timeout=2").connect();
    let Err(error @ StoreError::Unreachable { .. }) = away else { panic!("{away:?}") };
    assert!(error.to_string().contains("postgres://127.0.0.1:1/none"), "{error}");
    let secret = PostgresOptions::new("postgres://owner:hunter2@127.0.0.1:1/none").connect().unwrap_err();
    assert!(!secret.to_string().contains("hunter2"), "{secret}");
    let bad = PostgresOptions::new("postgres://owner@localhost/none?nonsense=1").connect().unwrap_err();
    assert!(bad.to_string().contains("cannot be used"), "{bad}");
}
