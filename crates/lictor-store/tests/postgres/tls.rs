//! A database on the other end of a network: TLS, and a certificate that is checked.

use lictor_core::Timestamp;
use lictor_store::{Draft, Durability, PostgresOptions, StoreExt as _};

use crate::certificate::certificate;
use crate::cluster::Cluster;

#[test]
fn a_database_over_a_network_has_to_prove_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let (cert, key) = certificate(directory.path(), "own", "DNS:localhost");
    let (stranger, _) = certificate(directory.path(), "stranger", "DNS:stranger");
    let cluster = Cluster::start();
    drop(cluster.database("tls"));
    let port = cluster.over_tls(&cert, &key);
    let reached = |host: &str, options: &str| {
        let url = format!("postgres://owner@{host}:{port}/tls?{options}");
        let store = PostgresOptions::new(url).connect()?.store("team", "project")?;
        let draft = Draft { at: Timestamp(1), session: None, kind: "test".to_owned(), body: "{}".to_owned() };
        store.update(Durability::Process, |tx| tx.append(draft).map(|record| record.seq))
    };
    let trusted = format!("sslmode=require&sslrootcert={}", cert.display());
    assert_eq!(reached("localhost", &trusted).unwrap(), 1);
    let unknown = format!("sslmode=require&sslrootcert={}", stranger.display());
    for (host, options, why) in [
        ("localhost", "sslmode=require", "a certificate that nobody has signed"),
        ("localhost", unknown.as_str(), "somebody else's certificate"),
        ("127.0.0.1", trusted.as_str(), "another name"),
        ("localhost", "sslmode=disable", "the database wants TLS"),
    ] {
        assert!(reached(host, options).is_err(), "{why}");
    }
    assert_eq!(reached("localhost", &trusted).unwrap(), 2, "nothing else was written");
}
