//! One gateway for clients that send independent requests, as over HTTP: routes responses to the waiting clients,
//! whatever ids they use.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::child::{self, ServerCommand, StartError};
use crate::gateway::{Gateway, Out};
use crate::hub::{Hub, Inbox, Outlet, Upstream, Via};
use crate::identity::Identity;
use crate::message::Message;
use crate::stdio;

/// How many messages without a request are kept for a client that does not listen yet.
const MOST_KEPT: usize = 256;
/// How many streams a session may listen on.
const MOST_STREAMS: usize = 8;
/// How long a server may take to end after its session has.
const GRACE: Duration = Duration::from_secs(5);
/// The metadata key of a notification's subscription.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Something for a client.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// The message.
    pub message: Message,
    /// Whether it is the answer, after which nothing comes.
    pub last: bool,
    /// The status that the server gave it over HTTP.
    pub status: Option<u16>,
}

/// Takes what is for one client. False when the client has gone or is too slow.
pub type Sink = Box<dyn Fn(Delivery) -> bool + Send>;

/// A handle of a client's running request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

/// Whether clients have a session, in which servers can send requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clients {
    /// One client with a session.
    One,
    /// Any number, with independent requests.
    Many,
}

/// One server, for requests that come one by one.
pub struct Switch {
    hub: Arc<Hub<Board>>,
}

struct Board {
    clients: Clients,
    upstream: Box<dyn Upstream>,
    state: Mutex<Waiting>,
    ended: AtomicBool,
}

#[derive(Default)]
struct Waiting {
    /// By the number that replaces the client's id.
    requests: BTreeMap<u64, Request>,
    /// Take what belongs to no request: each message goes to the newest that is there.
    standing: Vec<(Ticket, Sink)>,
    kept: VecDeque<Message>,
    next: u64,
}

struct Request {
    id: Value,
    token: Option<Value>,
    sink: Sink,
}

impl std::fmt::Debug for Switch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Switch").field("clients", &self.hub.outlet.clients).finish_non_exhaustive()
    }
}

impl Switch {
    /// For a server that `connect` opens; it gets the inbox for the server's messages.
    pub fn new(
        gateway: Gateway,
        clients: Clients,
        connect: impl FnOnce(Arc<dyn Inbox>) -> Box<dyn Upstream>,
    ) -> Self {
        let hub = Hub::connected(gateway, |inbox| Board {
            clients,
            upstream: connect(inbox),
            state: Mutex::new(Waiting::default()),
            ended: AtomicBool::new(false),
        });
        let people = Arc::clone(&hub);
        thread::spawn(move || people.watch(|| !people.outlet.ended.load(Ordering::Acquire)));
        Self { hub }
    }

    /// Before a program on this machine, which ends with the switch. `gateway` gets what pins are bound to.
    ///
    /// # Errors
    /// When the program does not start.
    pub fn of_command(
        server: &ServerCommand,
        clients: Clients,
        gateway: impl FnOnce(Identity) -> io::Result<Gateway>,
    ) -> Result<Self, StartError> {
        let identity = Identity::of_command(&server.argv);
        let (started, outcome) = std::sync::mpsc::channel();
        let (hand_over, inbox) = std::sync::mpsc::channel::<Arc<dyn Inbox>>();
        let server = server.clone();
        // The system ends the server with the thread that started it, so that thread stays with it.
        thread::spawn(move || {
            let mut server = match child::connect(&server) {
                Ok(connected) => connected,
                Err(error) => return drop(started.send(Err(error))),
            };
            let group = server.group();
            let upstream = server.upstream.ended_within(GRACE);
            if started.send(Ok((upstream, group))).is_ok()
                && let Ok(inbox) = inbox.recv()
            {
                stdio::pump_server(server.output, &*inbox);
                inbox.ended();
            }
            let _ = child::end(&mut server.child, &server.process);
        });
        let gone = || StartError::Stream(io::Error::other("the thread of the server is gone"));
        let (upstream, group) = outcome.recv().map_err(|_| gone())??;
        let gateway = gateway(identity.in_group(group))?;
        let switch = Self::new(gateway, clients, |inbox| {
            let _ = hand_over.send(inbox);
            Box::new(upstream)
        });
        Ok(switch)
    }

    /// A request of a client. Its responses go to the sink.
    pub fn ask(&self, mut message: Message, sink: Sink) -> Ticket {
        let ticket = self.hub.outlet.enter(&mut message, sink);
        if self.is_over() {
            self.hub.outlet.fail_all();
        } else if !self.hub.outlet.upstream.has_room() {
            self.hub.outlet.refuse(ticket);
        } else if !self.hub.take_from_client(message) {
            self.hub.outlet.server_ended();
        }
        ticket
    }

    /// A notification or an answer of a client. False when the server does not take what it is sent.
    pub fn tell(&self, mut message: Message) -> bool {
        if message.method() == Some("notifications/cancelled") && !self.hub.outlet.renumber(&mut message) {
            return true;
        }
        if !self.hub.outlet.upstream.has_room() {
            return false;
        }
        if !self.hub.take_from_client(message) {
            self.hub.outlet.server_ended();
        }
        true
    }

    /// The client no longer waits for it, so it is cancelled; no effect if it has finished.
    pub fn drop_request(&self, ticket: Ticket) {
        if self.hub.outlet.state().requests.remove(&ticket.0).is_none() {
            return;
        }
        let params = json!({"requestId": ticket.0, "reason": "the client has closed its stream"});
        self.hub.take_from_client(Message::notification("notifications/cancelled", params));
    }

    /// The client listens for what belongs to no request. Nothing when it does so too often already.
    pub fn listen(&self, sink: Sink) -> Option<Ticket> {
        let mut state = self.hub.outlet.state();
        if state.standing.len() >= MOST_STREAMS {
            return None;
        }
        for message in std::mem::take(&mut state.kept) {
            sink(Delivery { message, last: false, status: None });
        }
        state.next += 1;
        let ticket = Ticket(state.next);
        state.standing.push((ticket, sink));
        Some(ticket)
    }

    /// The client does not listen there any more.
    pub fn stop_listening(&self, ticket: Ticket) {
        self.hub.outlet.state().standing.retain(|(known, _)| *known != ticket);
    }

    /// Whether the server is gone.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.hub.outlet.ended.load(Ordering::Acquire)
    }

    /// Whether a client waits for something.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        let state = self.hub.outlet.state();
        !state.standing.is_empty() || !state.requests.is_empty()
    }

    /// Ends the server. Does not wait for it.
    pub fn close(&self) {
        self.hub.outlet.upstream.close();
        self.over();
    }

    /// Ends the server, at the latest after that time.
    pub fn end_within(&self, grace: Duration) {
        self.hub.outlet.upstream.end_within(grace);
        self.over();
    }

    fn over(&self) {
        self.hub.outlet.server_ended();
        // A judgement may be under way, which is not waited for.
        let hub = Arc::clone(&self.hub);
        thread::spawn(move || hub.wake());
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        self.close();
    }
}

impl Board {
    fn state(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts numbers of ours in the place of the client's: two clients may use the same ones.
    fn enter(&self, message: &mut Message, sink: Sink) -> Ticket {
        let mut state = self.state();
        state.next += 1;
        let number = state.next;
        let id = message.id().cloned().unwrap_or_default();
        message.0.insert("id".to_owned(), json!(number));
        let meta = message.params_mut().and_then(|params| params.get_mut("_meta"));
        let token = meta.and_then(|meta| meta.get_mut("progressToken"));
        let token = token.map(|token| std::mem::replace(token, json!(number)));
        state.requests.insert(number, Request { id, token, sink });
        Ticket(number)
    }

    /// The request that a client cancels, by our number. False when there is none.
    fn renumber(&self, message: &mut Message) -> bool {
        let cancelled = message.param("requestId").cloned();
        let state = self.state();
        let number = state.requests.iter().find(|(_, request)| Some(&request.id) == cancelled.as_ref());
        let Some((number, _)) = number else { return false };
        if let Some(params) = message.params_mut() {
            params.insert("requestId".to_owned(), json!(number));
        }
        true
    }

    fn deliver(&self, message: &Message, via: &Via) {
        let mut state = self.state();
        if message.method().is_none() {
            let Some(number) = message.id().and_then(Value::as_u64) else { return };
            let Some(request) = state.requests.remove(&number) else { return };
            let mut message = message.clone().with_id(&request.id);
            if let Some(told) = subscription(message.result_mut().and_then(|result| result.get_mut("_meta")))
            {
                *told = request.id.clone();
            }
            (request.sink)(Delivery { message, last: true, status: via.status });
            return;
        }
        if let Some(number) = self.ended_subscription(message) {
            state.requests.remove(&number);
            return;
        }
        let Some((number, message)) = state.addressed(message, via, self.clients) else {
            return state.keep(message, self.clients);
        };
        let delivery = Delivery { message, last: false, status: None };
        if state.requests.get(&number).is_some_and(|request| !(request.sink)(delivery)) {
            // Too slow, or gone: what else comes for it has nowhere to go.
            state.requests.remove(&number);
        }
    }

    /// The request whose stream a server without sessions ends.
    fn ended_subscription(&self, message: &Message) -> Option<u64> {
        let ends = self.clients == Clients::Many && message.method() == Some("notifications/cancelled");
        message.param("requestId").filter(|_| ends).and_then(Value::as_u64)
    }

    /// The server does not read what it is sent. A request that it would never see is not kept for it.
    fn refuse(&self, ticket: Ticket) {
        let Some(request) = self.state().requests.remove(&ticket.0) else { return };
        let message =
            Message::error(&request.id, -32603, "the server does not take what it is sent; try again later");
        (request.sink)(Delivery { message, last: true, status: Some(503) });
    }

    fn fail_all(&self) {
        let requests = std::mem::take(&mut self.state().requests);
        for request in requests.into_values() {
            let message = Message::error(&request.id, -32603, "the server has ended");
            (request.sink)(Delivery { message, last: true, status: Some(502) });
        }
    }
}

impl Waiting {
    /// The request that a server's message belongs to, and the message as its client knows it.
    fn addressed(&self, message: &Message, via: &Via, clients: Clients) -> Option<(u64, Message)> {
        let mut message = message.clone();
        let params = message.params_mut();
        let mut number = None;
        if let Some(params) = params {
            if let Some(id) = subscription(params.get_mut("_meta")) {
                number = id.as_u64();
                if let Some(request) = number.and_then(|number| self.requests.get(&number)) {
                    *id = request.id.clone();
                }
            }
            if let Some(token) = params.get_mut("progressToken")
                && let Some(by) = token.as_u64().filter(|by| self.requests.contains_key(by))
            {
                number = Some(by);
                if let Some(known) = self.requests.get(&by).and_then(|request| request.token.clone()) {
                    *token = known;
                }
            }
        }
        let number = number
            .or_else(|| via.request.as_ref().and_then(Value::as_u64))
            .filter(|number| self.requests.contains_key(number))
            .or_else(|| self.only(clients))?;
        Some((number, message))
    }

    /// The request that a message without an address can only belong to. With many clients it is ambiguous if two
    /// wait.
    fn only(&self, clients: Clients) -> Option<u64> {
        match clients {
            Clients::One if self.standing.is_empty() => self.requests.keys().next_back().copied(),
            Clients::Many if self.requests.len() == 1 => self.requests.keys().next().copied(),
            _ => None,
        }
    }

    fn keep(&mut self, message: &Message, clients: Clients) {
        if clients == Clients::Many {
            return;
        }
        while let Some((_, sink)) = self.standing.last() {
            if sink(Delivery { message: message.clone(), last: false, status: None }) {
                return;
            }
            self.standing.pop();
        }
        if self.kept.len() >= MOST_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(message.clone());
    }
}

fn subscription(meta: Option<&mut Value>) -> Option<&mut Value> {
    meta.and_then(|meta| meta.get_mut(SUBSCRIPTION))
}

impl Outlet for Board {
    fn put(&self, out: &Out, via: &Via) -> io::Result<()> {
        match out {
            Out::Client(message) => {
                self.deliver(message, via);
                Ok(())
            }
            Out::Server(message) => self.upstream.send(message),
        }
    }

    fn server_ended(&self) {
        self.ended.store(true, Ordering::Release);
        self.fail_all();
    }
}

#[cfg(test)]
mod tests;
