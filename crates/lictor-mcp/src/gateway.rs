//! What is judged between client and server. No input or output of its own: messages in, messages out.

mod lists;
mod reply;

use std::collections::{HashMap, HashSet};

use lictor::{Action, ActionKind, Asking, Decision, Evaluation, Mode, Outcome, Runtime, SessionKey};
use lictor_core::feedback;
use serde_json::{Map, Value, json};

use crate::message::Message;
use crate::pins::Pins;
use lists::List;

/// A message for one of the two sides.
#[derive(Debug, Clone, PartialEq)]
pub enum Out {
    /// To the client.
    Client(Message),
    /// To the server.
    Server(Message),
}

/// Stands between one client and one server.
pub struct Gateway {
    runtime: Runtime,
    /// The server's name in tool names: `mcp__name__tool`.
    name: String,
    /// What pins are bound to: the program and its arguments, never what the server says of itself.
    identity: String,
    session: SessionKey,
    pins: Pins,
    /// Requests of the client that wait for the server, by id.
    waiting: HashMap<String, Waiting>,
    /// Calls that wait until the server's definitions are known.
    held: Vec<Message>,
    /// Tools and prompts that may be used: listed, and as they were accepted.
    known: HashSet<String>,
    /// Listed, but different from what was accepted.
    quarantined: HashSet<String>,
    state: Listing,
    /// Number of the next request of our own.
    next: u64,
}

/// Whether the server's tools are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listing {
    Unknown,
    Asked,
    Known,
}

enum Waiting {
    /// A judged call.
    Call(Box<Action>),
    /// A list that the client asked for.
    List(List),
    /// A list that the gateway asked for.
    Own(List),
    /// Something that is only handed back.
    Other,
}

/// Requests of clients that only carry the protocol along.
const PASSED: [&str; 12] = [
    "initialize",
    "ping",
    "server/discover",
    "logging/setLevel",
    "subscriptions/listen",
    "resources/subscribe",
    "resources/unsubscribe",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/cancel",
    "tasks/update",
];

const UNKNOWN_METHOD: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

impl Gateway {
    /// A gateway for the server of that name and identity.
    #[must_use]
    pub fn new(runtime: Runtime, name: &str, identity: &str, session: &str) -> Self {
        let pins = Pins::in_directory(&runtime.project().dirs().state);
        Self {
            runtime,
            name: name.to_owned(),
            identity: identity.to_owned(),
            session: SessionKey { agent: "mcp".to_owned(), id: session.to_owned() },
            pins,
            waiting: HashMap::new(),
            held: Vec::new(),
            known: HashSet::new(),
            quarantined: HashSet::new(),
            state: Listing::Unknown,
            next: 1,
        }
    }

    /// A message of the client.
    pub fn from_client(&mut self, message: Message) -> Vec<Out> {
        let Some(method) = message.method() else { return vec![Out::Server(message)] };
        let Some(id) = message.id().cloned() else { return self.notified(message) };
        match method {
            "tools/call" | "prompts/get" if self.state != Listing::Known => self.hold(message),
            "tools/call" => self.called(&id, message),
            "prompts/get" => self.prompted(&id, message),
            "resources/read" => self.resource(&id, message),
            "completion/complete" => self.sent_on(&id, message, Waiting::Other),
            method if let Some(list) = List::of(method) => self.sent_on(&id, message, Waiting::List(list)),
            method if PASSED.contains(&method) => self.sent_on(&id, message, Waiting::Other),
            method => {
                let told = format!("the method `{method}` is not known here, so it is not passed on");
                vec![Out::Client(Message::error(&id, UNKNOWN_METHOD, &told))]
            }
        }
    }

    /// A message of the server.
    pub fn from_server(&mut self, message: Message) -> Vec<Out> {
        match (message.method(), message.id()) {
            (None, Some(id)) => {
                let Some(waiting) = self.waiting.remove(&id.to_string()) else { return Vec::new() };
                match waiting {
                    Waiting::Call(action) => vec![Out::Client(self.answered(&action, message))],
                    Waiting::List(list) => vec![Out::Client(self.listed(list, message))],
                    Waiting::Own(list) => self.learned(list, message),
                    Waiting::Other => vec![Out::Client(message)],
                }
            }
            (Some(method), None) => {
                if method == "notifications/tools/list_changed"
                    || method == "notifications/prompts/list_changed"
                {
                    // What was listed before says nothing about the next call.
                    self.state = Listing::Unknown;
                }
                vec![Out::Client(message)]
            }
            (Some(method), Some(id)) => {
                let (method, id) = (method.to_owned(), id.clone());
                self.server_asks(&method, &id, message)
            }
            (None, None) => Vec::new(),
        }
    }

    fn notified(&mut self, message: Message) -> Vec<Out> {
        // A client that cancels a held call must not have it run later.
        if message.method() == Some("notifications/cancelled")
            && let Some(cancelled) = message.param("requestId").cloned()
        {
            let before = self.held.len();
            self.held.retain(|held| held.id() != Some(&cancelled));
            if self.held.len() != before {
                return Vec::new();
            }
        }
        vec![Out::Server(message)]
    }

    fn sent_on(&mut self, id: &Value, message: Message, waiting: Waiting) -> Vec<Out> {
        self.waiting.insert(id.to_string(), waiting);
        vec![Out::Server(message)]
    }

    /// Calls wait until the definitions of the server are known: a call must not outrun the look at what it calls.
    fn hold(&mut self, message: Message) -> Vec<Out> {
        self.held.push(message);
        if self.state == Listing::Asked {
            return Vec::new();
        }
        self.state = Listing::Asked;
        self.known.clear();
        self.quarantined.clear();
        [List::Tools, List::Prompts].into_iter().map(|list| self.ask_for(list, None)).collect()
    }

    fn ask_for(&mut self, list: List, cursor: Option<&Value>) -> Out {
        let id = format!("lictor-{}", self.next);
        self.next += 1;
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        let request = Message::request(&id, list.method(), params);
        self.waiting.insert(Value::String(id).to_string(), Waiting::Own(list));
        Out::Server(request)
    }

    fn release(&mut self) -> Vec<Out> {
        std::mem::take(&mut self.held).into_iter().flat_map(|message| self.from_client(message)).collect()
    }

    fn called(&mut self, id: &Value, message: Message) -> Vec<Out> {
        let name = message.param("name").and_then(Value::as_str).map(str::to_owned);
        let arguments = match message.param("arguments") {
            None | Some(Value::Null) => Some(Map::new()),
            Some(Value::Object(fields)) => Some(fields.clone()),
            Some(_) => None,
        };
        let (Some(name), Some(arguments)) = (name, arguments) else {
            let told = "`tools/call` needs a `name`, and `arguments` that are an object";
            return vec![Out::Client(Message::error(id, INVALID_PARAMS, told))];
        };
        let key = format!("tool/{name}");
        if self.quarantined.contains(&key) {
            let (reason, fix) = reply::changed("tool", &name);
            return vec![Out::Client(reply::refusal(id, &reason, &fix, None))];
        }
        if !self.known.contains(&key) {
            return vec![Out::Client(Message::error(id, INVALID_PARAMS, &format!("unknown tool: {name}")))];
        }
        let action = self.action(&format!("mcp__{}__{name}", self.name), arguments, id);
        self.judged(id, message, action)
    }

    fn prompted(&mut self, id: &Value, message: Message) -> Vec<Out> {
        let name = message.param("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let key = format!("prompt/{name}");
        if self.quarantined.contains(&key) {
            let (reason, fix) = reply::changed("prompt", &name);
            return vec![Out::Client(Message::error(id, INVALID_PARAMS, &format!("{reason}; {fix}")))];
        }
        if !self.known.contains(&key) {
            return vec![Out::Client(Message::error(id, INVALID_PARAMS, &format!("unknown prompt: {name}")))];
        }
        self.sent_on(id, message, Waiting::Other)
    }

    fn resource(&mut self, id: &Value, message: Message) -> Vec<Out> {
        let Some(uri) = message.param("uri").and_then(Value::as_str).map(str::to_owned) else {
            return vec![Out::Client(Message::error(id, INVALID_PARAMS, "`resources/read` needs a `uri`"))];
        };
        let mut action = self.action(&format!("mcp__{}__resource", self.name), Map::new(), id);
        match uri.strip_prefix("file://") {
            Some(path) => {
                action.kind = ActionKind::Read;
                action.payload.insert("path".to_owned(), json!(percent_decoded(path)));
            }
            None if uri.starts_with("http://") || uri.starts_with("https://") => {
                action.kind = ActionKind::Fetch;
                action.payload.insert("url".to_owned(), json!(uri));
            }
            // A name of the server's own: reading what it offers is what the server is for.
            None => return self.sent_on(id, message, Waiting::Other),
        }
        let evaluation = self.judge(&action);
        if evaluation.passed() {
            return self.sent_on(id, message, Waiting::Call(Box::new(action)));
        }
        let told = format!("{}; {}", evaluation.reason_for_agent(), evaluation.fix_for_agent());
        vec![Out::Client(Message::error(id, INVALID_PARAMS, &told))]
    }

    /// What a server asks of the client or of its model is data that leaves, so it is judged like a tool.
    fn server_asks(&mut self, method: &str, id: &Value, message: Message) -> Vec<Out> {
        let known = matches!(method, "sampling/createMessage" | "elicitation/create" | "roots/list" | "ping");
        if !known {
            let told = format!("the method `{method}` is not known here, so it is not passed on");
            return vec![Out::Server(Message::error(id, UNKNOWN_METHOD, &told))];
        }
        if method == "ping" {
            return vec![Out::Client(message)];
        }
        let asked = method.replace('/', "_");
        let payload = message.0.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
        let action = self.action(&format!("mcp__{}__{asked}", self.name), payload, id);
        if self.judge(&action).passed() {
            return vec![Out::Client(message)];
        }
        vec![Out::Server(match method {
            "roots/list" => Message::result(id, json!({"roots": []})),
            "elicitation/create" => Message::result(id, json!({"action": "decline"})),
            _ => Message::error(id, UNKNOWN_METHOD, "the policy does not let this server use the model"),
        })]
    }

    fn action(&self, tool: &str, payload: Map<String, Value>, id: &Value) -> Action {
        let mut action = Action::new(ActionKind::Tool, payload);
        action.tool = tool.to_owned();
        action.session = Some(self.session.clone());
        action.actor.agent = self.session.agent.clone();
        action.tool_use_id = Some(id.to_string());
        action.cwd = self.runtime.project().root.to_string_lossy().into_owned();
        action
    }

    fn judge(&self, action: &Action) -> Evaluation {
        let mode = Mode {
            asking: Asking::Nobody,
            observe: self.runtime.policy().is_observing(),
            dialect: Some("mcp".into()),
            ..Mode::default()
        };
        self.runtime.evaluate_with(action, mode)
    }

    fn judged(&mut self, id: &Value, message: Message, action: Action) -> Vec<Out> {
        let evaluation = self.judge(&action);
        if evaluation.passed() || evaluation.observed {
            return self.sent_on(id, message, Waiting::Call(Box::new(action)));
        }
        let explained = evaluation.id.map(|id| id.to_string());
        let fix = match evaluation.decision {
            Decision::Ask => {
                "a person has to say yes first: `lictor approvals` shows the question".to_owned()
            }
            _ => evaluation.fix_for_agent(),
        };
        vec![Out::Client(reply::refusal(id, &evaluation.reason_for_agent(), &fix, explained.as_deref()))]
    }

    /// The outcome of a call is recorded, and what the agent is to be told is one more block of text.
    fn answered(&self, action: &Action, message: Message) -> Message {
        let failed = message.0.contains_key("error")
            || message.0.get("result").and_then(|result| result.get("isError")) == Some(&Value::Bool(true));
        let outcome = if failed { Outcome::default() } else { Outcome::success() };
        let told = match self.runtime.post(action, outcome) {
            Ok(posted) => feedback::render(&posted.feedback),
            Err(error) => format!("Lictor could not record this: {error}"),
        };
        reply::checked(message, &told)
    }
}

/// A path as a file address has it. What is not an escape stays as it is.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        let escape = (*first == b'%').then(|| after.get(..2)).flatten();
        let value = escape
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match value {
            Some(byte) => {
                decoded.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                decoded.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests;
