//! The cost of the store for a hook: a new process opens it, reads its session, writes one transaction and exits;
//! alone, and eight at once. Prints microseconds from spawn to exit for each SQLite configuration that was
//! considered; the first row is a process that does nothing. On a busy machine, compare p10.
//!
//! `cargo bench -p lictor-store --bench cold_open [-- ROUNDS]`
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark, not a library")]

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use lictor_core::Timestamp;
use lictor_store::{Draft, Durability, Query, Space, SqliteStore, StoreExt, verify};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, params};
use rustix::fs::{FlockOperation, flock};

/// A SQLite configuration.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    journal: Journal,
    synchronous: &'static str,
    page_size: u32,
    waiting: Waiting,
}

#[derive(Clone, Copy, PartialEq)]
enum Journal {
    /// A rollback journal that is persisted, truncated or deleted.
    Rollback(&'static str),
    /// A write-ahead log that the last process checkpoints when it closes.
    WalClosed,
    /// A write-ahead log that is checkpointed when it exceeds this many pages.
    Wal(u64),
}

/// What a process does when another one holds the lock.
#[derive(Clone, Copy, PartialEq)]
enum Waiting {
    /// SQLite's own handler: naps that grow to 100 ms.
    Sleep,
    /// Yields, then sleeps of at most 2 ms, as the store does.
    Nap,
    /// A queue by a file lock.
    Queue,
}

const BASE: Way = Way {
    name: "WAL, moved at 64 pages",
    journal: Journal::Wal(64),
    synchronous: "NORMAL",
    page_size: 4096,
    waiting: Waiting::Nap,
};

const ROLLBACK: Way = Way {
    name: "journal persisted, no sync (unsafe)",
    journal: Journal::Rollback("PERSIST"),
    synchronous: "OFF",
    ..BASE
};

const WAYS: &[Way] = &[
    ROLLBACK,
    Way { name: "journal truncated, no sync (unsafe)", journal: Journal::Rollback("TRUNCATE"), ..ROLLBACK },
    Way { name: "journal deleted, no sync (unsafe)", journal: Journal::Rollback("DELETE"), ..ROLLBACK },
    Way { name: "journal persisted, no sync, sleep", waiting: Waiting::Sleep, ..ROLLBACK },
    Way { name: "journal persisted, no sync, queue", waiting: Waiting::Queue, ..ROLLBACK },
    Way { name: "journal persisted, NORMAL", synchronous: "NORMAL", ..ROLLBACK },
    Way { name: "journal persisted, FULL", synchronous: "FULL", ..ROLLBACK },
    Way { name: "WAL, moved on close", journal: Journal::WalClosed, ..BASE },
    Way { name: "WAL, never moved", journal: Journal::Wal(u64::MAX), ..BASE },
    Way { name: "WAL, moved at 16 pages", journal: Journal::Wal(16), ..BASE },
    BASE,
    Way { name: "WAL, moved at 256 pages", journal: Journal::Wal(256), ..BASE },
    Way { name: "WAL, small pages (1024)", page_size: 1024, ..BASE },
    Way { name: "WAL, large pages (16384)", page_size: 16384, ..BASE },
    Way { name: "WAL, sleep", waiting: Waiting::Sleep, ..BASE },
    Way { name: "WAL, queue", waiting: Waiting::Queue, ..BASE },
    Way { name: "WAL, FULL", synchronous: "FULL", ..BASE },
];

/// What the started process does.
const NOTHING: &str = "nothing";
const STORE: &str = "SqliteStore, Durability::Process";
const STORE_POWER: &str = "SqliteStore, Durability::Power";

const KEY: &[u8] = b"claude-code:0c7f3a52";
/// About the size of a judged action with its session state.
const BODY: usize = 700;
const STATE: usize = 2000;

fn use_store(file: &Path, durability: Durability) {
    let store = SqliteStore::open(file).unwrap();
    let state = store.view(|view| view.get(Space::Session, KEY)).unwrap();
    let draft =
        Draft { at: Timestamp(1), session: None, kind: "evaluated".to_owned(), body: "b".repeat(BODY) };
    let change = store.update(durability, |tx| {
        tx.put(Space::Session, KEY, &state.unwrap_or_else(|| vec![7; STATE]))?;
        tx.append(draft)
    });
    change.unwrap();
}

fn create(way: &Way, file: &Path) {
    let connection = Connection::open(file).unwrap();
    let journal = if matches!(way.journal, Journal::Rollback(_)) { "DELETE" } else { "WAL" };
    connection
        .execute_batch(&format!(
            "PRAGMA page_size = {}; PRAGMA journal_mode = {journal};
             CREATE TABLE log (
               seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, agent TEXT, session TEXT, kind TEXT NOT NULL,
               prev BLOB NOT NULL, hash BLOB NOT NULL, body TEXT NOT NULL
             ) STRICT;
             CREATE TABLE entry (space TEXT, key BLOB, value BLOB NOT NULL, PRIMARY KEY (space, key)) STRICT, WITHOUT ROWID;",
            way.page_size
        ))
        .unwrap();
}

fn nap(tries: i32) -> bool {
    if tries < 10 {
        thread::yield_now();
    } else {
        thread::sleep(Duration::from_micros(50 * u64::try_from(tries - 9).unwrap().min(40)));
    }
    tries < 100_000
}

fn use_sqlite(way: &Way, file: &Path) {
    let queue: Option<File> = (way.waiting == Waiting::Queue).then(|| {
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(file.with_extension("queue"))
            .unwrap()
    });
    let line_up = |how| queue.iter().for_each(|queue| flock(queue, how).unwrap());
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags).unwrap();
    match way.waiting {
        Waiting::Nap => connection.busy_handler(Some(nap)).unwrap(),
        Waiting::Sleep | Waiting::Queue => connection.busy_timeout(Duration::from_secs(60)).unwrap(),
    }
    line_up(FlockOperation::LockShared);
    let settings = match way.journal {
        Journal::Rollback(mode) => format!("PRAGMA journal_mode = {mode};"),
        Journal::WalClosed => String::new(),
        Journal::Wal(_) => {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
            "PRAGMA wal_autocheckpoint = 0;".to_owned()
        }
    };
    connection.execute_batch(&format!("{settings} PRAGMA synchronous = {}", way.synchronous)).unwrap();
    let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        connection.prepare(sql).unwrap().execute(values).unwrap();
    };
    let read = "SELECT value FROM entry WHERE space = 'session' AND key = ?";
    let state: Option<Vec<u8>> = connection.query_row(read, [KEY], |row| row.get(0)).ok();
    line_up(FlockOperation::Unlock);
    line_up(FlockOperation::LockExclusive);
    run("BEGIN IMMEDIATE", &[]);
    let last = connection.query_row("SELECT seq FROM log ORDER BY seq DESC LIMIT 1", [], |row| row.get(0));
    let next: i64 = last.unwrap_or(0) + 1;
    run(
        "INSERT INTO log VALUES (?, 1, NULL, NULL, 'evaluated', zeroblob(32), zeroblob(32), ?)",
        params![next, "b".repeat(BODY)],
    );
    run(
        "INSERT OR REPLACE INTO entry VALUES ('session', ?, ?)",
        params![KEY, state.unwrap_or_else(|| vec![7; STATE])],
    );
    run("COMMIT", &[]);
    if let Journal::Wal(pages) = way.journal
        && std::fs::metadata(file.with_extension("db-wal")).unwrap().len() / 4096 > pages
    {
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    }
}

/// How many transactions a file holds.
fn count(name: &str, file: &Path) -> usize {
    if name == STORE || name == STORE_POWER {
        let store = SqliteStore::open(file).unwrap();
        assert!(store.view(|view| verify(view, 1..=u64::MAX, None)).unwrap().is_sound());
        return store.view(|view| view.records(&Query::all().limit(usize::MAX))).unwrap().len();
    }
    let rows: i64 =
        Connection::open(file).unwrap().query_row("SELECT count(*) FROM log", [], |row| row.get(0)).unwrap();
    usize::try_from(rows).unwrap()
}

fn play(name: &str, file: &Path) {
    match name {
        NOTHING => {}
        STORE => use_store(file, Durability::Process),
        STORE_POWER => use_store(file, Durability::Power),
        _ => use_sqlite(WAYS.iter().find(|way| way.name == name).unwrap(), file),
    }
}

/// From spawn to exit.
fn time(name: &str, file: &Path) -> Duration {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("--play").arg(name).arg(file);
    let start = Instant::now();
    assert!(command.status().unwrap().success(), "{name}");
    start.elapsed()
}

fn percentile(times: &mut [Duration], percent: usize) -> u128 {
    times.sort_unstable();
    times.get((times.len() - 1) * percent / 100).unwrap().as_micros()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [play_, name, file] = arguments.as_slice()
        && play_ == "--play"
    {
        return play(name, Path::new(file));
    }
    let rounds: usize = arguments.first().map_or(400, |rounds| rounds.parse().unwrap());
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let names = [NOTHING].into_iter().chain(WAYS.iter().map(|way| way.name)).chain([STORE, STORE_POWER]);
    let mut rows: Vec<_> = names
        .enumerate()
        .map(|(n, name)| (name, directory.path().join(format!("{n}.db")), Vec::new(), Vec::new()))
        .collect();
    for (name, file, ..) in &rows {
        WAYS.iter().filter(|way| way.name == *name).for_each(|way| create(way, file));
    }
    // Interleaved, so that noise affects all of them.
    for _ in 0..rounds {
        rows.iter_mut().for_each(|(name, file, alone, _)| alone.push(time(name, file)));
    }
    for _ in 0..rounds.div_ceil(40) {
        for (name, file, _, crowd) in &mut rows {
            thread::scope(|scope| {
                let eight: Vec<_> = (0..8)
                    .map(|_| scope.spawn(|| (0..10).map(|_| time(name, file)).collect::<Vec<_>>()))
                    .collect();
                eight.into_iter().for_each(|one| crowd.extend(one.join().unwrap()));
            });
        }
    }
    println!(
        "| microseconds | p10 alone | p50 | p99 | p10, 8 at once | p50 | p99 |\n|---|---|---|---|---|---|---|"
    );
    for (name, file, alone, crowd) in &mut rows {
        if *name != NOTHING {
            assert_eq!(count(name, file), alone.len() + crowd.len(), "{name} kept every transaction");
        }
        let cells: Vec<String> = [alone, crowd]
            .into_iter()
            .flat_map(|times| [10, 50, 99].map(|percent| percentile(times, percent).to_string()))
            .collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
}
