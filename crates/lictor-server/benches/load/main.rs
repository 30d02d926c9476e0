//! Load of a server: evaluations per second and their latency, ingested records of machines, memory, and the
//! latency of the page's views of a long record; on SQLite and on PostgreSQL, compared with another policy
//! server.
//!
//! `cargo bench -p lictor-server --bench load [-- --seconds 20 --records 1000000 --peer PATH/TO/cerbos --server PATH/TO/lictor-server --only evaluate,ingest,views]`
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark, not a library"
)]

#[path = "../../../lictor-store/tests/postgres/cluster.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod cluster;
mod connection;
mod evaluate;
mod ingest;
mod peer;
mod subject;
mod views;

use std::path::PathBuf;
use std::time::Duration;

use cluster::Cluster;

/// What is asked for.
struct Options {
    seconds: u64,
    records: u64,
    peer: Option<PathBuf>,
    only: Vec<String>,
}

impl Options {
    fn read() -> Self {
        let mut options = Self { seconds: 20, records: 1_000_000, peer: None, only: Vec::new() };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("every option has a value");
            match word.as_str() {
                "--seconds" => options.seconds = value().parse().expect("a number"),
                "--records" => options.records = value().parse().expect("a number"),
                "--peer" => options.peer = Some(value().into()),
                "--server" => subject::is_at(value().into()),
                "--only" => options.only = value().split(',').map(str::to_owned).collect(),
                // What cargo says to every benchmark.
                "--bench" => {}
                other => panic!("unknown option `{other}`"),
            }
        }
        options
    }

    fn wants(&self, what: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|word| word == what)
    }
}

fn main() {
    let options = Options::read();
    let cluster = Cluster::start();
    let stores = [("SQLite", None), ("PostgreSQL", Some("load"))];
    let address = |database: Option<&str>, part: &str| {
        database.map(|name| {
            let name = format!("{name}_{part}");
            drop(cluster.database(&name));
            cluster.url("owner", &name)
        })
    };
    let length = Duration::from_secs(options.seconds);
    if options.wants("evaluate") {
        println!("{}", evaluate::HEAD);
        for (name, database) in stores {
            evaluate::run(name, address(database, "evaluate"), length);
        }
        if let Some(program) = &options.peer {
            peer::run(program, length);
        }
    }
    if options.wants("ingest") {
        println!("\n{}", ingest::HEAD);
        for (name, database) in stores {
            ingest::run(name, address(database, "ingest"), length);
        }
    }
    if options.wants("views") {
        println!("\n{}", views::head(options.records));
        for (name, database) in stores {
            views::run(name, address(database, "views"), options.records);
        }
    }
}
