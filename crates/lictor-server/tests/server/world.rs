//! A server process of the test's own, and what tests say to it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_lictor-server");

/// The policy of most tests: known tools, a scope, a rate, a tier.
pub(crate) const POLICY: &str = "
version: 1
known_tools: {known: [read_file, write_file, grant]}
tools: {scopes: {grant: [admin.write], write_file: [tools.write]}}
access:
  - {tier: background, decision: block}
  - {max_per_minute: 20}
guards:
  careful: {expr: 'action.tool != \"write_file\"', decision: ask, reason: really write?, fix: ask a person}
policy: careful
";

pub(crate) struct World {
    pub(crate) directory: TempDir,
    store: Option<String>,
    /// What the program is started by: its arguments follow.
    pub(crate) under: Vec<String>,
    child: Option<Child>,
    pub(crate) url: String,
    pub(crate) operator: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) kind: String,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::on(None)
    }

    pub(crate) fn on(store: Option<String>) -> Self {
        let mut world = Self::unstarted();
        world.store = store;
        world.begin();
        world
    }

    /// Starts it for the first time, and becomes its operator.
    pub(crate) fn begin(&mut self) {
        self.begin_at(&quiet_address(), &[]);
    }

    /// The same somewhere else.
    pub(crate) fn begin_at(&mut self, listen: &str, options: &[&str]) {
        let lines = self.start_with(listen, options);
        let code =
            lines.get(1).and_then(|line| line.rsplit_once("code=")).expect("a link at the first start").1;
        let made = self.send("POST", "/v1/setup", "", Some(&json!({"code": code, "owner": "op"})));
        self.operator = made.body["secret"].as_str().expect("a token").to_owned();
        let again = self.send("POST", "/v1/setup", "", Some(&json!({"code": code, "owner": "op"})));
        assert_eq!(again.status, 403, "the link counts once");
    }

    /// Not running, and without an operator.
    pub(crate) fn unstarted() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self {
            directory,
            store: None,
            under: Vec::new(),
            child: None,
            url: String::new(),
            operator: String::new(),
        }
    }

    /// What the process says when it does not start with these options.
    pub(crate) fn refused(&self, options: &[&str]) -> String {
        let mut command = Command::new(PROGRAM);
        let output = command.arg("serve").args(options).arg("--state").arg(self.state()).output().unwrap();
        assert!(!output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Starts the process and returns what it prints until it is ready.
    pub(crate) fn start(&mut self, listen: &str) -> Vec<String> {
        self.start_with(listen, &[])
    }

    /// The same with more options.
    pub(crate) fn start_with(&mut self, listen: &str, options: &[&str]) -> Vec<String> {
        let mut words = self.under.iter().map(String::as_str).chain([PROGRAM]);
        let mut command = Command::new(words.next().unwrap_or(PROGRAM));
        command
            .args(words)
            .args(["serve", "--listen", listen, "--rate", "100000", "--state"])
            .arg(self.state());
        command.args(options);
        if let Some(store) = &self.store {
            command.args(["--store", store]);
        }
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut lines = Vec::new();
        for expected in ["://", "code="] {
            if expected == "code=" && !self.operator.is_empty() {
                break;
            }
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            assert!(line.contains(expected), "{line:?}");
            lines.push(line.trim().to_owned());
        }
        let at = lines.first().and_then(|line| line.rsplit(' ').next()).unwrap();
        self.url = at.to_owned();
        self.child = Some(child);
        lines
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.directory.path().join("server")
    }

    /// The process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Asks the process to end and returns how it did.
    pub(crate) fn end(&mut self) -> Option<i32> {
        let mut child = self.child.take()?;
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        child.wait().unwrap().code()
    }

    /// The same address again.
    pub(crate) fn restart(&mut self) {
        let listen = self.url.trim_start_matches("http://").to_owned();
        self.start(&listen);
    }

    pub(crate) fn send(&self, method: &str, path: &str, token: &str, body: Option<&Value>) -> Reply {
        send(&self.url, method, path, token, body.map(Value::to_string).as_deref(), &[])
    }

    /// Expects success.
    pub(crate) fn ask(&self, method: &str, path: &str, token: &str, body: &Value) -> Value {
        let body = (method != "GET" && method != "DELETE").then_some(body);
        let reply = self.send(method, path, token, body);
        assert_eq!(reply.status, 200, "{method} {path}: {}", reply.body);
        reply.body
    }

    /// A tenant with a policy and people: ada may everything, bob only use, eve audits.
    pub(crate) fn tenant(&self, name: &str, settings: &Value, policy: &str) {
        let op = &self.operator;
        self.ask("PUT", &format!("/v1/tenants/{name}"), op, settings);
        let all = ["viewer", "auditor", "approver", "author", "publisher", "admin"];
        let people = json!({"people": [
            {"uid": "ada", "email": "ada@example.com", "role": "admin", "scopes": ["tools.write", "admin.write"], "roles": all},
            {"uid": "bob", "email": "bob@example.com", "scopes": ["tools.write"]},
            {"uid": "eve", "roles": ["auditor"]},
        ]});
        self.ask("PUT", &format!("/v1/tenants/{name}/people"), op, &people);
        self.ask("PUT", &format!("/v1/tenants/{name}/policy"), op, &json!({"text": policy}));
    }

    pub(crate) fn token(&self, tenant: &str, kind: &str, owner: &str) -> String {
        let path = format!("/v1/tenants/{tenant}/tokens");
        let made = self.ask("POST", &path, &self.operator, &json!({"kind": kind, "owner": owner}));
        made["secret"].as_str().unwrap().to_owned()
    }

    /// The decision about a tool.
    pub(crate) fn judge(&self, token: &str, action: &Value) -> Value {
        self.ask("POST", "/v1/evaluate", token, &json!({"action": action}))
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// An address that stays free while the server is away: the system gives nobody a port below its own range.
fn quiet_address() -> String {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let first: u16 = range.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(32_768);
    // Processes begin to look at different ports, and each thread goes on after the others.
    let begin = std::process::id().wrapping_mul(2_654_435_761);
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let (low, span) = (10_000_u32, u32::from(first.saturating_sub(10_000).max(1)));
    let mut ports = std::iter::repeat_with(|| {
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        low + begin.wrapping_add(number) % span
    });
    let free = |port: &u32| std::net::TcpListener::bind(format!("127.0.0.1:{port}")).is_ok();
    let found = ports.by_ref().take(1_000).find(free);
    found.map_or_else(|| "127.0.0.1:0".to_owned(), |port| format!("127.0.0.1:{port}"))
}

pub(crate) fn tool(name: &str) -> Value {
    json!({"kind": "tool", "tool": name})
}

pub(crate) fn send(
    url: &str,
    method: &str,
    path: &str,
    token: &str,
    body: Option<&str>,
    headers: &[(&str, &str)],
) -> Reply {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .allow_non_standard_methods(true)
        .timeout_global(Some(Duration::from_secs(60)))
        .build();
    let agent: ureq::Agent = config.into();
    let mut request = ureq::http::Request::builder().method(method).uri(format!("{url}{path}"));
    if !token.is_empty() {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request =
        request.header("content-type", "application/json").body(body.unwrap_or_default().to_owned()).unwrap();
    let mut response = agent.run(request).unwrap_or_else(|error| panic!("{method} {path}: {error}"));
    let kind = response
        .headers()
        .get("content-type")
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    let text = response.body_mut().read_to_string().unwrap();
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Reply { status: response.status().as_u16(), body, kind }
}

impl Drop for World {
    fn drop(&mut self) {
        self.kill();
    }
}
