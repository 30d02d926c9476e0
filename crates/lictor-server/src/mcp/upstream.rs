//! An upstream server with a URL: each message is a separate HTTP request, and responses are JSON or events.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderValue, Method, Request, Response, Uri, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use lictor_mcp::{Identity, Inbox, MAX_LINE, Message, Upstream, Via, mirror};
use rustls::pki_types::ServerName;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;
use tokio_rustls::TlsConnector;

use super::events::Events;

/// How long a connection may take.
const CONNECTING: Duration = Duration::from_secs(10);
/// The timeout for a server to acknowledge a message without a response.
const HEARING: Duration = Duration::from_secs(30);
/// The default reconnection delay of an ended stream.
const AGAIN: Duration = Duration::from_secs(1);
/// The longest that a server may ask for.
const LONGEST_RETRY: u64 = 60_000;
/// Requests that may be under way at once.
const MOST_RUNNING: usize = 512;
/// Connections that are kept for the next message.
const MOST_IDLE: usize = 4;

type Connection = SendRequest<Full<Bytes>>;

/// Where a server is.
#[derive(Debug, Clone)]
pub struct Address {
    uri: Uri,
    host: String,
    port: u16,
    secure: bool,
    /// Additional headers: its own credentials, never those of clients.
    headers: Vec<(header::HeaderName, HeaderValue)>,
}

impl Address {
    /// Reads an address, `https://…` or `http://…`, and the headers that the server is to get.
    ///
    /// # Errors
    /// With what is wrong.
    pub fn parse(url: &str, headers: &[(String, String)]) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|_| format!("`{url}` is not an address"))?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(format!("`{url}` begins neither with `https://` nor with `http://`")),
        };
        let authority = uri.authority().map(|authority| authority.as_str()).unwrap_or_default();
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        if host.is_empty() || authority.contains('@') {
            return Err(format!("`{url}` has no host, or names a user; credentials go into headers"));
        }
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let mut read = Vec::new();
        for (name, value) in headers {
            let name = name.parse().map_err(|_| format!("`{name}` is not the name of a header"))?;
            let mut value: HeaderValue =
                value.parse().map_err(|_| format!("the value of the header `{name}` cannot be sent"))?;
            value.set_sensitive(true);
            read.push((name, value));
        }
        Ok(Self { uri, host, port, secure, headers: read })
    }

    /// What pins are bound to: the address. Over TLS its host is the name that the certificate was checked for.
    #[must_use]
    pub fn identity(&self) -> Identity {
        let scheme = if self.secure { "https" } else { "http" };
        let host = self.host.to_ascii_lowercase();
        Identity::of_address(format!("{scheme}://{host}:{}{}", self.port, self.path()))
    }

    fn path(&self) -> &str {
        self.uri.path_and_query().map_or("/", |path| path.as_str())
    }
}

/// The connection to it.
pub(super) struct Http {
    inner: Arc<Inner>,
    runtime: Handle,
    /// What is to be sent, in order.
    outgoing: UnboundedSender<Message>,
    /// How many of those wait.
    waiting: Arc<AtomicUsize>,
}

struct Inner {
    address: Address,
    inbox: Arc<dyn Inbox>,
    /// The state of a handshake: its session, and the agreed revision.
    agreed: Mutex<Agreed>,
    /// Requests that are under way, by id.
    running: Mutex<HashMap<String, AbortHandle>>,
    idle: Mutex<Vec<Connection>>,
    closed: AtomicBool,
}

#[derive(Debug, Clone, Default)]
struct Agreed {
    session: Option<HeaderValue>,
    version: Option<String>,
    listens: bool,
}

impl Http {
    pub(super) fn new(address: Address, inbox: Arc<dyn Inbox>, runtime: Handle) -> Self {
        let inner = Inner {
            address,
            inbox,
            agreed: Mutex::default(),
            running: Mutex::default(),
            idle: Mutex::default(),
            closed: AtomicBool::new(false),
        };
        let inner = Arc::new(inner);
        let (outgoing, mut messages) = unbounded_channel::<Message>();
        let waiting = Arc::new(AtomicUsize::new(0));
        let (sender, left) = (Arc::downgrade(&inner), Arc::clone(&waiting));
        runtime.spawn(async move {
            while let Some(message) = messages.recv().await {
                let Some(inner) = sender.upgrade() else { return };
                inner.send(message).await;
                left.fetch_sub(1, Ordering::AcqRel);
            }
        });
        Self { inner, runtime, outgoing, waiting }
    }
}

impl Upstream for Http {
    fn send(&self, message: &Message) -> io::Result<()> {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        self.outgoing.send(message.clone()).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn has_room(&self) -> bool {
        self.waiting.load(Ordering::Acquire) + locked(&self.inner.running).len() < MOST_RUNNING
    }

    fn close(&self) {
        if let Some(leaving) = self.leaving() {
            self.runtime.spawn(leaving);
        }
    }

    fn end_within(&self, grace: Duration) {
        if let Some(leaving) = self.leaving() {
            let _ = self.runtime.block_on(async { tokio::time::timeout(grace, leaving).await });
        }
    }
}

impl Http {
    /// Ends running requests, once, and returns the request that ends the server's session.
    fn leaving(&self) -> Option<impl Future<Output = ()> + Send + 'static> {
        if self.inner.closed.swap(true, Ordering::AcqRel) {
            return None;
        }
        for (_, running) in locked(&self.inner.running).drain() {
            running.abort();
        }
        let inner = Arc::clone(&self.inner);
        let has_session = locked(&inner.agreed).session.is_some();
        has_session.then_some(async move {
            let _ = inner.exchange(Method::DELETE, String::new(), &[]).await;
        })
    }
}

impl Inner {
    /// Sends one message. A message without a response is acknowledged before the next one is sent; responses are
    /// not awaited here.
    async fn send(self: Arc<Self>, message: Message) {
        if self.closed.load(Ordering::Acquire) {
            return;
        }
        let Some(id) = message.id().filter(|_| message.method().is_some()).cloned() else {
            // Without a handshake, the end of a request's stream is what cancels it.
            if let Some(cancelled) = self.cancelled(&message) {
                if let Some(running) = locked(&self.running).remove(&cancelled) {
                    running.abort();
                }
                return;
            }
            // A failure shows with the next request.
            let _ = tokio::time::timeout(HEARING, self.post(message, None)).await;
            return;
        };
        let (inner, key) = (Arc::clone(&self), id.to_string());
        let mut running = locked(&self.running);
        let task = tokio::spawn(async move {
            if let Err(told) = Arc::clone(&inner).post(message, Some(id.clone())).await {
                inner.failed(&id, &told).await;
            }
            locked(&inner.running).remove(&id.to_string());
        });
        running.insert(key, task.abort_handle());
    }

    /// The request that a notification cancels, where the server keeps no session.
    fn cancelled(&self, message: &Message) -> Option<String> {
        let stateless = locked(&self.agreed).version.is_none();
        let cancels = stateless && message.method() == Some("notifications/cancelled");
        message.param("requestId").filter(|_| cancels).map(Value::to_string)
    }

    async fn post(self: Arc<Self>, message: Message, id: Option<Value>) -> Result<(), String> {
        let opens = message.method() == Some("initialize");
        let ready = message.method() == Some("notifications/initialized");
        let headers = mirror::headers(&message);
        let (response, connection) = self.exchange(Method::POST, message.to_line(), &headers).await?;
        if opens {
            locked(&self.agreed).session = response.headers().get("mcp-session-id").cloned();
        }
        let status = response.status().as_u16();
        let Some(id) = id else {
            if ready {
                self.listen();
            }
            return if status < 400 { Ok(()) } else { Err(told(status)) };
        };
        let via = Via { request: Some(id.clone()), status: Some(status) };
        let mut stream = self.follow(response, &via, opens, Some(connection)).await?;
        // A server may end a stream early and want to be asked for the rest.
        while !stream.answered && stream.events.last_id.is_some() && locked(&self.agreed).version.is_some() {
            let wait = stream.events.retry.map(|wait| Duration::from_millis(wait.min(LONGEST_RETRY)));
            tokio::time::sleep(wait.unwrap_or(AGAIN)).await;
            stream = self.resumed(&stream.events, &via).await?;
        }
        if stream.answered { Ok(()) } else { Err(told(status)) }
    }

    /// Takes up a stream where it was left.
    async fn resumed(&self, events: &Events, via: &Via) -> Result<Stream, String> {
        let last = events.last_id.iter().map(|id| ("last-event-id".to_owned(), id.clone()));
        let (response, _) = self.exchange(Method::GET, String::new(), &last.collect::<Vec<_>>()).await?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(told(status));
        }
        let mut stream = self.follow(response, via, false, None).await?;
        if stream.events.last_id.is_none() {
            stream.events.last_id.clone_from(&events.last_id);
        }
        Ok(stream)
    }

    /// Listens for unsolicited messages of a server with a handshake, if it supports that.
    fn listen(self: &Arc<Self>) {
        if std::mem::replace(&mut locked(&self.agreed).listens, true) {
            return;
        }
        let inner = Arc::clone(self);
        let task = tokio::spawn(async move {
            let mut events = Events::default();
            while let Ok(stream) = inner.resumed(&events, &Via::default()).await {
                events = stream.events;
                let wait = events.retry.map(|wait| Duration::from_millis(wait.min(LONGEST_RETRY)));
                tokio::time::sleep(wait.unwrap_or(AGAIN)).await;
            }
        });
        locked(&self.running).insert("listening".to_owned(), task.abort_handle());
    }

    /// Reads a response to its end, and forwards each message.
    async fn follow(
        &self,
        response: Response<Incoming>,
        via: &Via,
        opens: bool,
        connection: Option<Connection>,
    ) -> Result<Stream, String> {
        let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let streams = kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"));
        let mut stream = Stream { events: Events::default(), answered: false };
        let mut body = response.into_body();
        let mut whole = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { break };
            let Ok(piece) = frame.into_data() else { continue };
            if !streams {
                whole.extend_from_slice(&piece);
                if whole.len() > MAX_LINE {
                    return Err(format!("the server's answer is longer than {MAX_LINE} bytes"));
                }
                continue;
            }
            let found = stream.events.read(&piece, MAX_LINE);
            for data in
                found.map_err(|_| format!("an event of the server is longer than {MAX_LINE} bytes"))?
            {
                stream.answered |= self.received(data, via, opens).await;
            }
        }
        if !streams {
            stream.answered = !whole.trim_ascii().is_empty() && self.received(whole, via, opens).await;
        }
        if let Some(connection) = connection.filter(SendRequest::is_ready) {
            let mut idle = locked(&self.idle);
            if idle.len() < MOST_IDLE {
                idle.push(connection);
            }
        }
        Ok(stream)
    }

    /// Hands a message on. True when it is the answer to the request that it came for.
    async fn received(&self, data: Vec<u8>, via: &Via, opens: bool) -> bool {
        let (inbox, via) = (Arc::clone(&self.inbox), via.clone());
        let mut parsed = Message::parse(&data);
        if let (Ok(message), Some(id)) = (&mut parsed, &via.request) {
            // Errors about the request as a whole come without its id.
            if message.method().is_none() && message.id().is_none() {
                *message = message.clone().with_id(id);
            }
        }
        let answers = matches!(&parsed, Ok(message) if message.method().is_none() && message.id() == via.request.as_ref());
        if opens && let Ok(message) = &parsed {
            locked(&self.agreed).version = message.result_text("protocolVersion").map(str::to_owned);
        }
        let work = move || match parsed {
            Ok(message) => inbox.receive(message, &via),
            Err(_) => inbox.misread(&data),
        };
        let _ = tokio::task::spawn_blocking(work).await;
        answers
    }

    async fn failed(&self, id: &Value, told: &str) {
        let (inbox, message) = (Arc::clone(&self.inbox), Message::error(id, -32603, told));
        let via = Via { request: Some(id.clone()), status: Some(502) };
        let _ = tokio::task::spawn_blocking(move || inbox.receive(message, &via)).await;
    }

    async fn exchange(
        &self,
        method: Method,
        body: String,
        headers: &[(String, String)],
    ) -> Result<(Response<Incoming>, Connection), String> {
        let mut connection = self.connection().await?;
        let host = self.address.uri.authority().map(|authority| authority.as_str()).unwrap_or_default();
        let accept =
            if method == Method::GET { "text/event-stream" } else { "application/json, text/event-stream" };
        let mut request = Request::builder()
            .method(method)
            .uri(self.address.path())
            .header(header::HOST, host)
            .header(header::ACCEPT, accept)
            .header(header::CONTENT_TYPE, "application/json");
        for (name, value) in &self.address.headers {
            request = request.header(name, value);
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let Agreed { session, version, .. } = locked(&self.agreed).clone();
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(version) = version {
            request = request.header("mcp-protocol-version", version);
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(|error| error.to_string())?;
        let response = connection.send_request(request).await;
        let response = response.map_err(|error| format!("the server cannot be asked: {error}"))?;
        Ok((response, connection))
    }

    async fn connection(&self) -> Result<Connection, String> {
        while let Some(mut idle) = { locked(&self.idle).pop() } {
            if idle.ready().await.is_ok() {
                return Ok(idle);
            }
        }
        let failed = |why: String| format!("the server cannot be reached: {why}");
        tokio::time::timeout(CONNECTING, self.connected())
            .await
            .map_err(|_| failed("it does not answer".to_owned()))?
            .map_err(|error| failed(error.to_string()))
    }

    async fn connected(&self) -> io::Result<Connection> {
        let Address { host, port, secure, .. } = &self.address;
        let stream = TcpStream::connect((host.as_str(), *port)).await?;
        stream.set_nodelay(true)?;
        if !secure {
            let (connection, driver) =
                http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
            tokio::spawn(driver);
            return Ok(connection);
        }
        let roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
        let (connection, driver) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        tokio::spawn(driver);
        Ok(connection)
    }
}

struct Stream {
    events: Events,
    answered: bool,
}

fn told(status: u16) -> String {
    match status {
        401 | 403 => format!("the server wants credentials of its own (HTTP {status})"),
        300..=399 => format!("the server is somewhere else now (HTTP {status}); its address is not followed"),
        status => format!("the server has not answered (HTTP {status})"),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
