//! The page's views over a long record.

use std::time::Instant;

use lictor_core::{SessionKey, Timestamp};
use lictor_server::stores::Stores;
use lictor_store::{Draft, Durability, Query, Record, Store, StoreExt as _};
use serde_json::json;

use crate::connection::Connection;
use crate::subject::Server;

const POLICY: &str = "{version: 1, known_tools: {known: [read_file]}}";
const VIEWS: [&str; 14] = [
    "/approvals",
    "/feed",
    "/feed?decision=block",
    "/feed?text=nothing-like-this",
    "/sessions",
    "/session?key=claude-code:s1",
    "/decisions/1000",
    "/rules",
    "/policy",
    "/findings",
    "/projects",
    "/audit",
    "/audit?kind=approval.requested",
    "/people",
];
/// So often each view is looked at.
const LOOKS: usize = 15;

pub(crate) fn head(records: u64) -> String {
    format!(
        "| {records} records, server time of a view in ms | first | p50 | worst of {LOOKS} |\n|---|---:|---:|---:|"
    )
}

/// Real records of every decision, which are then written again and again under other sessions.
fn samples(server: &Server, token: &str) {
    let calls = [
        json!({"kind": "bash", "payload": {"command": "cargo build"}}),
        json!({"kind": "bash", "payload": {"command": "rm -rf ~"}}),
        json!({"kind": "bash", "payload": {"command": "eval \"$CMD\""}}),
        json!({"kind": "read", "payload": {"path": "/work/README.md"}}),
        json!({"kind": "tool", "tool": "read_file", "payload": {}}),
    ];
    for mut action in calls {
        action["session_id"] = json!("sample");
        action["agent"] = json!("claude-code");
        server.ask("POST", "/v1/evaluate", token, &json!({"action": action, "unattended": true}));
    }
}

fn fill(store: &dyn Store, records: u64) {
    let samples = store.view(|view| view.records(&Query::all())).unwrap();
    // A thousand records a session, of which one in fifty asks a person.
    let common: Vec<&Record> = samples.iter().filter(|record| record.kind == "evaluated").collect();
    let rare: Vec<&Record> = samples.iter().filter(|record| record.kind != "evaluated").collect();
    let mut number = 0;
    while number < records {
        store
            .update(Durability::Process, |tx| {
                for _ in 0..5_000.min(records - number) {
                    number += 1;
                    let kind = if number % 50 == 0 { &rare } else { &common };
                    let sample = kind[usize::try_from(number).unwrap() % kind.len()];
                    let session =
                        SessionKey { agent: "claude-code".to_owned(), id: format!("s{}", number / 1_000) };
                    let at = Timestamp(sample.at.0 - i64::try_from((records - number) * 2_000).unwrap());
                    let draft = Draft {
                        at,
                        session: Some(session),
                        kind: sample.kind.clone(),
                        body: sample.body.replace("sample", &format!("s{}", number / 1_000)),
                    };
                    tx.append(draft)?;
                }
                Ok(())
            })
            .expect("the record is filled");
    }
}

/// The cookie of a person who has signed in.
fn sign_in(server: &Server, token: &str) -> String {
    let mut connection = Connection::open(&server.host);
    let origin =
        format!("origin: http://{}\r\ncontent-type: application/x-www-form-urlencoded\r\n", server.host);
    let reply = connection.send("POST", "/sign-in", &origin, format!("token={token}").as_bytes());
    reply
        .cookie
        .unwrap_or_else(|| panic!("signed in: {} {}", reply.status, String::from_utf8_lossy(&reply.body)))
}

pub(crate) fn run(name: &str, store: Option<String>, records: u64) {
    let mut server = Server::start(store);
    let token = server.tenant("acme", POLICY);
    samples(&server, &token);
    server.while_stopped(|server| {
        let stores = Stores::open(server.store(), &server.state(), 4).expect("the stores open");
        fill(&*stores.tenant("acme").expect("the tenant's record opens"), records);
    });
    let cookie = format!("cookie: {}\r\naccept-encoding: gzip\r\n", sign_in(&server, &token));
    let mut connection = Connection::open(&server.host);
    for view in VIEWS {
        let mut times: Vec<f64> = (0..LOOKS)
            .map(|_| {
                let begun = Instant::now();
                let reply = connection.send("GET", view, &cookie, b"");
                assert_eq!(reply.status, 200, "{view}");
                begun.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        let first = times.remove(0);
        times.sort_by(f64::total_cmp);
        let (p50, worst) = (times[times.len() / 2], times[times.len() - 1]);
        println!("| {name} `{view}` | {first:.0} | {p50:.0} | {worst:.0} |");
    }
    println!("| {name}: memory in MB | {:.0} | | |", server.memory());
}
