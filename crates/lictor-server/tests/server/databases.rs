//! The same server on PostgreSQL.

use serde_json::json;

use crate::cluster::Cluster;
use crate::world::{POLICY, World, tool};

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

#[test]
fn the_limits_of_a_tenant_are_exact_on_postgresql() {
    let cluster = Cluster::start();
    drop(cluster.database("lictor"));
    crate::govern::tenants_count_exactly(&World::on(Some(cluster.url("owner", "lictor"))));
}
