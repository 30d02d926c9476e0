//! Throughput of `lictor rpc` in actions per second, with lines in and out, counted and recorded: in memory and
//! on SQLite, with one client and with sixteen. Decisions, counters and records are checked before the
//! measurement.
//!
//! `cargo bench -p lictor --bench rpc [-- SECONDS]`
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark, not a library"
)]

use std::io::Cursor;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use lictor::rpc::{Access, serve_lines};
use lictor::store::SqliteStore;
use lictor::{MemoryStore, Options, Runtime, SessionKey, Store};
use serde_json::{Value, json};

const POLICY: &str = "version: 1\nbudget: {max_actions: 100000000}\n";
/// Lines of one round.
const ROUND: usize = 500;
const CLIENTS: usize = 16;

fn line(session: &str, number: usize) -> String {
    let command = ["ls -la", "cargo test", "git status", "rm -rf /"][number % 4];
    let action =
        json!({"kind": "bash", "payload": {"command": command}, "session_id": session, "cwd": "/work"});
    json!({"jsonrpc": "2.0", "id": number, "method": "evaluate", "params": {"action": action}}).to_string()
}

fn round(session: &str) -> String {
    (0..ROUND).map(|number| line(session, number) + "\n").collect()
}

/// Runs one round; returns how many of its actions were blocked.
fn answered(runtime: &Runtime, lines: &str) -> usize {
    let mut output = Vec::new();
    serve_lines(runtime, &Access::Full, Cursor::new(lines), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    assert_eq!(text.lines().count(), ROUND);
    text.matches("\"decision\":\"block\"").count()
}

fn runtime(store: Arc<dyn Store>) -> Runtime {
    Runtime::from_yaml(POLICY, Options::new().cwd("/work").shared_store(store)).unwrap()
}

fn checked(runtime: &Runtime) {
    assert_eq!(answered(runtime, &round("checked")), ROUND / 4);
    let key = SessionKey { agent: String::new(), id: "checked".to_owned() };
    let state = runtime.session(&key).unwrap();
    assert_eq!((state.action_count, state.block_count), (ROUND as u64, (ROUND / 4) as u64));
    let first: Value = serde_json::from_str(&line("x", 0)).unwrap();
    assert_eq!(first["method"], "evaluate");
}

/// Evaluations per second over this time, with `clients` clients, each with its own session. None may be lost.
fn rate(runtime: &Runtime, clients: usize, length: Duration) -> f64 {
    let begun = Instant::now();
    let workers: Vec<_> = (0..clients)
        .map(|client| {
            let runtime = runtime.clone();
            thread::spawn(move || {
                let session = format!("{clients}-{client}");
                let lines = round(&session);
                let mut done = 0;
                while begun.elapsed() < length {
                    assert_eq!(answered(&runtime, &lines), ROUND / 4);
                    done += ROUND;
                }
                let key = SessionKey { agent: String::new(), id: session };
                assert_eq!(runtime.session(&key).unwrap().action_count, done as u64);
                done
            })
        })
        .collect();
    let done: usize = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
    done as f64 / begun.elapsed().as_secs_f64()
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(3);
    let length = Duration::from_secs(seconds);
    println!("| store | clients | evaluations a second |\n|---|---|---|");
    for clients in [1, CLIENTS] {
        let memory = runtime(Arc::new(MemoryStore::new()));
        checked(&memory);
        println!("| memory | {clients} | {:.0} |", rate(&memory, clients, length));
        let directory = tempfile::tempdir().unwrap();
        let sqlite = runtime(Arc::new(SqliteStore::open(directory.path().join("lictor.db")).unwrap()));
        checked(&sqlite);
        println!("| SQLite | {clients} | {:.0} |", rate(&sqlite, clients, length));
    }
}
