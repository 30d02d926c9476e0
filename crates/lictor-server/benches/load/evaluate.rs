//! Evaluations over HTTP: as many as possible, and a steady two thousand per second.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::connection::Connection;
use crate::subject::{RULES, Server, payload};

pub(crate) const HEAD: &str = "| 64 clients, ten rules | evaluations a second | p10 ms | p50 ms | p95 ms | p99 ms | memory MB |\n|---|---:|---:|---:|---:|---:|---:|";

/// So many clients, each with a connection and a chain of its own.
pub(crate) const CLIENTS: u32 = 64;
/// Evaluations a second, all clients together.
const STEADY: u32 = 2_000;

/// How long requests took, in the order in which they ended.
pub(crate) struct Measured {
    pub(crate) times: Vec<Duration>,
    pub(crate) length: Duration,
}

impl Measured {
    fn percentile(&mut self, percent: usize) -> f64 {
        self.times.sort_unstable();
        let last = self.times.len().saturating_sub(1);
        self.times.get(last * percent / 100).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    }

    fn rate(&self) -> f64 {
        self.times.len() as f64 / self.length.as_secs_f64()
    }

    /// A row of the table.
    pub(crate) fn row(&mut self, name: &str, memory: f64) -> String {
        let times = [10, 50, 95, 99].map(|percent| format!("{:.1}", self.percentile(percent)));
        format!("| {name} | {:.0} | {} | {memory:.0} |", self.rate(), times.join(" | "))
    }
}

/// What clients send over and over.
pub(crate) struct Load<'a> {
    pub(crate) host: &'a str,
    pub(crate) path: &'a str,
    /// The headers and the body of each client.
    pub(crate) clients: Vec<(String, String)>,
    /// Requests a second of all clients together; as many as there is room for when it is not said.
    pub(crate) steady: Option<u32>,
}

/// Has all clients send for that long. Of a steady load, the time of a request counts from when it was due, so that a
/// server that is late does not look better for it.
pub(crate) fn put(load: &Load<'_>, length: Duration) -> Measured {
    let begun = Instant::now();
    let count = u32::try_from(load.clients.len()).unwrap();
    let times = thread::scope(|scope| {
        let clients: Vec<_> = load
            .clients
            .iter()
            .zip(0_u32..)
            .map(|((headers, body), number)| {
                scope.spawn(move || {
                    let mut connection = Connection::open(load.host);
                    let mut times = Vec::new();
                    let pause = load.steady.map(|rate| Duration::from_secs(1) * count / rate);
                    let mut due = begun + pause.unwrap_or_default() * number / count;
                    while begun.elapsed() < length {
                        match pause {
                            None => due = Instant::now(),
                            Some(_) => thread::sleep(due.saturating_duration_since(Instant::now())),
                        }
                        let reply = connection.send("POST", load.path, headers, body.as_bytes());
                        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
                        times.push(due.elapsed());
                        due += pause.unwrap_or_default();
                    }
                    times
                })
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().expect("a client")).collect()
    });
    Measured { times, length: begun.elapsed() }
}

pub(crate) fn run(name: &str, store: Option<String>, length: Duration) {
    let server = Server::start(store);
    let clients = |mode: &str| -> Vec<(String, String)> {
        (0..CLIENTS)
            .map(|number| {
                let token = server.tenant(&format!("t{number}"), RULES);
                let action =
                    json!({"kind": "tool", "tool": "transfer", "payload": payload(), "session_id": "s"});
                let headers = format!("authorization: Bearer {token}\r\ncontent-type: application/json\r\n");
                (headers, json!({"action": action, "mode": mode}).to_string())
            })
            .collect()
    };
    let mut rows = Vec::new();
    for (what, mode, steady) in [
        ("recorded, steady", "enforce", Some(STEADY)),
        ("recorded, as many as possible", "enforce", None),
        ("without state, as many as possible", "dry", None),
    ] {
        let load = Load { host: &server.host, path: "/v1/evaluate", clients: clients(mode), steady };
        // Policies are read and connections made before it counts.
        put(&load, Duration::from_secs(1));
        rows.push((what, put(&load, length)));
    }
    let memory = server.memory();
    for (what, mut measured) in rows {
        println!("{}", measured.row(&format!("{name}, {what}"), memory));
    }
}
