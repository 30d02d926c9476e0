//! `lictor mcp serve` as a process, before a server on standard streams and before one over HTTP.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::PROGRAM;

const SERVER: &str = include_str!("mcp_server.py");
const CASES: &str = include_str!("mcp.yaml");
const POLICY: &str = "
version: 1
known_tools: {known: ['mcp__demo__*'], blocked: [mcp__demo__drop]}
boundaries: {red_line_files: [/etc/shadow]}
";
const LATER: &str = "2026-07-28";

/// How the server behind Lictor is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    Stdio,
    Http,
}

/// Lictor and the server behind it.
struct Proxy {
    directory: TempDir,
    lictor: Child,
    server: Option<Child>,
    port: u16,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        for child in [Some(&mut self.lictor), self.server.as_mut()].into_iter().flatten() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Proxy {
    fn before(behind: Behind) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path();
        fs::create_dir_all(home.join(".config/lictor")).unwrap();
        fs::write(home.join(".config/lictor/governance.yaml"), POLICY).unwrap();
        fs::write(home.join("server.py"), SERVER).unwrap();
        let (script, log) = (home.join("server.py"), home.join("log"));
        let mut command = Command::new(PROGRAM);
        command.args(["mcp", "serve", "--listen", "127.0.0.1:0", "--name", "demo", "--cwd"]).arg(home);
        let mut server = None;
        match behind {
            Behind::Stdio => {
                command.args(["--", "python3"]).arg(script).arg("stdio").arg(log);
            }
            Behind::Http => {
                let mut child = Command::new("python3")
                    .arg(script)
                    .arg("http")
                    .arg(log)
                    .stdout(Stdio::piped())
                    .spawn()
                    .unwrap();
                let port = first_line(&mut child);
                server = Some(child);
                command.args(["--header", "Authorization=DEMO_AUTH", "--url"]);
                command.arg(format!("http://127.0.0.1:{port}/mcp"));
            }
        }
        command.env("HOME", home).env("DEMO_AUTH", "Bearer own").env_remove("XDG_CONFIG_HOME");
        command.env_remove("XDG_STATE_HOME").env_remove("LICTOR_STATE_DIR").stdout(Stdio::piped());
        let mut lictor = command.spawn().unwrap();
        let address = first_line(&mut lictor);
        let port = address.strip_prefix("http://127.0.0.1:").and_then(|rest| rest.strip_suffix("/demo"));
        Self { port: port.unwrap().parse().unwrap(), directory, lictor, server }
    }

    fn own(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn log(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.log_file()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn log_file(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    /// What the server has written down under that name.
    fn heard(&self, kind: &str) -> Vec<Value> {
        self.log().into_iter().filter_map(|line| line.get(kind).cloned()).collect()
    }

    /// Waits until the server has written down something like that; there is no other way to hear of it.
    fn until(&self, kind: &str, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(found) = self.heard(kind).into_iter().find(&fits) {
                return found;
            }
            thread::yield_now();
        }
    }

    /// How often the server was asked to call something.
    fn calls(&self) -> usize {
        self.heard("got").iter().filter(|message| message["method"] == "tools/call").count()
    }

    fn open(&self, method: &str, path: &str, headers: &[(String, String)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("Content-Length: {}\r\n\r\n", body.len());
        // A server that refuses a long body need not read it.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
        stream
    }

    fn send(&self, method: &str, path: &str, headers: &[(String, String)], body: &str) -> Answer {
        read(self.open(method, path, headers, body))
    }

    fn post(&self, headers: &[(String, String)], body: &Value) -> Answer {
        self.send("POST", "/demo", headers, &body.to_string())
    }

    /// Begins a session, and gives the headers of its requests.
    fn session(&self) -> Vec<(String, String)> {
        let mut headers = self.usual();
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let answer = self.post(&headers, &hello);
        assert_eq!(answer.status, 200, "{}", answer.body);
        let line = answer.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
        headers.push(("mcp-session-id".to_owned(), line.trim().to_owned()));
        headers.push(("mcp-protocol-version".to_owned(), "2025-11-25".to_owned()));
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&headers, &ready).status, 202);
        headers
    }

    fn usual(&self) -> Vec<(String, String)> {
        let own = self.own();
        let usual = [
            ("host", own.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        usual.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    }

    /// The headers of a request that stands for itself.
    fn alone(&self, body: &Value) -> Vec<(String, String)> {
        let mut headers = self.usual();
        headers.push(("mcp-protocol-version".to_owned(), LATER.to_owned()));
        let method = body["method"].as_str().unwrap_or("tools/list");
        headers.push(("mcp-method".to_owned(), method.to_owned()));
        if let Some(name) = body["params"]["name"].as_str() {
            headers.push(("mcp-name".to_owned(), name.to_owned()));
        }
        headers
    }
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

fn read(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // A refused body may end in a reset after the answer.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

/// A call as clients of later revisions make it.
fn call(id: u64, name: &str, arguments: &Value) -> Value {
    later(
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}}),
    )
}

fn later(mut message: Value) -> Value {
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": LATER,
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "t",
    });
    message
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Era {
    Handshake,
    Stateless,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    era: Era,
    path: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, Option<String>>,
    #[serde(default)]
    twice: BTreeMap<String, String>,
    body: Option<Value>,
    raw: Option<String>,
    /// Brackets in brackets, that many.
    deep: Option<usize>,
    /// A text of that many bytes.
    long: Option<usize>,
    status: u16,
    says: String,
    reaches: bool,
}

impl Case {
    fn body(&self) -> String {
        match (&self.body, &self.raw, self.deep, self.long) {
            (Some(body), ..) => {
                let mut message = body.clone();
                message["jsonrpc"] = json!("2.0");
                message["id"] = json!(5);
                if self.era == Era::Stateless { later(message).to_string() } else { message.to_string() }
            }
            (_, Some(raw), ..) => raw.clone(),
            (.., Some(deep), _) => format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":{}{}}}}}}}"#,
                "[".repeat(deep),
                "]".repeat(deep)
            ),
            (.., Some(long)) => format!("{{\"jsonrpc\": \"{}\"}}", "x".repeat(long)),
            _ => String::new(),
        }
    }

    fn headers(&self, proxy: &Proxy, session: &[(String, String)]) -> Vec<(String, String)> {
        let mut headers = match self.era {
            Era::Handshake => session.to_vec(),
            Era::Stateless => proxy.alone(self.body.as_ref().unwrap_or(&Value::Null)),
        };
        let own = |value: &str| value.replace("{own}", &format!("http://{}", proxy.own()));
        for (name, value) in &self.headers {
            headers.retain(|(known, _)| known != name);
            headers.extend(value.iter().map(|value| (name.clone(), own(value))));
        }
        headers.extend(self.twice.iter().map(|(name, value)| (name.clone(), own(value))));
        headers
    }
}

#[test]
fn requests_are_read_in_one_way_or_refused() {
    let cases: Vec<Case> = serde_saphyr::from_str(CASES).unwrap();
    for behind in [Behind::Stdio, Behind::Http] {
        let proxy = Proxy::before(behind);
        let session = proxy.session();
        // The lists are known from here on, so that what the server hears next is what was asked.
        proxy.post(&proxy.alone(&call(1, "echo", &json!({}))), &call(1, "echo", &json!({})));
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {}}});
        proxy.post(&session, &hello);
        let mut wrong = Vec::new();
        for case in &cases {
            let before = proxy.heard("got").len();
            let path = case.path.as_deref().unwrap_or("/demo");
            let answer = proxy.send("POST", path, &case.headers(&proxy, &session), &case.body());
            let reached = proxy.heard("got").len() > before;
            if (answer.status, reached) != (case.status, case.reaches) || !answer.body.contains(&case.says) {
                wrong.push(format!("{}: {} {reached} {}", case.id, answer.status, answer.body));
            }
        }
        assert!(wrong.is_empty(), "{behind:?}\n{}", wrong.join("\n"));
    }
}

#[test]
fn a_closed_stream_cancels_for_later_clients_and_not_for_earlier_ones() {
    for behind in [Behind::Stdio, Behind::Http] {
        let proxy = Proxy::before(behind);
        let hold = call(7, "hold", &json!({"text": "x"}));
        let stream = proxy.open("POST", "/demo", &proxy.alone(&hold), &hold.to_string());
        // The progress comes on the request's own stream, under the client's own token.
        let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
        let progress = lines.find(|line| line.starts_with("data:")).unwrap();
        assert!(progress.contains("\"progressToken\":\"t\""), "{progress}");
        drop(lines);
        match behind {
            Behind::Stdio => drop(proxy.until("got", |got| got["method"] == "notifications/cancelled")),
            Behind::Http => drop(proxy.until("closed", |_| true)),
        }
        let session = proxy.session();
        let mut hold = json!({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "hold", "arguments": {}}});
        hold["params"]["_meta"] = json!({"progressToken": "u"});
        let stream = proxy.open("POST", "/demo", &session, &hold.to_string());
        let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("\"progressToken\":\"u\"")));
        let before =
            proxy.heard("got").iter().filter(|got| got["method"] == "notifications/cancelled").count();
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 8}});
        assert_eq!(proxy.post(&session, &cancel).status, 202);
        let after =
            || proxy.heard("got").iter().filter(|got| got["method"] == "notifications/cancelled").count();
        while after() == before {
            thread::yield_now();
        }
    }
}

#[test]
fn what_clients_prove_who_they_are_with_is_not_passed_on() {
    let proxy = Proxy::before(Behind::Http);
    let mut headers = proxy.session();
    for (name, value) in
        [("authorization", "Bearer stolen"), ("cookie", "id=stolen"), ("x-api-key", "stolen")]
    {
        headers.push((name.to_owned(), value.to_owned()));
    }
    let echo = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "a"}}});
    assert!(proxy.post(&headers, &echo).body.contains("said a"));
    let sent = proxy.heard("headers");
    assert!(sent.iter().all(|headers| headers["authorization"] == "Bearer own"), "{sent:?}");
    assert!(!format!("{sent:?}").contains("stolen"), "{sent:?}");
    let upstream = sent.last().unwrap();
    assert_eq!(upstream["mcp-session-id"], "upstream-1", "the session of the server, not of the client");
}

/// `lictor mcp scan` asks servers with a URL in this way.
#[test]
fn a_server_with_a_url_can_be_asked_on_standard_streams_without_being_governed() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("server.py"), SERVER).unwrap();
    let mut server = Command::new("python3");
    server.arg(directory.path().join("server.py")).arg("http").arg(directory.path().join("log"));
    let mut server = server.stdout(Stdio::piped()).spawn().unwrap();
    let url = format!("http://127.0.0.1:{}/mcp", first_line(&mut server));
    let mut connected = Command::new(PROGRAM)
        .args([
            "mcp",
            "connect",
            "--name",
            "scanned",
            "--url",
            &url,
            "--header",
            "Authorization=KEY",
            "--cwd",
        ])
        .arg(directory.path())
        .env("HOME", directory.path())
        .env("KEY", "Bearer own")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}});
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let mut lines = BufReader::new(connected.stdout.take().unwrap()).lines();
    let mut ask = |message: &Value| {
        writeln!(connected.stdin.as_ref().unwrap(), "{message}").unwrap();
        lines.next().unwrap().unwrap()
    };
    assert!(ask(&hello).contains("\"id\":1"));
    let listed = ask(&list);
    assert!(listed.contains("drop"), "nothing is left out: {listed}");
    drop(connected.stdin.take());
    assert!(connected.wait().unwrap().success());
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(fs::read_to_string(directory.path().join("log")).unwrap().contains("Bearer own"));
    assert!(!directory.path().join(".local").exists(), "nothing is written");
}

#[test]
fn a_stream_that_the_server_ends_early_is_taken_up_again() {
    let proxy = Proxy::before(Behind::Http);
    let session = proxy.session();
    let resume = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "resume", "arguments": {"text": "later"}}});
    let answer = proxy.post(&session, &resume);
    assert!(answer.body.contains("said later"), "{} {}", answer.status, answer.body);
    assert!(proxy.heard("resumed").contains(&json!("41")));
    assert_eq!(proxy.send("DELETE", "/demo", &session, "").status, 204);
    proxy.until("deleted", |session| session == "upstream-1");
    assert_eq!(proxy.post(&session, &resume).status, 404, "the session is over");
}

#[test]
fn first_requests_at_once_start_one_server_and_a_session_has_its_own() {
    let proxy = Proxy::before(Behind::Stdio);
    let echo = call(1, "echo", &json!({"text": "a"}));
    let headers = proxy.alone(&echo);
    thread::scope(|scope| {
        let asked: Vec<_> = (0..8).map(|_| scope.spawn(|| proxy.post(&headers, &echo))).collect();
        for answer in asked {
            let answer = answer.join().unwrap();
            assert!(answer.body.contains("said a"), "{} {}", answer.status, answer.body);
        }
    });
    assert_eq!(proxy.heard("started").len(), 1, "{:?}", proxy.heard("started"));
    let session = proxy.session();
    assert_eq!(proxy.heard("started").len(), 2);
    assert_eq!(proxy.calls(), 8);
    assert_eq!(proxy.send("DELETE", "/demo", &session, "").status, 204);
}
