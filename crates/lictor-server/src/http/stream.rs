//! A live stream of records: server-sent events that can be resumed.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use jiff::tz::TimeZone;
use lictor_store::{Store, StoreExt as _};
use tokio::sync::watch;

use super::filter::Wanted;
use super::records;
use super::table::{FILTERS, MOST_SEQ, STREAM};
use super::{Problem, Server, Shared, admit, number};
use crate::identity::{Caller, Need, Role};

/// The polling interval without a notification: other servers write too.
const LOOK: Duration = Duration::from_secs(2);

/// The reader of a stream. It ends with the server, and when the reader loses access.
pub(crate) struct Reader {
    /// Not held: a stream must not keep the server's connections open while it ends.
    server: Weak<Shared>,
    may_look: Box<dyn Fn(&Server) -> bool + Send + Sync>,
    checked: Instant,
}

impl Reader {
    /// For the caller that `who` returns.
    pub(crate) fn new(
        server: &Server,
        who: impl Fn(&Server) -> Option<Caller> + Send + Sync + 'static,
    ) -> Self {
        let may_look =
            move |server: &Server| who(server).is_some_and(|caller| caller.may(Need::Role(Role::Viewer)));
        Self { server: Arc::downgrade(server), may_look: Box::new(may_look), checked: Instant::now() }
    }

    /// Whether the stream continues. The store is queried only occasionally; `None` when it ends.
    pub(crate) async fn still(self) -> Option<Self> {
        let check = move || {
            let mut reader = self;
            let server = reader.server.upgrade()?;
            if server.stopping.load(Ordering::Relaxed) {
                return None;
            }
            if reader.checked.elapsed() >= LOOK {
                reader.checked = Instant::now();
                return (reader.may_look)(&server).then_some(reader);
            }
            Some(reader)
        };
        tokio::task::spawn_blocking(check).await.ok().flatten()
    }
}

struct Following {
    reader: Reader,
    store: Arc<dyn Store>,
    wanted: Wanted,
    after: u64,
    changes: watch::Receiver<u64>,
    ready: VecDeque<(u64, String)>,
}

pub(super) async fn records(State(server): State<Server>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let opened = tokio::task::spawn_blocking(move || {
        let (caller, query) =
            admit(&server, &parts.headers, &parts.uri, Need::Role(Role::Viewer), &[STREAM, FILTERS])?;
        let wanted = Wanted::of(&query, &TimeZone::UTC)?;
        let store = records::store_of(&server, &caller, &query)?;
        let wanted = wanted.within(&*store)?;
        // Where a browser goes on counts before where the address began.
        let header =
            parts.headers.get("last-event-id").map(|id| ("Last-Event-ID", id.to_str().unwrap_or("")));
        let asked = header.or_else(|| Some(("since", query.get("since")?.as_str())));
        let after = match asked {
            Some((name, text)) => number(name, text, 0..=MOST_SEQ)?,
            None => store.view(|view| view.head())?.seq,
        };
        let changes = server.tenants.changes.subscribe();
        let headers: HeaderMap = parts.headers;
        let reader = Reader::new(&server, move |server| super::caller(server, &headers).ok());
        Ok::<_, Problem>(Following { reader, store, wanted, after, changes, ready: VecDeque::new() })
    });
    let following = match opened.await {
        Ok(Ok(following)) => following,
        Ok(Err(problem)) => return problem.into_response(),
        Err(_) => {
            return Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal",
                "the request failed inside Lictor",
            )
            .into_response();
        }
    };
    let events = futures_stream(following);
    let mut response =
        Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))).into_response();
    response
        .headers_mut()
        .insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

fn futures_stream(following: Following) -> impl tokio_stream::Stream<Item = Result<Event, Infallible>> {
    let (sender, receiver) = tokio::sync::mpsc::channel(64);
    tokio::spawn(async move {
        let store = Arc::clone(&following.store);
        follow(following, &sender).await;
        // A connection to a database ends on a thread of its own, never inside of the runtime.
        let _ = tokio::task::spawn_blocking(move || drop(store)).await;
    });
    Receiving(receiver)
}

/// Sends new records until the client disconnects.
async fn follow(following: Following, sender: &tokio::sync::mpsc::Sender<Result<Event, Infallible>>) {
    let Following { mut reader, store, wanted, mut after, mut changes, mut ready } = following;
    loop {
        let (page, query) = (Arc::clone(&store), wanted.next(after, 200));
        let page = tokio::task::spawn_blocking(move || page.view(|view| view.records(&query)));
        let Ok(Ok(page)) = page.await else { return };
        let full = page.len() == 200;
        for record in page {
            after = record.seq;
            let entry = records::entry(&record);
            if wanted.fits(&record, &entry) {
                ready.push_back((record.seq, entry.to_string()));
            }
        }
        while let Some((seq, text)) = ready.pop_front() {
            let event = Event::default().id(seq.to_string()).event("record").data(text);
            if sender.send(Ok(event)).await.is_err() {
                return;
            }
        }
        if !full {
            tokio::select! {
                () = sender.closed() => return,
                _ = tokio::time::timeout(LOOK, changes.changed()) => {}
            }
        }
        match reader.still().await {
            Some(still) => reader = still,
            None => return,
        }
    }
}

pub(crate) struct Receiving(pub(crate) tokio::sync::mpsc::Receiver<Result<Event, Infallible>>);

impl tokio_stream::Stream for Receiving {
    type Item = Result<Event, Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}
