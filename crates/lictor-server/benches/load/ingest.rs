//! Records of a thousand machines, sent in batches and verified on arrival.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use lictor_core::{SessionKey, Timestamp};
use lictor_store::{Draft, Head, Record};
use serde_json::json;

use crate::connection::Connection;
use crate::subject::{RULES, Server};

pub(crate) const HEAD: &str =
    "| 1 000 machines, batches of 500 | records a second | memory MB |\n|---|---:|---:|";

const MACHINES: usize = 1_000;
const SENDERS: usize = 8;
const BATCH: u64 = 500;

/// The next records of a chain.
fn batch(head: &mut Head) -> Vec<Record> {
    let body = json!({"action": {"kind": "bash", "payload": {"command": "cargo build"}}, "event": {"decision": "pass"},
                      "more": "x".repeat(600)})
    .to_string();
    (0..BATCH)
        .map(|_| {
            let session = Some(SessionKey { agent: "claude-code".to_owned(), id: "s".to_owned() });
            let draft = Draft {
                at: Timestamp(1_700_000_000_000),
                session,
                kind: "evaluated".to_owned(),
                body: body.clone(),
            };
            let record = Record::after(*head, draft);
            *head = record.head();
            record
        })
        .collect()
}

pub(crate) fn run(name: &str, store: Option<String>, length: Duration) {
    let server = Server::start(store);
    server.tenant("acme", RULES);
    let token = server.token("acme", "machine", "fleet");
    let headers = format!("authorization: Bearer {token}\r\ncontent-type: application/json\r\n");
    let chains: Mutex<Vec<(usize, Head)>> =
        Mutex::new((0..MACHINES).map(|number| (number, Head::START)).collect());
    let begun = Instant::now();
    let spent = Mutex::new((0_u64, Duration::ZERO));
    thread::scope(|scope| {
        for _ in 0..SENDERS {
            scope.spawn(|| {
                let mut connection = Connection::open(&server.host);
                while begun.elapsed() < length {
                    let (number, mut head) = chains.lock().unwrap().remove(0);
                    let body = json!({"records": batch(&mut head)}).to_string();
                    let sent = Instant::now();
                    let path = format!("/v1/machines/m{number}/records");
                    let reply = connection.send("POST", &path, &headers, body.as_bytes());
                    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
                    let mut spent = spent.lock().unwrap();
                    *spent = (spent.0 + BATCH, spent.1 + sent.elapsed());
                    chains.lock().unwrap().push((number, head));
                }
            });
        }
    });
    let (records, _) = *spent.lock().unwrap();
    let rate = records as f64 / begun.elapsed().as_secs_f64();
    println!("| {name} | {rate:.0} | {:.0} |", server.memory());
}
