//! The server side of the Streamable HTTP transport. Revisions with a handshake have sessions, each with its own
//! MCP server; in later ones requests are independent, and all share one MCP server.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use lictor_mcp::{Clients, Delivery, MAX_LINE, Message, Sink, Switch, Ticket, mirror};
use serde_json::Value;
use tokio::sync::mpsc;

use super::Served;
use crate::random;

/// Messages that a client may be behind before it counts as gone.
const MOST_BEHIND: usize = 1_024;
/// Sessions of one server at once.
const MOST_SESSIONS: usize = 64;
/// How long an answer may take before the client hears that it is being made.
const SOON: Duration = Duration::from_secs(5);
/// The keep-alive interval of an idle stream.
const ALIVE: Duration = Duration::from_secs(15);

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: &str = "mcp-protocol-version";
/// The revisions with a handshake, and the first one without.
const WITH_HANDSHAKE: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const STANDS_ALONE: &str = "2026-07-28";

const INVALID_REQUEST: i64 = -32600;
const UNKNOWN_METHOD: i64 = -32601;
const HEADER_MISMATCH: i64 = -32020;
/// Errors by which a client knows a revision without a handshake.
const MODERN: std::ops::RangeInclusive<i64> = -32022..=-32020;

/// All servers behind one address.
pub(super) struct Front {
    servers: BTreeMap<String, Place>,
    /// The accepted host names.
    hosts: Vec<String>,
}

/// One server, with what runs of it.
struct Place {
    served: Arc<Served>,
    /// For clients without sessions. Held while it is started, so that it is started once.
    shared: tokio::sync::Mutex<Option<Arc<Switch>>>,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    by_id: HashMap<String, (u64, Arc<Switch>)>,
    /// Counts up with each use.
    used: u64,
}

impl Front {
    pub(super) fn new(servers: Vec<Served>, port: u16) -> Self {
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")).to_vec();
        let place = |served: Served| {
            let name = served.name.clone();
            let place = Place {
                served: Arc::new(served),
                shared: tokio::sync::Mutex::default(),
                sessions: Mutex::default(),
            };
            (name, place)
        };
        Self { servers: servers.into_iter().map(place).collect(), hosts }
    }

    fn is_called_by(&self, headers: &HeaderMap) -> bool {
        let own = |host: &str| self.hosts.iter().any(|known| known == host);
        let origin = |origin: &str| origin.strip_prefix("http://").is_some_and(own);
        let origin = !headers.contains_key(header::ORIGIN) || once(headers, "origin").is_some_and(origin);
        origin && once(headers, "host").is_some_and(own)
    }

    /// Ends every server, at the latest after that time. May not be called where it must not be waited.
    pub(super) fn close(&self, grace: Duration) {
        let mut running = Vec::new();
        for place in self.servers.values() {
            running.extend(place.shared.blocking_lock().take());
            running.extend(locked(&place.sessions).by_id.drain().map(|(_, (_, switch))| switch));
        }
        for switch in &running {
            switch.close();
        }
        let until = Instant::now() + grace;
        for switch in &running {
            switch.end_within(until.saturating_duration_since(Instant::now()));
        }
    }
}

pub(super) fn router(front: Arc<Front>) -> Router {
    Router::new()
        .route("/{server}", post(sent).get(listened).delete(ended))
        .layer(DefaultBodyLimit::max(MAX_LINE))
        .layer(middleware::from_fn_with_state(Arc::clone(&front), only_here))
        .with_state(front)
}

/// Web pages of other sites must not reach servers of this machine, under any host name.
async fn only_here(State(front): State<Arc<Front>>, request: Request, next: Next) -> Response {
    if front.is_called_by(request.headers()) {
        return next.run(request).await;
    }
    let told = "this address is for programs on this machine: `Host` or `Origin` is another one";
    answer(StatusCode::FORBIDDEN, &Message::error(&Value::Null, INVALID_REQUEST, told))
}

/// The value of a header that occurs once.
fn once<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    if values.next().is_some() { None } else { first.to_str().ok() }
}

async fn sent(
    State(front): State<Arc<Front>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(place) = front.servers.get(&name) else { return no_server(&front, &name) };
    if !accepts(&headers, &["application/json", "text/event-stream"]) {
        return refusal(
            StatusCode::NOT_ACCEPTABLE,
            "`Accept` must name application/json and text/event-stream",
        );
    }
    let kind = once(&headers, "content-type").and_then(|kind| kind.split(';').next()).map(str::trim);
    if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
        return refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "`Content-Type` must be application/json");
    }
    let message = match Message::parse(&body) {
        Ok(message) => message,
        Err(malformed) => {
            let error = Message::error(&Value::Null, malformed.code(), &malformed.to_string());
            return answer(StatusCode::BAD_REQUEST, &error);
        }
    };
    if message.stands_alone() {
        return alone(place, message, &headers).await;
    }
    let id = message.id().cloned().unwrap_or_default();
    // Earlier revisions do not require these headers, but other programs may decide by them.
    let sent = |name: &str| headers.contains_key(name);
    if let Err(told) = mirror::check_sent(&message, sent, |name| once(&headers, name)) {
        return answer(StatusCode::BAD_REQUEST, &Message::error(&id, HEADER_MISMATCH, &told));
    }
    let has_handshake = once(&headers, VERSION).is_none_or(|version| version < STANDS_ALONE);
    if let Some(refused) = message.refused_without_metadata(has_handshake) {
        return answer(StatusCode::BAD_REQUEST, &refused);
    }
    if headers.contains_key(VERSION)
        && !once(&headers, VERSION).is_some_and(|version| WITH_HANDSHAKE.contains(&version))
    {
        let told = "the revision in `MCP-Protocol-Version` is not known";
        return answer(StatusCode::BAD_REQUEST, &Message::error(&id, INVALID_REQUEST, told));
    }
    if message.method() == Some("initialize") {
        return opened(place, message).await;
    }
    match session(place, &headers) {
        Ok(switch) => passed(switch, message, false).await,
        Err(refused) => *refused,
    }
}

/// An independent request.
async fn alone(place: &Place, message: Message, headers: &HeaderMap) -> Response {
    if let Some(refused) = message.refused_without_metadata(false) {
        return answer(StatusCode::BAD_REQUEST, &refused);
    }
    let id = message.id().cloned().unwrap_or_default();
    if let Err(told) = mirror::check(&message, |name| once(headers, name)) {
        return answer(StatusCode::BAD_REQUEST, &Message::error(&id, HEADER_MISMATCH, &told));
    }
    let params = headers.iter().filter(|(name, _)| name.as_str().starts_with(mirror::PARAM));
    let params = params
        .map(|(name, value)| (name.to_string(), value.to_str().map(str::to_owned).unwrap_or_default()))
        .collect();
    let message = message.with_headers(params);
    let switch = {
        let mut shared = place.shared.lock().await;
        match shared.as_ref().filter(|switch| !switch.is_over()) {
            Some(running) => Arc::clone(running),
            None => match started(place, Clients::Many).await {
                Ok(switch) => Arc::clone(shared.insert(switch)),
                Err(refused) => return *refused,
            },
        }
    };
    passed(switch, message, true).await
}

/// The first request of a session.
async fn opened(place: &Place, message: Message) -> Response {
    let Ok(id) = random::hex(16) else {
        return refusal(StatusCode::INTERNAL_SERVER_ERROR, "the system has no random numbers");
    };
    let switch = match started(place, Clients::One).await {
        Ok(switch) => switch,
        Err(refused) => return *refused,
    };
    if !locked(&place.sessions).begin(&id, &switch) {
        return refusal(StatusCode::SERVICE_UNAVAILABLE, "there are too many sessions");
    }
    let mut opening = Opening { place, id: Some(id) };
    let asked = asked(switch, message, false).await;
    // Without a result there is no session; neither if the client is gone.
    if let Asked::Answered(delivery, _) = &asked
        && delivery.message.error_code().is_some()
    {
        return answer(StatusCode::OK, &delivery.message);
    }
    let mut response = asked.into_response(false);
    if let Some(id) = opening.id.take().and_then(|id| HeaderValue::from_str(&id).ok()) {
        response.headers_mut().insert(SESSION, id);
    }
    response
}

impl Sessions {
    /// Remembers a session. False when there are too many, and all of them are in use.
    fn begin(&mut self, id: &str, switch: &Arc<Switch>) -> bool {
        if self.by_id.len() >= MOST_SESSIONS {
            let unused = self.by_id.iter().filter(|(_, (_, switch))| !switch.is_busy());
            let Some(oldest) = unused.min_by_key(|(_, (used, _))| *used).map(|(id, _)| id.clone()) else {
                return false;
            };
            self.by_id.remove(&oldest);
        }
        self.used += 1;
        self.by_id.insert(id.to_owned(), (self.used, Arc::clone(switch)));
        true
    }
}

/// A session whose client has not heard its name yet. If it never does, the session ends.
struct Opening<'a> {
    place: &'a Place,
    id: Option<String>,
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            locked(&self.place.sessions).by_id.remove(id);
        }
    }
}

async fn started(place: &Place, clients: Clients) -> Result<Arc<Switch>, Box<Response>> {
    let served = Arc::clone(&place.served);
    let runtime = tokio::runtime::Handle::current();
    match tokio::task::spawn_blocking(move || served.start(clients, &runtime)).await {
        Ok(Ok(switch)) => Ok(Arc::new(switch)),
        Ok(Err(error)) => Err(Box::new(refusal(StatusCode::BAD_GATEWAY, &error.to_string()))),
        Err(_) => {
            Err(Box::new(refusal(StatusCode::INTERNAL_SERVER_ERROR, "the server could not be started")))
        }
    }
}

fn session(place: &Place, headers: &HeaderMap) -> Result<Arc<Switch>, Box<Response>> {
    let Some(id) = once(headers, SESSION.as_str()) else {
        let told = "`Mcp-Session-Id` is missing: begin with `initialize`, or say the revision in `_meta`";
        return Err(Box::new(refusal(StatusCode::BAD_REQUEST, told)));
    };
    let mut sessions = locked(&place.sessions);
    sessions.used += 1;
    let now = sessions.used;
    match sessions.by_id.get_mut(id) {
        Some((used, switch)) if !switch.is_over() => {
            *used = now;
            Ok(Arc::clone(switch))
        }
        _ => {
            sessions.by_id.remove(id);
            Err(Box::new(refusal(StatusCode::NOT_FOUND, "there is no such session")))
        }
    }
}

/// Hands a message to the gateway, and its answers to the client.
async fn passed(switch: Arc<Switch>, message: Message, cancels: bool) -> Response {
    if message.method().is_none() || message.id().is_none() {
        if cancels && message.method().is_none() {
            return refusal(StatusCode::BAD_REQUEST, "nothing was asked that this could answer");
        }
        let told = tokio::task::spawn_blocking(move || switch.tell(message)).await;
        return match told {
            Ok(true) => StatusCode::ACCEPTED.into_response(),
            Ok(false) => refusal(StatusCode::SERVICE_UNAVAILABLE, "the server does not take what it is sent"),
            Err(_) => refusal(StatusCode::INTERNAL_SERVER_ERROR, "the message was lost inside Lictor"),
        };
    }
    let discovers = message.method() == Some("server/discover");
    asked(switch, message, cancels).await.into_response(discovers)
}

/// The state of a request when its response begins.
enum Asked {
    /// The answer itself, to a client that hears statuses.
    Answered(Delivery, bool),
    /// More comes before it.
    Streams(Box<Answers>),
    Lost,
}

impl Asked {
    fn into_response(self, discovers: bool) -> Response {
        match self {
            Self::Answered(delivery, true) => answer(status_of(&delivery, discovers), &delivery.message),
            Self::Answered(delivery, false) => answer(StatusCode::OK, &delivery.message),
            Self::Streams(answers) => stream(*answers),
            Self::Lost => refusal(StatusCode::INTERNAL_SERVER_ERROR, "the request was lost inside Lictor"),
        }
    }
}

async fn asked(switch: Arc<Switch>, message: Message, cancels: bool) -> Asked {
    let (sink, receiver) = channel();
    // A client that closes its stream while this runs drops what it gives, which cancels the request.
    let asking = move || {
        let ticket = switch.ask(message, sink);
        let over = if cancels { Over::Cancel(ticket) } else { Over::Nothing };
        Answers { receiver, switch, over, first: None }
    };
    let Ok(mut answers) = tokio::task::spawn_blocking(asking).await else { return Asked::Lost };
    match tokio::time::timeout(SOON, answers.receiver.recv()).await {
        Ok(Some(delivery)) if delivery.last => {
            answers.over = Over::Nothing;
            return Asked::Answered(delivery, cancels);
        }
        Ok(first) => answers.first = first,
        Err(_) => {}
    }
    Asked::Streams(Box::new(answers))
}

/// The status that tells a client of the later revisions what kind of error it has.
fn status_of(delivery: &Delivery, discovers: bool) -> StatusCode {
    let given =
        delivery.status.filter(|status| *status >= 400).and_then(|status| StatusCode::from_u16(status).ok());
    match delivery.message.error_code() {
        None => StatusCode::OK,
        Some(code) if MODERN.contains(&code) => StatusCode::BAD_REQUEST,
        // A server that does not know this is one of the earlier revisions.
        Some(_) if discovers => StatusCode::BAD_REQUEST,
        Some(UNKNOWN_METHOD) => StatusCode::NOT_FOUND,
        Some(_) => given.unwrap_or(StatusCode::OK),
    }
}

async fn listened(State(front): State<Arc<Front>>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some(place) = front.servers.get(&name) else { return no_server(&front, &name) };
    if !headers.contains_key(SESSION) {
        return refusal(StatusCode::METHOD_NOT_ALLOWED, "only a session can be listened to");
    }
    if !accepts(&headers, &["text/event-stream"]) {
        return refusal(StatusCode::NOT_ACCEPTABLE, "`Accept` must name text/event-stream");
    }
    let switch = match session(place, &headers) {
        Ok(switch) => switch,
        Err(refused) => return *refused,
    };
    let (sink, receiver) = channel();
    let Some(ticket) = switch.listen(sink) else {
        return refusal(StatusCode::CONFLICT, "this session is listened to too often already");
    };
    stream(Answers { receiver, switch, over: Over::StopListening(ticket), first: None })
}

async fn ended(State(front): State<Arc<Front>>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some(place) = front.servers.get(&name) else { return no_server(&front, &name) };
    if !headers.contains_key(SESSION) {
        return refusal(StatusCode::METHOD_NOT_ALLOWED, "only a session can be ended");
    }
    match session(place, &headers) {
        Ok(switch) => {
            if let Some(id) = once(&headers, SESSION.as_str()) {
                locked(&place.sessions).by_id.remove(id);
            }
            let _ = tokio::task::spawn_blocking(move || switch.close()).await;
            StatusCode::NO_CONTENT.into_response()
        }
        Err(refused) => *refused,
    }
}

fn channel() -> (Sink, mpsc::Receiver<Delivery>) {
    let (sender, receiver) = mpsc::channel(MOST_BEHIND);
    (Box::new(move |delivery| sender.try_send(delivery).is_ok()), receiver)
}

/// What the end of a stream means.
#[derive(Debug, Clone, Copy)]
enum Over {
    Cancel(Ticket),
    StopListening(Ticket),
    Nothing,
}

struct Answers {
    receiver: mpsc::Receiver<Delivery>,
    switch: Arc<Switch>,
    over: Over,
    first: Option<Delivery>,
}

impl Drop for Answers {
    fn drop(&mut self) {
        let switch = Arc::clone(&self.switch);
        match self.over {
            Over::Nothing => {}
            Over::StopListening(ticket) => switch.stop_listening(ticket),
            Over::Cancel(ticket) => {
                // Telling the server may wait for it.
                if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                    runtime.spawn_blocking(move || switch.drop_request(ticket));
                }
            }
        }
    }
}

impl tokio_stream::Stream for Answers {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = match self.first.take() {
            Some(first) => Poll::Ready(Some(first)),
            None => self.receiver.poll_recv(context),
        };
        next.map(|delivery| {
            let delivery = delivery?;
            if delivery.last {
                self.over = Over::Nothing;
            }
            Some(Ok(Event::default().event("message").data(delivery.message.to_line().trim_end())))
        })
    }
}

fn stream(answers: Answers) -> Response {
    let mut response = Sse::new(answers).keep_alive(KeepAlive::new().interval(ALIVE)).into_response();
    response
        .headers_mut()
        .insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

fn accepts(headers: &HeaderMap, kinds: &[&str]) -> bool {
    let named: Vec<String> = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
        .collect();
    let fits = |kind: &str| {
        let wide = kind.split('/').next().map(|first| format!("{first}/*")).unwrap_or_default();
        named.iter().any(|named| named == kind || *named == wide || named == "*/*")
    };
    kinds.iter().all(|kind| fits(kind))
}

fn no_server(front: &Front, name: &str) -> Response {
    let known: Vec<&str> = front.servers.keys().map(String::as_str).collect();
    let name = lictor_core::text::clean(name, 80);
    refusal(StatusCode::NOT_FOUND, &format!("there is no server `{name}`; there is: {}", known.join(", ")))
}

fn refusal(status: StatusCode, told: &str) -> Response {
    answer(status, &Message::error(&Value::Null, INVALID_REQUEST, told))
}

fn answer(status: StatusCode, message: &Message) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], message.to_line()).into_response()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
