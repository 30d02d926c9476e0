//! Scans a server: starts it, lists its definitions, and ends it. Nothing is pinned and no tool is called.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::child::{ServerCommand, StartError, end_scanned, start};
use crate::message::{MAX_LINE, Message};
use crate::poison::{self, Origin, Others, Suspicion};

/// What a server has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scan {
    /// The names of its tools.
    pub tools: Vec<String>,
    /// Suspicions, by the name of the definition.
    pub findings: Vec<(String, Suspicion)>,
    definitions: Vec<(String, Value)>,
}

/// Starts the server, asks for its definitions, and ends it.
///
/// # Errors
/// When it cannot be started, or does not answer in time.
pub fn scan(server: &ServerCommand, patience: Duration) -> Result<Scan, StartError> {
    let mut child = start(server)?;
    let (Some(to_server), Some(of_server)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(StartError::Stream(io::Error::other("the server has no streams")));
    };
    let asked = Asked { to_server, answers: answers(of_server), until: Instant::now() + patience, next: 1 };
    let looked = asked.definitions();
    end_scanned(&mut child);
    let mut scan = looked?;
    for (name, definition) in &scan.definitions {
        let found = poison::suspicions(definition, Origin::Definition);
        scan.findings.extend(found.into_iter().map(|one| (name.clone(), one)));
    }
    Ok(scan)
}

/// Compares servers with each other: mentions of another's tools, and names that are equal or similar.
pub fn compare(scans: &mut [(String, Scan)]) {
    let all = scans.to_vec();
    for (server, scan) in scans {
        let neighbours = || all.iter().filter(|(other, _)| other != server);
        let tools = neighbours()
            .flat_map(|(name, scan)| scan.tools.iter().map(move |tool| (name.as_str(), tool.as_str(), scan)))
            .map(|(name, tool, scan)| (name, tool, scan.definition(tool)))
            .collect();
        let servers = neighbours().map(|(name, _)| name.as_str()).collect();
        let others = Others { own: server, tools, servers };
        let own = |name: &str| scan.tools.iter().any(|tool| tool == name);
        let mut found = Vec::new();
        for (name, definition) in &scan.definitions {
            let about = others.named_in(definition, &own);
            found.extend(about.into_iter().map(|one| (name.clone(), one)));
        }
        for name in &scan.tools {
            let alike = poison::looks_like(name, scan.tools.iter().map(String::as_str));
            found.extend(
                alike
                    .into_iter()
                    .chain(others.taken_for(name, scan.definition(name)))
                    .map(|one| (name.clone(), one)),
            );
        }
        scan.findings.extend(found);
    }
}

impl Scan {
    fn definition(&self, tool: &str) -> &Value {
        self.definitions
            .iter()
            .find(|(name, _)| name == tool)
            .map_or(&Value::Null, |(_, definition)| definition)
    }
}

/// A server that is asked one thing after the other.
struct Asked {
    to_server: ChildStdin,
    answers: Receiver<Message>,
    until: Instant,
    next: u64,
}

impl Asked {
    fn definitions(mut self) -> Result<Scan, StartError> {
        let about = json!({"name": "lictor", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
        let introduced = self.ask("initialize", hello)?;
        let ready = Message::notification("notifications/initialized", json!({}));
        self.to_server.write_all(ready.to_line().as_bytes())?;
        let mut scan = Scan::default();
        if let Some(instructions) = introduced.get("instructions") {
            scan.definitions.push(("instructions".to_owned(), instructions.clone()));
        }
        for (method, field) in [("tools/list", "tools"), ("prompts/list", "prompts")] {
            let listed = self.ask(method, json!({}))?;
            for item in listed.get(field).and_then(Value::as_array).into_iter().flatten() {
                let name = item.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
                if field == "tools" {
                    scan.tools.push(name.clone());
                }
                scan.definitions.push((name, item.clone()));
            }
        }
        Ok(scan)
    }

    /// The result; nothing where the server has only an error for it.
    fn ask(&mut self, method: &str, params: Value) -> Result<Value, StartError> {
        let id = format!("scan-{}", self.next);
        self.next += 1;
        self.to_server.write_all(Message::request(&id, method, params).to_line().as_bytes())?;
        loop {
            let left = self.until.saturating_duration_since(Instant::now());
            let Ok(message) = self.answers.recv_timeout(left) else {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the server does not answer").into());
            };
            if message.method().is_none() && message.id().and_then(Value::as_str) == Some(&id) {
                return Ok(message.0.get("result").cloned().unwrap_or_default());
            }
        }
    }
}

/// The server's messages, read by a separate thread so that waiting can time out.
fn answers(of_server: ChildStdout) -> Receiver<Message> {
    let (sender, answers) = channel();
    thread::spawn(move || {
        let mut lines = BufReader::new(of_server);
        loop {
            let mut line = Vec::new();
            match (&mut lines).take(MAX_LINE as u64).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            if let Ok(message) = Message::parse(&line)
                && sender.send(message).is_err()
            {
                return;
            }
        }
    });
    answers
}
