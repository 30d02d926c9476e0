//! Judges the messages between client and server. Without I/O or a clock: messages in, messages out.

mod asks;
mod calls;
mod changes;
mod inputs;
mod lists;
mod neighbours;
mod notices;
mod reply;
mod spelling;
mod tasks;

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;

use lictor::governed::SessionsAbove;
use lictor::{Action, ActionKind, Asking, Companion, Evaluation, Mode, Runtime, SessionKey};
use serde_json::{Map, Value, json};

use crate::identity::{Identity, Running};
use crate::message::{
    CAPABILITIES, INVALID_PARAMS, INVALID_REQUEST, Message, UNKNOWN_METHOD, VERSION, id_in,
};
use crate::pins::Pins;
use crate::state::Sealer;
use asks::Question;
use calls::{Call, Concern, Form};
use inputs::Rounds;
use lists::{Known, List};
use notices::Cancelled;
use tasks::Tasks;

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
    identity: Identity,
    /// The same with the version that runs, once the server has answered.
    running: Option<Running>,
    /// Whether that version is one that a person has to accept first.
    held_back: bool,
    session: SessionKey,
    pins: Pins,
    sealer: Sealer,
    /// Requests of the client, or of our own, that wait for the server, by id.
    waiting: HashMap<String, Waiting>,
    /// Requests of the server that wait for the client, by id.
    asked: HashSet<String>,
    /// Calls that wait until the server's definitions are known.
    held: Vec<Message>,
    /// Calls that wait for a person.
    questions: Vec<Question>,
    /// Calls in which the server has asked something back.
    rounds: Rounds,
    /// Tools and prompts that may be used: listed, and as they were accepted.
    known: HashMap<String, Known>,
    /// Everything that the server has listed, also what is not offered.
    present: HashSet<String>,
    /// The pins could not be used when the server was last asked what it has.
    unpinned: bool,
    /// The server's error response to the tool list.
    no_tools: Option<Message>,
    /// The names of servers in agents' settings, loaded lazily.
    configured: Option<Vec<String>>,
    /// The sessions of the agent that has started this proxy, as its hooks tell of them.
    above: SessionsAbove,
    /// The calls of those sessions that have come through here.
    come: VecDeque<(SessionKey, String)>,
    /// Tasks that judged calls have made.
    tasks: Tasks,
    /// Requests that the client has cancelled and the server has not answered.
    cancelled: Cancelled,
    state: Listing,
    /// The client's UI capabilities from the handshake. Later revisions send them with every request.
    shows: Option<Value>,
    /// Questions for which the client has got the page's URL.
    shown: HashSet<String>,
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
    Call(Box<Call>),
    /// A list that the client asked for; whether it asked for its beginning.
    List(List, bool),
    /// A list that the gateway asked for, with what earlier pages had.
    Own(List, Vec<Vec<Value>>),
    /// The server's description of itself.
    About,
    /// The state or the outcome of a task, with the client's request.
    Task(Box<Message>),
    /// A response that is checked and forwarded.
    Other,
    /// A response that only the gateway wanted.
    Ours,
}

/// How many calls judged by hooks are remembered: more than can be waiting in all sessions of an agent.
const COME_KEPT: usize = 1_024;

/// Requests of clients that only carry the protocol along.
const PASSED: [&str; 5] =
    ["ping", "logging/setLevel", "subscriptions/listen", "resources/subscribe", "resources/unsubscribe"];

/// The protocol's error code for headers that do not match the body.
const HEADER_MISMATCH: i64 = -32020;

impl Gateway {
    /// A gateway for the server of that name and identity.
    ///
    /// # Errors
    /// When the system has no random numbers for a key.
    pub fn new(runtime: Runtime, name: &str, identity: Identity, session: &str) -> io::Result<Self> {
        let pins = Pins::in_directory(&runtime.project().dirs().state);
        Ok(Self {
            runtime,
            name: name.to_owned(),
            identity,
            running: None,
            held_back: false,
            session: SessionKey { agent: "mcp".to_owned(), id: session.to_owned() },
            pins,
            sealer: Sealer::new()?,
            waiting: HashMap::new(),
            asked: HashSet::new(),
            held: Vec::new(),
            questions: Vec::new(),
            rounds: Rounds::default(),
            known: HashMap::new(),
            present: HashSet::new(),
            unpinned: false,
            no_tools: None,
            configured: None,
            above: SessionsAbove::default(),
            come: VecDeque::new(),
            tasks: Tasks::default(),
            cancelled: Cancelled::default(),
            state: Listing::Unknown,
            shows: None,
            shown: HashSet::new(),
            next: 1,
        })
    }

    /// A message of the client.
    pub fn from_client(&mut self, message: Message) -> Vec<Out> {
        let Some(method) = message.method() else { return self.client_answers(message) };
        let Some(id) = message.id().cloned() else { return self.notified(message) };
        if self.is_in_use(&id) {
            let told = "another request with this `id` has no answer yet";
            return vec![Out::Client(Message::error(&id, INVALID_REQUEST, told))];
        }
        match method {
            "initialize" => {
                self.shows = message.param("capabilities").and_then(|has| has.get("elicitation")).cloned();
                self.sent_on(&id, message, Waiting::About)
            }
            "server/discover" => self.sent_on(&id, message, Waiting::About),
            // The pins are checked once the server has listed its definitions.
            "tools/call" | "prompts/get" | "completion/complete" | "resources/read"
                if self.state != Listing::Known =>
            {
                self.hold(message)
            }
            "tools/call" => self.called(&id, message),
            "prompts/get" => self.prompted(&id, message),
            "completion/complete" => self.completed(&id, message),
            "resources/read" => self.resource(&id, message),
            "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/update" | "tasks/list" => {
                self.task(&id, message)
            }
            method if let Some(list) = List::of(method) => {
                let begins = message.param("cursor").is_none();
                self.sent_on(&id, message, Waiting::List(list, begins))
            }
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
                let id = id.clone();
                let waiting = self.waiting.remove(&id.to_string());
                let may_ask_back =
                    matches!(waiting, Some(Waiting::Call(_) | Waiting::Task(_) | Waiting::Own(..)) | None);
                if reply::asks_back(&message) && !may_ask_back {
                    // No question may come to a client without being judged.
                    let told = "the server asks something back where the protocol has no such question";
                    return vec![Out::Client(Message::error(&id, -32603, told))];
                }
                match waiting {
                    Some(Waiting::Call(call)) => self.answered(*call, message),
                    Some(Waiting::Task(asked)) => self.task_answered(&asked, message),
                    Some(Waiting::List(list, begins)) => {
                        vec![Out::Client(self.listed(list, begins, message))]
                    }
                    Some(Waiting::Own(list, pages)) => self.learned(list, pages, message),
                    Some(Waiting::About) => vec![Out::Client(self.introduced(message))],
                    Some(Waiting::Other) => vec![Out::Client(self.looked_through(message, Form::Error))],
                    // Also an answer to nothing that was asked.
                    Some(Waiting::Ours) | None => Vec::new(),
                }
            }
            (Some(_), None) => self.server_tells(message),
            (Some(method), Some(id)) => {
                let (method, id) = (method.to_owned(), id.clone());
                self.server_asks(&method, &id, message)
            }
            (None, None) => Vec::new(),
        }
    }

    /// The server has sent an ambiguous line. The waiting client gets an error.
    pub fn misread(&mut self, line: &[u8]) -> Vec<Out> {
        let id = id_in(line).filter(|id| self.waiting.contains_key(&id.to_string()));
        let (Some(id), Err(why)) = (id, Message::parse(line)) else { return Vec::new() };
        let error = Message::error(&id, -32603, &format!("the server's answer cannot be used: {why}"));
        self.from_server(error)
    }

    /// The answer to something that the server, or the gateway, has asked the client.
    fn client_answers(&mut self, message: Message) -> Vec<Out> {
        let Some(id) = message.id().cloned() else { return Vec::new() };
        if self.asked.remove(&id.to_string()) {
            return vec![Out::Server(message)];
        }
        self.form_answered(&id, &message)
    }

    fn is_in_use(&self, id: &Value) -> bool {
        self.waiting.contains_key(&id.to_string())
            || self.held.iter().any(|held| held.id() == Some(id))
            || self.questions.iter().any(|question| question.is_for(id))
            || self.waiting.values().any(|waiting| matches!(waiting, Waiting::Call(call) if call.answers(id)))
    }

    fn sent_on(&mut self, id: &Value, message: Message, waiting: Waiting) -> Vec<Out> {
        self.waiting.insert(id.to_string(), waiting);
        vec![Out::Server(message)]
    }

    /// Calls wait until the definitions of the server are known: a call must not be forwarded before its
    /// definition is checked.
    fn hold(&mut self, message: Message) -> Vec<Out> {
        let meta = own_meta(&message);
        self.held.push(message);
        if self.state == Listing::Asked {
            return Vec::new();
        }
        self.state = Listing::Asked;
        self.known.clear();
        self.present.clear();
        self.no_tools = None;
        self.unpinned = false;
        [List::Tools, List::Prompts]
            .into_iter()
            .map(|list| self.ask_for(list, None, meta.as_ref(), Vec::new()))
            .collect()
    }

    fn ask_for(
        &mut self,
        list: List,
        cursor: Option<&Value>,
        meta: Option<&Value>,
        pages: Vec<Vec<Value>>,
    ) -> Out {
        let id = self.own_id();
        let mut params = Map::new();
        if let Some(cursor) = cursor {
            params.insert("cursor".to_owned(), cursor.clone());
        }
        if let Some(meta) = meta {
            params.insert("_meta".to_owned(), meta.clone());
        }
        let request = Message::request(&id, list.method(), Value::Object(params));
        self.waiting.insert(Value::String(id).to_string(), Waiting::Own(list, pages));
        Out::Server(request)
    }

    /// An unused id.
    fn own_id(&mut self) -> String {
        loop {
            let id = format!("lictor-{}", self.next);
            self.next += 1;
            if !self.is_in_use(&Value::String(id.clone())) {
                return id;
            }
        }
    }

    fn release(&mut self) -> Vec<Out> {
        std::mem::take(&mut self.held).into_iter().flat_map(|message| self.from_client(message)).collect()
    }

    fn looked_through(&self, message: Message, form: Form) -> Message {
        reply::looked_through(&self.name, message, form)
    }

    fn action(&self, tool: &str, payload: Map<String, Value>, id: &Value) -> Action {
        let mut action = Action::new(ActionKind::Tool, payload);
        action.tool = format!("mcp__{}__{tool}", self.name);
        action.session = Some(self.session.clone());
        action.actor.agent = self.session.agent.clone();
        action.tool_use_id = Some(id.to_string());
        action.cwd = self.runtime.project().root.to_string_lossy().into_owned();
        action
    }

    /// The judgement of a hook for the same call, if there is one: the call counts there, once. Each judgement
    /// matches one call here, so a second call without a hook counts separately.
    fn judged_by_hook(&mut self, action: &Action) -> Option<Action> {
        let sessions = self.above.look(self.runtime.project());
        let (come, engine) = (&self.come, self.runtime.engine());
        let (session, found) = sessions.iter().find_map(|session| {
            let taken = |id: &str| come.iter().any(|(known, call)| known == session && call == id);
            let found = engine.open_call(session, &action.tool, &action.payload, &taken).ok()??;
            Some((session.clone(), found))
        })?;
        let id = found.tool_use_id.clone()?;
        if self.come.len() == COME_KEPT {
            self.come.pop_front();
        }
        self.come.push_back((session, id));
        Some(found)
    }

    fn judge(&self, action: &Action, concern: &Concern) -> Evaluation {
        self.runtime.evaluate_with(action, self.mode(concern))
    }

    /// A dry run of the decision.
    fn looked_at(&self, action: &Action, concern: &Concern) -> Evaluation {
        self.runtime.evaluate_with(action, Mode { dry: true, ..self.mode(concern) })
    }

    fn mode(&self, concern: &Concern) -> Mode {
        Mode {
            asking: Asking::Nobody,
            observe: self.runtime.policy().is_observing(),
            dialect: Some("mcp".into()),
            caution: concern.caution.as_deref().map(Into::into),
            companion: Some(Companion::new(concern.word)),
            ..Mode::default()
        }
    }
}

/// The metadata of our own requests, if the client's call has metadata: its revision, and no capabilities,
/// because the client does not see them.
fn own_meta(call: &Message) -> Option<Value> {
    call.meta(VERSION).map(|version| json!({VERSION: version, CAPABILITIES: {}}))
}

#[cfg(test)]
mod tests;
