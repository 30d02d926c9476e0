//! The same server on PostgreSQL, and both when they are killed.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::cluster::Cluster;
use crate::world::{POLICY, World, tool};

const FAST: &str = "{version: 1, known_tools: {known: [read_file]}}";

#[test]
fn postgresql_does_what_sqlite_does() {
    let cluster = Cluster::start();
    drop(cluster.database("lictor"));
    let mut world = World::on(Some(cluster.url("owner", "lictor")));
    world.tenant("acme", &json!({}), POLICY);
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let passed = std::thread::scope(|scope| {
        let agents: Vec<_> = (0..8)
            .map(|agent| {
                let (world, ada) = (&world, &ada);
                scope.spawn(move || {
                    let action =
                        json!({"kind": "tool", "tool": "read_file", "session_id": format!("agent-{agent}")});
                    (0..5).filter(|_| world.judge(ada, &action)["decision"] == "pass").count()
                })
            })
            .collect();
        agents.into_iter().map(|agent| agent.join().unwrap()).sum::<usize>()
    });
    assert_eq!(passed, 20, "rates are exact");
    assert_eq!(world.judge(&bob, &tool("grant"))["decision"], "block");
    let checked = world.ask("GET", "/v1/verify", &ada, &json!({}));
    assert_eq!((&checked["sound"], &checked["sealing"]), (&json!(true), &json!("sealed")));
    assert_eq!(world.end(), Some(0));
    world.restart();
    let records = world.ask("GET", "/v1/records?kind=evaluated&limit=1000", &ada, &json!({}));
    assert_eq!(records["records"].as_array().unwrap().len(), 41);
    // The database goes away: the server says so and answers again when it is back.
    cluster.kill();
    assert_eq!(world.send("GET", "/readyz", "", None).status, 503);
    let reply = world.send("POST", "/v1/evaluate", &bob, Some(&json!({"action": tool("read_file")})));
    assert!(reply.status == 503 || reply.body["decision"] == "block", "{} {}", reply.status, reply.body);
    cluster.up();
    assert_eq!(world.send("GET", "/readyz", "", None).status, 200);
    assert_eq!(world.judge(&bob, &tool("read_file"))["decision"], "pass");
}

/// SIGKILL at arbitrary points while clients write: what was acknowledged is there, the chain is sound.
#[test]
fn what_was_acknowledged_survives_kill_9() {
    let mut world = World::new();
    world.tenant("acme", &json!({}), FAST);
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let rounds: usize = std::env::var("LICTOR_SERVER_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let mut newest = 0;
    for round in 0..rounds {
        let over = AtomicBool::new(false);
        let url = world.url.clone();
        let acknowledged = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..4)
                .map(|_| {
                    let (over, url, bob) = (&over, &url, &bob);
                    scope.spawn(move || {
                        let mut last = 0;
                        while !over.load(Ordering::Relaxed) {
                            let body = json!({"action": tool("read_file")}).to_string();
                            let sent = std::panic::catch_unwind(|| {
                                crate::world::send(url, "POST", "/v1/evaluate", bob, Some(&body), &[])
                            });
                            match sent {
                                Ok(reply) if reply.status == 200 => {
                                    last = reply.body["id"].as_u64().unwrap().max(last)
                                }
                                _ => break,
                            }
                        }
                        last
                    })
                })
                .collect();
            while world.ask("GET", "/v1/verify", &ada, &json!({}))["head"]["seq"].as_u64().unwrap()
                < newest + 20 + 5 * round as u64
            {}
            world.kill();
            over.store(true, Ordering::Relaxed);
            writers.into_iter().map(|writer| writer.join().unwrap()).max().unwrap()
        });
        world.restart();
        let checked = world.ask("GET", "/v1/verify", &ada, &json!({}));
        assert_eq!(checked["faults"], json!([]));
        newest = checked["head"]["seq"].as_u64().unwrap();
        assert!(newest >= acknowledged, "{newest} is the last, {acknowledged} was acknowledged");
    }
}
