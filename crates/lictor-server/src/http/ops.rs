//! Health checks and metrics.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::{Problem, Server};

/// Upper ends of the buckets, in milliseconds.
const BUCKETS: [u64; 10] = [1, 2, 5, 10, 25, 50, 100, 250, 1_000, 10_000];

/// What is counted.
#[derive(Debug, Default)]
pub struct Metrics {
    classes: [AtomicU64; 6],
    decisions: [AtomicU64; 4],
    buckets: [AtomicU64; 11],
    micros: AtomicU64,
}

const DECISIONS: [&str; 4] = ["pass", "warn", "ask", "block"];

impl Metrics {
    pub(super) fn request(&self, status: u16, took: Duration) {
        if let Some(class) = self.classes.get(usize::from(status / 100)) {
            class.fetch_add(1, Ordering::Relaxed);
        }
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.iter().position(|end| millis < *end).unwrap_or(BUCKETS.len());
        if let Some(bucket) = self.buckets.get(bucket) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(super) fn decision(&self, decision: &str) {
        let place = DECISIONS.iter().position(|known| *known == decision);
        if let Some(count) = place.and_then(|place| self.decisions.get(place)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// In the text form of Prometheus.
    fn text(&self) -> String {
        let mut text = String::from("# TYPE lictor_requests_total counter\n");
        for (class, count) in self.classes.iter().enumerate().skip(1) {
            let _ = writeln!(
                text,
                "lictor_requests_total{{class=\"{class}xx\"}} {}",
                count.load(Ordering::Relaxed)
            );
        }
        text += "# TYPE lictor_decisions_total counter\n";
        for (name, count) in DECISIONS.iter().zip(&self.decisions) {
            let _ = writeln!(
                text,
                "lictor_decisions_total{{decision=\"{name}\"}} {}",
                count.load(Ordering::Relaxed)
            );
        }
        text += "# TYPE lictor_request_seconds histogram\n";
        let mut sum = 0;
        for (place, count) in self.buckets.iter().enumerate() {
            sum += count.load(Ordering::Relaxed);
            #[expect(clippy::cast_precision_loss, reason = "the ends of the buckets are small")]
            let end = BUCKETS.get(place).map_or("+Inf".to_owned(), |end| (*end as f64 / 1000.0).to_string());
            let _ = writeln!(text, "lictor_request_seconds_bucket{{le=\"{end}\"}} {sum}");
        }
        #[expect(clippy::cast_precision_loss, reason = "a sum of seconds")]
        let seconds = self.micros.load(Ordering::Relaxed) as f64 / 1e6;
        let _ = writeln!(text, "lictor_request_seconds_sum {seconds}\nlictor_request_seconds_count {sum}");
        text
    }
}

pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

pub(super) async fn readyz(State(server): State<Server>) -> Response {
    let unready =
        |why: String| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", why).into_response();
    if server.stopping.load(Ordering::Relaxed) {
        return unready("the server is ending".to_owned());
    }
    let work = Arc::clone(&server);
    match tokio::task::spawn_blocking(move || work.tenants.stores.ready()).await {
        Ok(Ok(())) => "ready\n".into_response(),
        Ok(Err(error)) => unready(error.to_string()),
        Err(_) => unready("the store cannot be looked at".to_owned()),
    }
}

pub(super) async fn metrics(State(server): State<Server>) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], server.metrics.text()).into_response()
}
