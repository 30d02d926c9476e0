//! A server process with tenants and tokens, and its resource usage.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::connection::Connection;

/// Ten rules without memory: what a stateless policy server can say as well.
pub(crate) const RULES: &str = r#"
version: 1
extends: []
known_tools: {known: ["*"]}
guards:
  r0: {expr: '!(has(payload.amount)) || payload.amount < 1000', reason: too much, fix: less}
  r1: {expr: '!(has(payload.region)) || payload.region in ["eu", "us"]', reason: region, fix: another region}
  r2: {expr: '!(has(payload.owner)) || payload.owner != "root"', reason: owner, fix: another owner}
  r3: {expr: '!(has(payload.path)) || !payload.path.startsWith("/etc/")', reason: path, fix: another path}
  r4: {expr: '!(has(payload.ticket)) || payload.ticket.startsWith("OPS-")', reason: ticket, fix: a ticket}
  r5: {expr: '!(has(payload.count)) || payload.count <= 50', reason: count, fix: fewer}
  r6: {expr: 'action.tool != "drop_database"', reason: never, fix: do not}
  r7: {expr: '!(has(payload.env)) || payload.env != "production"', reason: production, fix: staging}
  r8: {expr: '!(has(payload.host)) || payload.host.endsWith(".internal")', reason: host, fix: a host of ours}
  r9: {expr: '!(has(payload.label)) || payload.label.size() < 64', reason: label, fix: a short label}
policy: {all: [r0, r1, r2, r3, r4, r5, r6, r7, r8, r9]}
"#;

/// The call that is judged: every rule has something to say about it, and lets it pass.
pub(crate) fn payload() -> Value {
    json!({"amount": 12, "region": "eu", "owner": "ada", "path": "/srv/data", "ticket": "OPS-17", "count": 3,
           "env": "staging", "host": "db.internal", "label": "nightly"})
}

/// The program that is measured, where it is not the one that was built with the benchmark.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Measures that program.
pub(crate) fn is_at(program: PathBuf) {
    PROGRAM.set(program).expect("one program is measured");
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    pub(crate) host: String,
    pub(crate) operator: String,
    directory: TempDir,
    store: Option<String>,
}

impl Server {
    pub(crate) fn start(store: Option<String>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (child, host, code) = spawn(&directory, store.as_deref());
        let mut server = Self { child, host, operator: String::new(), directory, store };
        let code = code.expect("the first start prints a link");
        let made = server.ask("POST", "/v1/setup", "", &json!({"code": code, "owner": "op"}));
        server.operator = made["secret"].as_str().unwrap().to_owned();
        server
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    pub(crate) fn store(&self) -> Option<&str> {
        self.store.as_deref()
    }

    /// Ends the process, has something done, and starts it again.
    pub(crate) fn while_stopped(&mut self, act: impl FnOnce(&Self)) {
        self.stop();
        act(self);
        let (child, host, _) = spawn(&self.directory, self.store.as_deref());
        (self.child, self.host) = (child, host);
    }

    fn stop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }

    pub(crate) fn ask(&self, method: &str, path: &str, token: &str, body: &Value) -> Value {
        let headers = format!("authorization: Bearer {token}\r\ncontent-type: application/json\r\n");
        let reply = Connection::open(&self.host).send(method, path, &headers, body.to_string().as_bytes());
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        assert_eq!(reply.status, 200, "{method} {path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// A tenant with a person and a policy; the person's token.
    pub(crate) fn tenant(&self, name: &str, policy: &str) -> String {
        let op = &self.operator;
        self.ask("PUT", &format!("/v1/tenants/{name}"), op, &json!({}));
        let roles = ["viewer", "auditor", "approver", "author", "publisher", "admin"];
        let people = json!({"people": [{"uid": "ada", "email": "ada@example.com", "roles": roles}]});
        self.ask("PUT", &format!("/v1/tenants/{name}/people"), op, &people);
        self.ask("PUT", &format!("/v1/tenants/{name}/policy"), op, &json!({"text": policy}));
        self.token(name, "person", "ada")
    }

    pub(crate) fn token(&self, tenant: &str, kind: &str, owner: &str) -> String {
        let path = format!("/v1/tenants/{tenant}/tokens");
        let made = self.ask("POST", &path, &self.operator, &json!({"kind": kind, "owner": owner}));
        made["secret"].as_str().unwrap().to_owned()
    }

    /// The most memory that the process has had, in megabytes.
    pub(crate) fn memory(&self) -> f64 {
        memory(self.child.id())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The most memory that a process has had, in megabytes.
pub(crate) fn memory(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: f64 =
        peak.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(f64::NAN);
    kilobytes * 1024.0 / 1e6
}

fn spawn(directory: &TempDir, store: Option<&str>) -> (Child, String, Option<String>) {
    let mut command =
        Command::new(PROGRAM.get().map_or(Path::new(env!("CARGO_BIN_EXE_lictor-server")), PathBuf::as_path));
    command.args(["serve", "--listen", "127.0.0.1:0", "--rate", "10000000", "--state"]).arg(directory.path());
    command.args(store.into_iter().flat_map(|store| ["--store", store]));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the server starts");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().expect("the server says where it is").unwrap();
    let host = first.rsplit_once("http://").expect("an address").1.to_owned();
    // The link is printed at once or never; waiting for it would wait for the end of the process.
    let code = (!directory.path().join("operator").exists()).then(|| {
        let link = lines.next().expect("a link").unwrap();
        std::fs::write(directory.path().join("operator"), "").unwrap();
        link.rsplit_once("code=").expect("a code").1.to_owned()
    });
    (child, host, code)
}
