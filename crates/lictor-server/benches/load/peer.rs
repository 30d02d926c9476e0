//! Another policy server on the same ten rules: Cerbos, from npm. It keeps no state and, by default, no record.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::connection::Connection;
use crate::evaluate::{CLIENTS, Load, put};
use crate::subject::{memory, payload};

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: tool
  rules:
    - {actions: ["transfer"], effect: EFFECT_ALLOW, roles: ["*"]}
    - {actions: ["*"], effect: EFFECT_DENY, roles: ["*"], condition: {match: {expr: '!(!has(R.attr.amount) || R.attr.amount < 1000)'}}}
    - {actions: ["*"], effect: EFFECT_DENY, roles: ["*"], condition: {match: {expr: '!(!has(R.attr.region) || R.attr.region in ["eu", "us"])'}}}
    - {actions: ["*"], effect: EFFECT_DENY, roles: ["*"], condition: {match: {expr: '!(!has(R.attr.owner) || R.attr.owner != "root")'}}}
    - {actions: ["*"], effect: EFFECT_DENY, roles: ["*"], condition: {match: {expr: '!(!has(R.attr.path) || !R.attr.path.startsWith("/etc/"))'}}}
    - {actions: ["*"], effect: EFFECT_DENY, roles: ["*"], condition: {match: {expr: '!(!has(R.attr.ticket) || R.attr.ticket.startsWith("OPS-"))'}}}
    - {actions: ["*"], effect: EFFECT_DENY, roles: ["*"], condition: {match: {expr: '!(!has(R.attr.count) || R.attr.count <= 50)'}}}
    - {actions: ["drop_database"], effect: EFFECT_DENY, roles: ["*"]}
    - {actions: ["*"], effect: EFFECT_DENY, roles: ["*"], condition: {match: {expr: '!(!has(R.attr.env) || R.attr.env != "production")'}}}
    - {actions: ["*"], effect: EFFECT_DENY, roles: ["*"], condition: {match: {expr: '!(!has(R.attr.host) || R.attr.host.endsWith(".internal"))'}}}
    - {actions: ["*"], effect: EFFECT_DENY, roles: ["*"], condition: {match: {expr: '!(!has(R.attr.label) || size(R.attr.label) < 64)'}}}
"#;

const HOST: &str = "127.0.0.1:3592";
const PATH: &str = "/api/check/resources";

pub(crate) fn run(program: &Path, length: Duration) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("tool.yaml"), POLICY).unwrap();
    let mut child = Command::new(program)
        .args(["server", "--log-level=error", "--set=server.httpListenAddr=127.0.0.1:3592"])
        .args(["--set=server.grpcListenAddr=127.0.0.1:3593", "--set=telemetry.disabled=true"])
        .arg(format!("--set=storage.disk.directory={}", directory.path().display()))
        .stdout(Stdio::null())
        .spawn()
        .expect("the peer starts");
    let ready = Instant::now();
    while std::net::TcpStream::connect(HOST).is_err() {
        assert!(ready.elapsed() < Duration::from_secs(60), "the peer does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    let ask = |attributes: &serde_json::Value| {
        json!({"requestId": "r", "principal": {"id": "ada", "roles": ["user"]},
               "resources": [{"resource": {"kind": "tool", "id": "1", "attr": attributes}, "actions": ["transfer"]}]})
        .to_string()
    };
    let headers = "content-type: application/json\r\n";
    let mut connection = Connection::open(HOST);
    let mut bad = payload();
    bad["env"] = json!("production");
    for (attributes, effect) in [(payload(), "EFFECT_ALLOW"), (bad, "EFFECT_DENY")] {
        let reply = connection.send("POST", PATH, headers, ask(&attributes).as_bytes());
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        assert!(text.contains(effect), "the peer judges by the same rules: {text}");
    }
    let clients = (0..CLIENTS).map(|_| (headers.to_owned(), ask(&payload()))).collect();
    let load = Load { host: HOST, path: PATH, clients, steady: None };
    put(&load, Duration::from_secs(1));
    let mut measured = put(&load, length);
    println!("{}", measured.row("Cerbos, without state, as many as possible", memory(child.id())));
    child.kill().unwrap();
    child.wait().unwrap();
}
