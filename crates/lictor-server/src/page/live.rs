//! Live updates: server-sent events that can be resumed.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};

use super::{failed, gate};
use crate::http::stream::{Reader, Receiving};
use crate::http::{Problem, Server};
use crate::identity::{Caller, Need, Role};

/// The polling interval without a notification: other servers write too.
const LOOK: Duration = Duration::from_secs(2);
/// Changes that follow each other this closely are one.
const CALM: Duration = Duration::from_millis(100);

/// Signals that something has changed; the page then reloads.
pub(super) async fn records(State(server): State<Server>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let headers = parts.headers;
    let who = |server: &Server, headers: &HeaderMap| -> Result<Option<Caller>, Problem> {
        gate::own_address(server, headers)?;
        Ok(gate::signed_in(server, headers)?.map(|(caller, _)| caller))
    };
    let (looking, seen) = (Arc::clone(&server), headers.clone());
    match tokio::task::spawn_blocking(move || who(&looking, &seen)).await {
        Ok(Ok(Some(caller))) if caller.may(Need::Role(Role::Viewer)) => {}
        Ok(Err(problem)) => return failed(&problem),
        _ => {
            return failed(&Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", "nobody is signed in"));
        }
    }
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Event, Infallible>>(8);
    let mut changes = server.tenants.changes.subscribe();
    let shared = server.tenants.local.is_none();
    let mut reader = Reader::new(&server, move |server| who(server, &headers).ok().flatten());
    drop(server);
    tokio::spawn(async move {
        // A reconnecting client may have missed something.
        let mut news = true;
        loop {
            if news && sender.send(Ok(Event::default().event("change").data("."))).await.is_err() {
                return;
            }
            tokio::time::sleep(CALM).await;
            let changed = tokio::select! {
                () = sender.closed() => return,
                changed = tokio::time::timeout(LOOK, changes.changed()) => changed,
            };
            news = match changed {
                Ok(Ok(())) => true,
                Ok(Err(_)) => return,
                Err(_) => shared,
            };
            match reader.still().await {
                Some(still) => reader = still,
                None => return,
            }
        }
    });
    let mut response = Sse::new(Receiving(receiver))
        .keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
        .into_response();
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
