//! The HTTP endpoints: access control, rate limits and responses. `table` lists them.

mod admin;
mod body;
pub(crate) mod entrance;
pub(crate) mod export;
pub(crate) mod filter;
mod findings;
pub(crate) mod judge;
mod openapi;
mod ops;
mod policy;
mod problem;
mod query;
mod records;
mod sessions;
pub(crate) mod stream;
mod table;

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, on};
use lictor_core::Digest;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::timeout::TimeoutLayer;

pub(crate) use admin::become_operator;
pub(crate) use entrance::with_password;
pub use openapi::openapi;
pub use ops::Metrics;
pub use problem::Problem;
pub(crate) use query::parse_query;
pub(crate) use records::{entry, verified};
use table::{Again, Endpoint, Param, endpoints};

use crate::identity::{Caller, Need};
use crate::oidc::SignIns;
use crate::once::{Before, Keyed};
use crate::password::Guesses;
use crate::tenants::{Tenants, now};

/// State that is shared between the requests of a server.
#[derive(Debug)]
pub struct Shared {
    /// The tenants.
    pub tenants: Tenants,
    /// What is counted.
    pub metrics: Metrics,
    /// The word that makes the first operator; gone when it was used.
    pub setup: Mutex<Option<String>>,
    /// Requests a second for each token.
    pub rate: u32,
    /// How many judgements run at a time; more would only wait for each other.
    pub judging: Semaphore,
    /// Notifications about questions.
    pub outbox: crate::notify::Outbox,
    /// Sign-in state of the page.
    pub entrance: crate::page::Entrance,
    /// Ending: not ready any more.
    pub stopping: std::sync::atomic::AtomicBool,
    buckets: Mutex<HashMap<String, (f64, Instant)>>,
    /// Requests with an idempotency key that are under way.
    under_way: Mutex<HashSet<Digest>>,
    /// Whether every request is written to standard error, as a line of JSON.
    pub log: bool,
    /// Wrong passwords.
    pub guesses: Guesses,
    /// People who are signing in with a provider.
    pub sign_ins: SignIns,
    /// The address under which browsers reach the server, if it is not its own.
    pub address: Option<String>,
}

impl Shared {
    /// For these tenants.
    #[must_use]
    pub fn new(tenants: Tenants, rate: u32, judging: usize) -> Self {
        Self {
            tenants,
            metrics: Metrics::default(),
            setup: Mutex::new(None),
            rate,
            judging: Semaphore::new(judging),
            outbox: crate::notify::Outbox::default(),
            entrance: crate::page::Entrance::default(),
            stopping: false.into(),
            buckets: Mutex::default(),
            under_way: Mutex::default(),
            log: false,
            guesses: Guesses::default(),
            sign_ins: SignIns::default(),
            address: None,
        }
    }
}

pub(crate) type Server = Arc<Shared>;
pub(crate) type Answer = Result<Value, Problem>;
pub(crate) type Text = fn(&Call) -> Result<Box<RawValue>, Problem>;

/// What an endpoint does.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// The answer is put together, then written.
    Tree(fn(&Call) -> Answer),
    /// The answer is written at once.
    Text(Text),
}

impl Handler {
    /// The answer as a value.
    fn tree(self, call: &Call) -> Answer {
        match self {
            Self::Tree(handler) => handler(call),
            Self::Text(handler) => serde_json::from_str(handler(call)?.get()).map_err(unwritten),
        }
    }

    /// The answer as text.
    fn text(self, call: &Call) -> Result<String, Problem> {
        match self {
            Self::Tree(handler) => Ok(handler(call)?.to_string()),
            Self::Text(handler) => Ok(String::from(Box::<str>::from(handler(call)?))),
        }
    }
}

/// An answer that has no JSON form.
pub(crate) fn unwritten(error: serde_json::Error) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", error.to_string())
}

/// The input of a handler.
pub(crate) struct Call {
    pub(crate) server: Server,
    pub(crate) caller: Caller,
    pub(crate) path: HashMap<String, String>,
    pub(crate) query: HashMap<String, String>,
    pub(crate) body: Value,
    /// Through what an answer comes: `server`, `page`.
    pub(crate) from: &'static str,
}

impl Call {
    /// The body in the form that the endpoint takes.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        body::read(&self.body).map_err(Problem::bad)
    }

    /// A part of the address.
    pub(crate) fn part(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// A number in the query, within bounds.
    pub(crate) fn number(&self, name: &str, bounds: RangeInclusive<u64>) -> Result<Option<u64>, Problem> {
        let Some(text) = self.query.get(name) else { return Ok(None) };
        number(name, text, bounds).map(Some)
    }

    /// The tenant in the address: the caller's own, unless the caller is the operator.
    pub(crate) fn tenant(&self) -> Result<&str, Problem> {
        let named = self.part("tenant");
        if named == self.caller.tenant || self.caller.may(Need::Operate) {
            return Ok(named);
        }
        Err(Problem::new(
            StatusCode::FORBIDDEN,
            "not_yours",
            format!("the token does not belong to the tenant `{named}`"),
        ))
    }
}

/// A number within bounds.
fn number(name: &str, text: &str, bounds: RangeInclusive<u64>) -> Result<u64, Problem> {
    let number = text.parse().ok().filter(|number| bounds.contains(number));
    let (least, most) = bounds.into_inner();
    number.ok_or_else(|| Problem::bad(format!("`{name}` is a number from {least} to {most}")))
}

/// Does what the endpoint does, with what it needs of the caller: what the page does is what a program can do.
pub(crate) fn ask(
    server: &Server,
    caller: &Caller,
    (method, path): (Method, &str),
    parts: &[(&str, &str)],
    body: Value,
) -> Answer {
    let found = endpoints().into_iter().find(|known| known.method == method && known.path == path);
    let Some(Endpoint { need, handler, .. }) = found else {
        return Err(Problem::new(StatusCode::NOT_FOUND, "not_found", format!("there is no `{path}`")));
    };
    if !caller.may(need) {
        let text = format!("`{}` may not do this; an administrator gives roles", caller.owner);
        return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", text));
    }
    let path = parts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let (server, caller) = (Arc::clone(server), caller.clone());
    handler.tree(&Call { server, caller, path, query: HashMap::new(), body, from: "page" })
}

/// How large a body may be.
pub(crate) const MOST_BYTES: usize = 8 * 1024 * 1024;
/// How much of a refusal that a layer wrote is repeated.
const MOST_SAID: usize = 1024;
/// How long a request may take.
const LONGEST: Duration = Duration::from_secs(30);
/// How long a key may be. A longer one is refused: truncated keys could collide.
pub(crate) const LONGEST_KEY: usize = 200;

/// The whole server.
pub fn router(server: Server) -> Router {
    let mut router = Router::new();
    for endpoint in endpoints() {
        let Endpoint { method, path, need, query, again, handler, .. } = endpoint;
        let Ok(filter) = MethodFilter::try_from(method) else { continue };
        let way = Way { need, query, again, handler };
        let run = move |state: State<Server>, parts: Path<HashMap<String, String>>, request: Request| {
            answer(state, parts, request, way)
        };
        router = router.route(path, on(filter, run));
    }
    router
        .route("/v1/records/stream", axum::routing::get(stream::records))
        .route("/v1/records/export", axum::routing::get(export::records))
        .route("/v1/setup", axum::routing::post(admin::setup))
        .route("/v1/sign-in", axum::routing::post(entrance::sign_in))
        .route("/oidc/{tenant}/start", axum::routing::get(entrance::begin))
        .route("/oidc/callback", axum::routing::get(entrance::callback))
        .route("/healthz", axum::routing::get(ops::healthz))
        .route("/readyz", axum::routing::get(ops::readyz))
        .route("/metrics", axum::routing::get(ops::metrics))
        .route("/openapi.json", axum::routing::get(openapi::document))
        .merge(crate::page::routes())
        .fallback(|headers: HeaderMap| async move {
            let text = "there is nothing at this address; `/openapi.json` lists what is";
            crate::page::refused(&headers, Problem::new(StatusCode::NOT_FOUND, "not_found", text))
        })
        .method_not_allowed_fallback(|headers: HeaderMap| async move {
            let text = "this address does not take that method; `/openapi.json` says which";
            crate::page::refused(&headers, Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", text))
        })
        .layer(RequestBodyLimitLayer::new(MOST_BYTES))
        .layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, LONGEST))
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the request failed inside Lictor")
                .into_response()
        }))
        .layer(middleware::from_fn_with_state(Arc::clone(&server), counted))
        .with_state(server)
}

async fn counted(State(server): State<Server>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let asked = server.log.then(|| (request.method().to_string(), request.uri().path().to_owned()));
    let accept = request.headers().get(header::ACCEPT).cloned();
    let response = readable(accept, next.run(request).await).await;
    let (status, took) = (response.status().as_u16(), begun.elapsed());
    server.metrics.request(status, took);
    if let Some((method, path)) = asked {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let line = json!({"at": now(), "method": method, "path": path, "status": status, "micros": micros});
        // A closed log is not an error.
        let _ = writeln!(std::io::stderr(), "{line}");
    }
    response
}

/// Layers and extractors refuse some requests themselves, without a body that programs can read.
async fn readable(accept: Option<HeaderValue>, response: Response) -> Response {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let told = kind
        .is_some_and(|kind| kind.starts_with("application/problem+json") || kind.starts_with("text/html"));
    if told || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let problem = match status {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(),
        StatusCode::GATEWAY_TIMEOUT => {
            Problem::new(status, "timeout", "the request took too long; nothing was acknowledged")
        }
        _ => {
            let said = axum::body::to_bytes(response.into_body(), MOST_SAID).await.unwrap_or_default();
            let said = lictor_core::text::visible_line(&String::from_utf8_lossy(&said));
            let kind = if status == StatusCode::BAD_REQUEST { "bad_request" } else { "refused" };
            Problem::new(status, kind, format!("the request cannot be read: {said}"))
        }
    };
    crate::page::refused(&accept.map(|accept| (header::ACCEPT, accept)).into_iter().collect(), problem)
}

fn too_large() -> Problem {
    let text = format!("a body has at most {MOST_BYTES} bytes");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", text)
}

/// The caller, by the token in the header.
pub(crate) fn caller(server: &Server, headers: &HeaderMap) -> Result<Caller, Problem> {
    let refuse = |why: &str| {
        Problem::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            format!("{why}; send `Authorization: Bearer TOKEN`"),
        )
    };
    let value = headers.get(header::AUTHORIZATION).ok_or_else(|| refuse("the request has no token"))?;
    let secret = value.to_str().ok().and_then(|value| value.split_once(' '));
    let secret = secret.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let secret = secret.map(|(_, secret)| secret.trim());
    let secret =
        secret.filter(|secret| !secret.is_empty()).ok_or_else(|| refuse("the token cannot be read"))?;
    let found = server.tenants.registry.caller(secret, now()).map_err(Problem::from)?;
    found.ok_or_else(|| refuse("the token is not known, or has ended"))
}

fn throttle(server: &Server, caller: &Caller) -> Result<(), Problem> {
    let rate = f64::from(server.rate);
    let mut buckets = server.buckets.lock().unwrap_or_else(PoisonError::into_inner);
    if buckets.len() > 10_000 {
        buckets.retain(|_, (_, at)| at.elapsed() < Duration::from_secs(60));
    }
    let (left, at) = buckets.entry(caller.token.clone()).or_insert((2.0 * rate, Instant::now()));
    *left = (*left + at.elapsed().as_secs_f64() * rate).min(2.0 * rate);
    *at = Instant::now();
    if *left < 1.0 {
        return Err(Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_fast",
            format!("this token may make {rate} requests a second"),
        )
        .retry_after(1));
    }
    *left -= 1.0;
    Ok(())
}

/// What a request needs, and what handles it.
#[derive(Clone, Copy)]
struct Way {
    need: Need,
    query: &'static [&'static [Param]],
    again: Again,
    handler: Handler,
}

/// The caller and the parameters of a request. Every address that needs a token uses this.
fn admit(
    server: &Server,
    headers: &HeaderMap,
    address: &Uri,
    need: Need,
    known: &[&[Param]],
) -> Result<(Caller, HashMap<String, String>), Problem> {
    let caller = caller(server, headers)?;
    throttle(server, &caller)?;
    if !caller.may(need) {
        let text = format!("the token of `{}` may not do this", caller.owner);
        return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", text));
    }
    let query = query::asked(address.query().unwrap_or_default(), known)?;
    Ok((caller, query))
}

async fn answer(
    State(server): State<Server>,
    Path(path): Path<HashMap<String, String>>,
    request: Request,
    way: Way,
) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, MOST_BYTES).await else {
        return too_large().into_response();
    };
    let Ok(_turn) = server.judging.acquire().await else {
        return Problem::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", "the server is ending")
            .into_response();
    };
    let work = Arc::clone(&server);
    // Judging is not async: it runs on a blocking thread.
    let done = tokio::task::spawn_blocking(move || run(&work, &parts, path, &body, way));
    match done.await {
        Ok(Ok(text)) => problem::written(StatusCode::OK, "application/json", text),
        Ok(Err(problem)) => problem.into_response(),
        Err(_) => {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the request failed inside Lictor")
                .into_response()
        }
    }
}

fn run(
    server: &Server,
    parts: &Parts,
    path: HashMap<String, String>,
    body: &Bytes,
    Way { need, query, again, handler }: Way,
) -> Result<String, Problem> {
    let (caller, query) = admit(server, &parts.headers, &parts.uri, need, query)?;
    let Some(key) = idempotency_key(&parts.headers)?.filter(|_| again != Again::Harmless) else {
        return handler.text(&call(server, caller, path, query, body)?);
    };
    let request = format!("{} {}", parts.method, parts.uri);
    let keyed = Keyed::new(&caller.token, &request, key, body, now());
    let _turn = Turn::take(server, keyed.name())?;
    if let Some(answer) = known(server, &caller, &keyed)? {
        return Ok(answer.to_string());
    }
    let keep = again == Again::Answer;
    let outcome = keyed.carry_out(keep, || handler.tree(&call(server, caller, path, query, body)?));
    Ok(outcome.unwrap_or_else(|| Err(answer_lost()))?.to_string())
}

/// The idempotency key of a request. One that cannot be used is refused: without it, the request could take effect twice.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut all = headers.get_all("idempotency-key").iter();
    let Some(first) = all.next() else { return Ok(None) };
    let usable = |key: &&str| {
        (1..=LONGEST_KEY).contains(&key.len()) && key.bytes().all(|byte| matches!(byte, b' '..=b'~'))
    };
    let key = first.to_str().ok().filter(usable).filter(|_| all.next().is_none());
    let bad =
        || Problem::bad(format!("an idempotency key is one header with 1 to {LONGEST_KEY} ASCII characters"));
    key.map(Some).ok_or_else(bad)
}

fn answer_lost() -> Problem {
    let text = "a request with this idempotency key was carried out; its answer is not kept";
    Problem::new(StatusCode::CONFLICT, "done", text)
        .fix("look at what it changed before you send it with another key")
}

/// The answer to a request that was made before; nothing when this is the first one with its key.
fn known(server: &Server, caller: &Caller, keyed: &Keyed) -> Result<Option<Value>, Problem> {
    let stores = &server.tenants.stores;
    for store in [stores.tenant(&caller.tenant)?, stores.server()?] {
        match keyed.before(&*store)? {
            Before::Never => {}
            Before::Answered(answer) => return Ok(Some(answer)),
            Before::Done => return Err(answer_lost()),
            Before::Other => {
                let text = "this idempotency key was used for a request with another body";
                return Err(
                    Problem::new(StatusCode::CONFLICT, "key_used", text).fix("send it with a new key")
                );
            }
        }
    }
    Ok(None)
}

/// The only request with a key at a time.
struct Turn<'a> {
    server: &'a Server,
    name: Digest,
}

impl<'a> Turn<'a> {
    fn take(server: &'a Server, name: Digest) -> Result<Self, Problem> {
        if server.under_way.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
            return Ok(Self { server, name });
        }
        let text = "a request with this idempotency key is under way";
        Err(Problem::new(StatusCode::CONFLICT, "under_way", text).retry_after(1))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.server.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}

fn call(
    server: &Server,
    caller: Caller,
    path: HashMap<String, String>,
    query: HashMap<String, String>,
    body: &Bytes,
) -> Result<Call, Problem> {
    let body = body::parse(body).map_err(Problem::bad)?;
    let call = Call { server: Arc::clone(server), caller, path, query, body, from: "server" };
    if call.path.contains_key("tenant") {
        crate::registry::name(call.tenant()?)?;
    }
    Ok(call)
}
