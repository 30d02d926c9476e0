//! What is new, as it comes: server-sent events that can be taken up again where they were left.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};

use super::{failed, gate};
use crate::http::stream::Receiving;
use crate::http::{Problem, Server};
use crate::identity::{Need, Role};

/// How long nothing may be known to have changed before it is looked anyway: other servers write too.
const LOOK: Duration = Duration::from_secs(2);
/// Changes that follow each other this closely are one.
const CALM: Duration = Duration::from_millis(100);

/// Says that something has changed; who wants to know what looks.
pub(super) async fn records(State(server): State<Server>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let looking = std::sync::Arc::clone(&server);
    let who = tokio::task::spawn_blocking(move || {
        gate::own_address(&looking, &parts.headers)?;
        gate::signed_in(&looking, &parts.headers)
    });
    match who.await {
        Ok(Ok(Some((caller, _)))) if caller.may(Need::Role(Role::Viewer)) => {}
        Ok(Err(problem)) => return failed(&problem),
        _ => {
            return failed(&Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", "nobody is signed in"));
        }
    }
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Event, Infallible>>(8);
    let mut changes = server.tenants.changes.subscribe();
    let shared = server.tenants.local.is_none();
    tokio::spawn(async move {
        drop(server);
        // Whoever comes back may have missed something.
        let mut news = true;
        while !sender.is_closed() {
            if news && sender.send(Ok(Event::default().event("change").data("."))).await.is_err() {
                return;
            }
            tokio::time::sleep(CALM).await;
            match tokio::time::timeout(LOOK, changes.changed()).await {
                Ok(Ok(())) => news = true,
                Ok(Err(_)) => return,
                Err(_) => news = shared,
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
