//! Records as they come: server-sent events that can be taken up again where they were left.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use lictor_store::{Store, StoreExt as _};
use tokio::sync::watch;

use super::records::{self, Wanted};
use super::{Problem, Server, caller, parse_query};
use crate::identity::{Need, Role};

/// How long nothing may be known to have changed before it is looked anyway: other servers write too.
const LOOK: Duration = Duration::from_secs(2);

struct Following {
    store: Arc<dyn Store>,
    wanted: Wanted,
    after: u64,
    changes: watch::Receiver<u64>,
    ready: VecDeque<(u64, String)>,
}

pub(super) async fn records(State(server): State<Server>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let opened = tokio::task::spawn_blocking(move || {
        let caller = caller(&server, &parts.headers)?;
        if !caller.may(Need::Role(Role::Viewer)) {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "forbidden",
                format!("the token of `{}` may not do this", caller.owner),
            ));
        }
        let query = parse_query(parts.uri.query().unwrap_or_default());
        let wanted = Wanted::of(&query)?;
        let store = records::store_of(&server, &caller, &query)?;
        let header = parts.headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
        let asked = query.get("since").and_then(|id| id.parse().ok());
        let after = match header.or(asked) {
            Some(after) => after,
            None => store.view(|view| view.head())?.seq,
        };
        let changes = server.tenants.changes.subscribe();
        Ok(Following { store, wanted, after, changes, ready: VecDeque::new() })
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
        let mut following = following;
        loop {
            let Following { store, wanted, after, .. } = &following;
            let (store, query) = (Arc::clone(store), wanted.query.clone().after(*after).limit(200));
            let page = tokio::task::spawn_blocking(move || store.view(|view| view.records(&query)));
            let Ok(Ok(page)) = page.await else { return };
            let full = page.len() == 200;
            for record in page {
                following.after = record.seq;
                let entry = records::entry(&record);
                if following.wanted.fits(&entry) {
                    following.ready.push_back((record.seq, entry.to_string()));
                }
            }
            while let Some((seq, text)) = following.ready.pop_front() {
                let event = Event::default().id(seq.to_string()).event("record").data(text);
                if sender.send(Ok(event)).await.is_err() {
                    return;
                }
            }
            if !full && !sender.is_closed() {
                let _ = tokio::time::timeout(LOOK, following.changes.changed()).await;
            }
            if sender.is_closed() {
                return;
            }
        }
    });
    Receiving(receiver)
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
