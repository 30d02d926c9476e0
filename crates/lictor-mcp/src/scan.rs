//! Scans a server: starts it, lists its definitions, and ends it. Nothing is pinned and no tool is called.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::ChildStdout;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::child::{self, ChildServer, ServerCommand, StartError};
use crate::hub::Upstream as _;
use crate::message::{CAPABILITIES, MAX_LINE, Message, UNKNOWN_METHOD, VERSION};
use crate::poison::{self, Origin, Others, Suspicion};

/// The lists of a server: the capability, the request, and the field of the result.
const LISTS: [(&str, &str, &str); 4] = [
    ("tools", "tools/list", "tools"),
    ("prompts", "prompts/list", "prompts"),
    ("resources", "resources/list", "resources"),
    ("resources", "resources/templates/list", "resourceTemplates"),
];
/// How many pages of a list are read.
const MOST_PAGES: usize = 256;

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
    let mut started = child::connect(server)?;
    let (to_server, answers) = (started.upstream, answers(started.output));
    let until = Instant::now() + patience;
    // The server's input ends with this.
    let looked = Asked { to_server, answers, until, next: 1, meta: None }.definitions();
    let _ = child::end(&mut started.child, &started.process);
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
    to_server: ChildServer,
    answers: Receiver<Message>,
    until: Instant,
    next: u64,
    /// The metadata of each request, for a server of a revision without a handshake.
    meta: Option<Value>,
}

impl Asked {
    fn definitions(mut self) -> Result<Scan, StartError> {
        let about = self.introduced()?;
        let mut scan = Scan::default();
        for (kind, method, field) in LISTS {
            let declared = about.get("capabilities").is_some_and(|able| able.get(kind).is_some());
            // Clients do not ask for what a server does not declare, and some servers do not answer then.
            if !declared && kind != "tools" {
                continue;
            }
            for item in self.listed(method, field, declared)? {
                let name = item.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
                if field == "tools" {
                    scan.tools.push(name.clone());
                }
                scan.definitions.push((name, item));
            }
        }
        for text in ["instructions", "serverInfo"] {
            scan.definitions.extend(about.get(text).map(|said| (text.to_owned(), said.clone())));
        }
        Ok(scan)
    }

    /// The server's description of itself, in a revision that it supports.
    fn introduced(&mut self) -> Result<Value, StartError> {
        let about = json!({"name": "lictor", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
        if let Ok(introduced) = self.ask("initialize", hello)? {
            self.to_server.send(&Message::notification("notifications/initialized", json!({})))?;
            return Ok(introduced);
        }
        self.meta = Some(json!({VERSION: "2026-07-28", CAPABILITIES: {}}));
        self.ask("server/discover", json!({}))?.map_err(refused)
    }

    /// All pages of a list. A server without such things answers that it does not know the method.
    fn listed(&mut self, method: &str, field: &str, declared: bool) -> Result<Vec<Value>, StartError> {
        let (mut items, mut params) = (Vec::new(), json!({}));
        for _ in 0..MOST_PAGES {
            let page = match self.ask(method, params)? {
                Ok(page) => page,
                Err(error) if declared && error.error_code() != Some(UNKNOWN_METHOD) => {
                    return Err(refused(error));
                }
                Err(_) => return Ok(items),
            };
            items.extend(page.get(field).and_then(Value::as_array).into_iter().flatten().cloned());
            match page.get("nextCursor").filter(|cursor| !cursor.is_null()) {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return Ok(items),
            }
        }
        Err(StartError::Answer(format!("its answer to `{method}` has no end")))
    }

    /// The result, or the server's error.
    fn ask(&mut self, method: &str, mut params: Value) -> Result<Result<Value, Message>, StartError> {
        let id = format!("scan-{}", self.next);
        self.next += 1;
        if let (Some(meta), Value::Object(params)) = (&self.meta, &mut params) {
            params.insert("_meta".to_owned(), meta.clone());
        }
        self.to_server.send(&Message::request(&id, method, params))?;
        loop {
            let left = self.until.saturating_duration_since(Instant::now());
            let message = self.answers.recv_timeout(left).map_err(|gone| {
                StartError::Answer(match gone {
                    RecvTimeoutError::Timeout => "it does not answer".to_owned(),
                    RecvTimeoutError::Disconnected => "it has ended".to_owned(),
                })
            })?;
            if message.method().is_none() && message.id().and_then(Value::as_str) == Some(&id) {
                return Ok(message.0.get("result").cloned().ok_or(message));
            }
        }
    }
}

/// What a server says instead of an answer.
fn refused(error: Message) -> StartError {
    let said = error.0.get("error").and_then(|error| error.get("message")).and_then(Value::as_str);
    StartError::Answer(format!("it answers with an error: {}", said.unwrap_or("without words")))
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
