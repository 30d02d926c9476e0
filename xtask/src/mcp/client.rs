//! An MCP client that knows nothing of Lictor: lines to a process, and its answers.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::spec::Era;

const PATIENCE: Duration = Duration::from_secs(30);

/// A client of one server.
pub struct Client {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    era: Era,
    next: u64,
}

impl Client {
    /// Starts the server and says hello.
    pub fn start(mut command: Command, era: Era) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the server does not start")?;
        let stdin = child.stdin.take().context("a pipe")?;
        let stdout = child.stdout.take().context("a pipe")?;
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(|line| line.ok()) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut client = Self { child, stdin, lines, era, next: 1 };
        match era {
            Era::Handshake => {
                let about = json!({"name": "xtask", "version": "1"});
                client.request(
                    "initialize",
                    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about}),
                )?;
                client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
            }
            Era::Stateless => {
                client.request("server/discover", json!({}))?;
            }
        }
        Ok(client)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        self.stdin.write_all(format!("{message}\n").as_bytes())?;
        Ok(self.stdin.flush()?)
    }

    /// The response to a request, whole. What the server asks meanwhile is declined.
    pub fn request(&mut self, method: &str, mut params: Value) -> Result<Value> {
        let id = self.next;
        self.next += 1;
        if self.era == Era::Stateless
            && let Value::Object(params) = &mut params
        {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            params.insert("_meta".to_owned(), meta);
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else {
                bail!("`{method}` has no answer; the server: {:?}", self.child.try_wait()?);
            };
            let answer: Value = serde_json::from_str(&line).with_context(|| format!("not JSON: {line}"))?;
            if answer.get("method").is_some() {
                if let Some(asked) = answer.get("id") {
                    let none = json!({"code": -32601, "message": "not here"});
                    self.send(&json!({"jsonrpc": "2.0", "id": asked, "error": none}))?;
                }
                continue;
            }
            if answer.get("id") == Some(&json!(id)) {
                return Ok(answer);
            }
        }
    }

    /// The process of the server, or of what stands before it.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Says goodbye, and waits for the end: longer than a server behind Lictor may take that ignores the end of its input.
    pub fn end(self) -> Result<()> {
        let Self { mut child, stdin, .. } = self;
        drop(stdin);
        for _ in 0..750 {
            if child.try_wait()?.is_some() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(20));
        }
        child.kill()?;
        child.wait()?;
        bail!("it did not end when its client did")
    }
}
