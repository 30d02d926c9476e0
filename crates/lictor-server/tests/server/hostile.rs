//! Every endpoint with every kind of token, and requests that nobody means.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{POLICY, World, send};

/// Every endpoint of the document, filled in for a tenant.
pub(crate) fn endpoints(world: &World, tenant: &str) -> Vec<(String, String)> {
    let document = world.send("GET", "/openapi.json", "", None).body;
    let paths = document["paths"].as_object().unwrap();
    let mut all = Vec::new();
    for (path, methods) in paths {
        let path = path
            .replace("{tenant}", tenant)
            .replace("{id}", "1")
            .replace("{seq}", "1")
            .replace("{machine}", "box")
            .replace("{plan}", "p1")
            .replace("{uid}", "ada")
            .replace("{session}", "account:ada");
        // It goes on for ever.
        if path == "/v1/records/stream" {
            continue;
        }
        all.extend(methods.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.clone())));
    }
    assert!(all.len() > 25, "{all:?}");
    all
}

#[test]
fn machines_and_services_cannot_approve_publish_or_manage() {
    let world = World::new();
    world.tenant("red", &json!({}), POLICY);
    for kind in ["machine", "service"] {
        let token = world.token("red", kind, "box");
        for (method, path) in endpoints(&world, "red") {
            let able = [
                "evaluate", "post", "prompt", "stop", "delegate", "session", "reset", "end", "record",
                "gate", "whoami", "bundle",
            ];
            let able = able.iter().any(|name| path == format!("/v1/{name}"))
                || path.contains("/machines/")
                || (method.as_str(), path.as_str()) == ("POST", "/v1/findings")
                // Ways in, which ask for no token.
                || ["/v1/setup", "/v1/sign-in"].contains(&path.as_str())
                || !path.starts_with("/v1");
            let reply = world.send(&method, &path, &token, (method != "GET").then_some(&json!({})));
            assert_eq!(
                reply.status == 403,
                !able,
                "{kind}: {method} {path}: {} {}",
                reply.status,
                reply.body
            );
        }
    }
}

#[test]
fn nothing_that_is_sent_is_a_fault_of_the_server() {
    let world = World::new();
    world.tenant("red", &json!({}), POLICY);
    let token = world.token("red", "person", "ada");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let long = "x".repeat(100_000);
    let bodies = [
        "",
        "null",
        "[]",
        "{",
        "\"text\"",
        "{\"action\": 1}",
        "{\"action\": {\"kind\": \"\"}}",
        &deep,
        "{\"action\": {\"kind\": \"bash\"}}",
        "{\"action\": {\"kind\": \"tool\", \"tool\": \"\\u0000\"}}",
        "{\"text\": \"\"}",
        "{\"text\": \"version: 2\"}",
        "{\"people\": [{\"uid\": \"../../etc\"}]}",
        "{\"version\": -1}",
        "{\"session_id\": \"\"}",
        "{\"id\": 18446744073709551615, \"answers\": []}",
        "{\"parent\": \"a\", \"child\": \"a\"}",
        "{\"records\": [{}]}",
        "{\"kind\": \"operator\", \"owner\": \"me\"}",
        "{\"for_seconds\": -9223372036854775808}",
        &long,
    ];
    for (method, path) in endpoints(&world, "red") {
        for body in bodies {
            let reply = send(&world.url, &method, &path, &token, (method != "GET").then_some(body), &[]);
            assert!(reply.status < 500, "{method} {path} {body:.60}: {} {}", reply.status, reply.body);
        }
        for query in [
            "?since=x",
            "?limit=-1",
            "?machine=../x",
            "?decision=maybe",
            "?version=x",
            "?session=%00%ff",
            "?since=99999999999999999999",
        ] {
            if method == "GET" {
                let reply = send(&world.url, &method, &format!("{path}{query}"), &token, None, &[]);
                assert!(reply.status < 500, "{method} {path}{query}: {} {}", reply.status, reply.body);
            }
        }
    }
    let own = world.send(
        "POST",
        "/v1/tenants/red/tokens",
        &token,
        Some(&json!({"kind": "operator", "owner": "me"})),
    );
    assert_eq!(own.status, 403, "an administrator makes no operator");
    let head = format!(
        "POST /v1/evaluate HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-length: 9999999\r\n\r\n{{"
    );
    assert_eq!(raw(&world, &head), "HTTP/1.1 413 Payload Too Large");
    assert_eq!(raw(&world, "NONSENSE\r\n\r\n"), "HTTP/1.1 400 Bad Request");
    let many = format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{}\r\n", "x-a: b\r\n".repeat(500));
    assert!(raw(&world, &many).starts_with("HTTP/1.1 4"), "too many headers");
    assert_eq!(world.send("GET", "/nowhere", &token, None).status, 404);
    assert_eq!(world.send("DELETE", "/v1/evaluate", &token, None).status, 405);
    assert_eq!(world.send("GET", "/readyz", "", None).body, Value::String("ready\n".to_owned()));
}

#[test]
fn addresses_that_cannot_be_read_are_refused_in_a_form_for_programs_and_for_people() {
    let world = World::new();
    world.tenant("red", &json!({}), POLICY);
    let token = world.token("red", "person", "ada");
    let document = world.send("GET", "/openapi.json", "", None).body;
    let mut tried = 0;
    let own = [("/oidc/{tenant}/start", json!({"get": {}})), ("/approvals/{id}", json!({"get": {}}))];
    let documented = document["paths"].as_object().unwrap().iter().map(|(path, all)| (path.as_str(), all));
    for (path, methods) in documented.chain(own.iter().map(|(path, all)| (*path, all))) {
        let unreadable: Vec<&str> =
            path.split('/').map(|part| if part.starts_with('{') { "%ff" } else { part }).collect();
        let unreadable = unreadable.join("/");
        if unreadable == path {
            continue;
        }
        for method in methods.as_object().unwrap().keys().map(|method| method.to_uppercase()) {
            tried += 1;
            for (accept, kind) in
                [("*/*", "application/problem+json"), ("text/html", "text/html; charset=utf-8")]
            {
                let headers = [("accept", accept)];
                let reply = send(&world.url, &method, &unreadable, &token, None, &headers);
                assert_eq!(
                    (reply.status, reply.kind.as_str()),
                    (400, kind),
                    "{method} {path}: {}",
                    reply.body
                );
            }
        }
    }
    assert!(tried > 15, "{tried}");
}

/// The first line of the answer to these bytes.
fn raw(world: &World, request: &str) -> String {
    let mut stream = TcpStream::connect(world.url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    BufReader::new(stream).lines().next().unwrap().unwrap()
}

/// Connections that say nothing do not keep others from being answered.
#[test]
fn ten_thousand_idle_connections_do_not_stand_in_the_way() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let most = getrlimit(Resource::Nofile).maximum;
    // The server inherits it.
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).unwrap();
    assert!(most.is_none_or(|most| most >= 11_000), "this test needs 11,000 open files: `ulimit -n 11000`");
    let world = World::new();
    let host = world.url.trim_start_matches("http://");
    let idle: Vec<TcpStream> = (0..10_000).map(|_| TcpStream::connect(host).unwrap()).collect();
    assert_eq!(world.send("GET", "/readyz", "", None).status, 200);
    world.tenant("red", &json!({}), POLICY);
    let bob = world.token("red", "person", "bob");
    assert_eq!(world.judge(&bob, &json!({"kind": "tool", "tool": "read_file"}))["decision"], "pass");
    drop(idle);
}

#[test]
fn other_addresses_need_something_that_speaks_tls() {
    let directory = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(crate::world::PROGRAM)
        .args(["serve", "--listen", "0.0.0.0:0", "--state"])
        .arg(directory.path())
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--behind-proxy"));
}
